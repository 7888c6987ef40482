// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
)

func TestWhatIsSaidOfTheWritePolicy(t *testing.T) {
	const (
		withLandlock    = `{"code":"Prepared","landlock":true}`
		withoutLandlock = `{"code":"Prepared"}`
		unverified      = `{"code":"PolicyUnverified","path":"/cache"}`
	)
	noProbe := func(pod *corev1.Pod) { pod.Spec.Containers[0].StartupProbe = nil }
	cases := map[string]struct {
		before func(*scene)
		want   string
	}{
		"before anything is made":                     {func(*scene) {}, "Unknown Pending"},
		"while the sandbox is made":                   {func(s *scene) { s.start() }, "Unknown Pending"},
		"the agent runs on a kernel with Landlock":    {func(s *scene) { runsAfter(s, withLandlock) }, "True Verified"},
		"the agent runs on a kernel without it":       {func(s *scene) { runsAfter(s, withoutLandlock) }, "True VerifiedMountsOnly"},
		"the agent runs and setup's word is nonsense": {func(s *scene) { runsAfter(s, "yes"); s.judge() }, "True VerifiedMountsOnly"},
		"the agent ran to its end":                    {func(s *scene) { runsAfter(s, withLandlock); s.pod().Status.ContainerStatuses = nil }, "True Verified"},
		"the check failed":                            {func(s *scene) { s.start(); s.agentEnds("Error", 125, unverified, 0) }, "False WritePolicyUnverified"},
		"the launcher left nothing":                   {func(s *scene) { s.start(); s.agentEnds("Error", 137, "", 0) }, "False WritePolicyUnverified"},
		"the launcher left nonsense":                  {func(s *scene) { s.start(); s.agentEnds("Error", 1, "Verified", 0) }, "False WritePolicyUnverified"},
		"the launcher is missing":                     {func(s *scene) { s.start(); s.agentEnds("StartError", 128, "no such file", 0) }, "False WritePolicyUnverified"},
		"setup could not assemble the sandbox":        {func(s *scene) { s.start(); setupEnds(s.pod(), "Error", 1, `{"code":"Internal","cause":"disk"}`) }, "False WritePolicyUnverified"},
		"setup failed for another reason":             {func(s *scene) { s.start(); setupEnds(s.pod(), "Error", 1, `{"code":"MountConflict","cause":"x"}`) }, "Unknown Pending"},
		"the program is missing":                      {func(s *scene) { s.start(); s.agentEnds("Error", 127, `{"code":"CommandNotFound","path":"x"}`, 0) }, "Unknown Pending"},
		"the sandbox was lost":                        {func(s *scene) { runsAfter(s, withLandlock); s.pods = nil }, "Unknown Pending"},
		"a webhook changed the sandbox":               {func(s *scene) { s.alter = noProbe }, "False WritePolicyUnverified"},
		"a webhook changed it, and the operator stopped right then": {func(s *scene) {
			untouched := s.session
			s.start()
			noProbe(s.pod())
			s.session = untouched
			s.judge() // The sandbox that nobody knows goes.
			if s.removed != 1 {
				t.Errorf("%d pods are removed, want 1", s.removed)
			}
			s.terminated()
			s.alter = noProbe
		}, "False WritePolicyUnverified"},
		"a failed check is tried again": {func(s *scene) {
			s.start()
			s.agentEnds("Error", 125, unverified, 0)
			s.judge()
			s.later(time.Minute)
			s.resume("1")
			s.judge()
			s.terminated()
			s.start()
		}, "Unknown Pending"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			tc.before(s)
			s.judge()
			condition := meta.FindStatusCondition(s.session.Status.Conditions, orcav1alpha1.ConditionWritePolicyEstablished)
			if got := string(condition.Status) + " " + condition.Reason; got != tc.want {
				t.Errorf("WritePolicyEstablished is %q, want %q", got, tc.want)
			}
		})
	}
}
