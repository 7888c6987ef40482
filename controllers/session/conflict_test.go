// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"github.com/orca-agent-engine/orca-operator/controllers/sandbox"
)

// twin adds a copy of the session's pod under another name.
func (s *scene) twin() {
	s.t.Helper()
	copied := s.pod().DeepCopy()
	copied.Name, copied.UID = "twin", "twin"
	s.pods = append(s.pods, *copied)
}

func (s *scene) removeTwin() {
	s.pods = slices.DeleteFunc(s.pods, func(pod corev1.Pod) bool { return pod.Name == "twin" })
}

func TestTwoPodsOfOneAttempt(t *testing.T) {
	conflict := func(prepared string) outcome {
		return outcome{
			State: "Pending", Reason: "SandboxConflict", Verdict: status.FailedStatus, Prepared: prepared, After: recheckFailed,
		}
	}
	runPlays(t, map[string]play{
		"while it starts": {func(s *scene) { s.start(); s.twin() }, conflict("Preparing")},
		"while it runs":   {func(s *scene) { s.run(); s.twin() }, conflict("Prepared")},
		"neither was seen before": {
			func(s *scene) { untouched := s.session; s.start(); s.twin(); s.session = untouched }, conflict("Pending"),
		},
		"until one goes, however long": {
			func(s *scene) { s.run(); s.twin(); s.judge(); s.later(24 * time.Hour) }, conflict("Prepared"),
		},
		"while it starts, until one goes": {func(s *scene) { s.start(); s.twin(); s.judge(); s.removeTwin() }, held("Starting", 0)},
		"while it runs, until one goes":   {func(s *scene) { s.run(); s.twin(); s.judge(); s.removeTwin() }, running()},
		"neither was seen before, until one goes": {
			func(s *scene) {
				untouched := s.session
				s.start()
				s.twin()
				s.session = untouched
				s.judge()
				s.removeTwin()
			},
			held("Starting", 0),
		},
		"the agent ends in the meantime, and forges": {
			func(s *scene) {
				s.run()
				s.twin()
				s.judge()
				s.removeTwin()
				s.agentEnds("", 0, policyFailed, time.Minute)
			},
			completed(),
		},
		"the session is asked to be idle": {
			func(s *scene) { s.run(); s.twin(); s.judge(); s.ask(idle) },
			outcome{State: "Ending", Reason: "Ending", Verdict: status.InProgressStatus, Prepared: "Pending", Removes: 2},
		},
		"neither was seen before, and the session is asked to end": {
			func(s *scene) {
				untouched := s.session
				s.start()
				s.twin()
				s.pods[0].Name = "other"
				s.session = untouched
				s.ask(over)
			},
			outcome{State: "Ending", Reason: "Ending", Verdict: status.InProgressStatus, Prepared: "Pending", Removes: 2},
		},
		"of an attempt that failed and isn't tried again": {
			func(s *scene) { s.start(); setupEnds(s.pod(), "", 1, ""); s.judge(); s.twin() }, setupFails("WritePolicyUnverified"),
		},
		"pods without a number aren't of one attempt": {
			func(s *scene) {
				s.run()
				delete(s.pod().Labels, sandbox.LabelAttempt)
				s.twin()
			},
			running(),
		},
	})
}

func TestAConflictIsToldOnce(t *testing.T) {
	s := newScene(t)
	s.run()
	s.twin()
	if j := s.judge(); j.warning == nil || j.warning.reason != "SandboxConflict" {
		t.Errorf("warning = %+v, want one of the conflict", j.warning)
	}
	s.resume("now")
	s.ask(runs)
	s.later(time.Hour)
	if j := s.judge(); j.warning != nil {
		t.Errorf("an hour later it warns again: %+v", j.warning)
	}
	if diff := cmp.Diff(s.session.Status.Error.Reason, ""); diff != "" {
		t.Errorf("a conflict is no session.error:\n%s", diff)
	}
}
