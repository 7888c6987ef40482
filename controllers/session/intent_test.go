// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"strings"
	"testing"
	"time"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
	"github.com/orca-agent-engine/orca-operator/controllers/sandbox"
)

// The cache may show the pod of a new attempt before the status that records
// it.
func TestAPodOfALaterAttemptIsNeverLeftOver(t *testing.T) {
	s := newScene(t)
	s.run()
	s.ask(idle)
	s.judge()
	s.terminated()
	s.ask(runs)
	stale := s.session
	s.judge()
	if len(s.pods) != 1 || sandbox.Attempt(&s.pods[0]) != 2 {
		t.Fatalf("no second attempt: %d pods", len(s.pods))
	}
	s.session = stale
	if j := judge(s.observation); len(j.remove) > 0 || j.status.Error.Type != "" {
		t.Errorf("by the old status %d pods are removed, with the error %q", len(j.remove), j.status.Error.Type)
	}
}

// A failed session has no sandbox that goes on, even where the operator stopped
// just before it deleted it.
func TestASandboxDoesNotOutliveTheFailureOfItsSession(t *testing.T) {
	s := newScene(t)
	s.start()
	s.later(setupTimeout)
	s.judge()
	pod := s.pod()
	pod.DeletionTimestamp = nil
	agentRuns(pod, s.now)
	s.judge()
	if s.removed != 1 || s.session.Status.State != orcav1alpha1.SessionStateIdle {
		t.Errorf("%d pods are removed in state %s, want 1 in Idle", s.removed, s.session.Status.State)
	}
}

func TestTheTimeBeforeAConflictCounts(t *testing.T) {
	s := newScene(t)
	s.run()
	s.later(time.Minute)
	s.twin()
	s.judge()
	s.removeTwin()
	s.later(5 * time.Second)
	s.judge()
	s.ask(idle)
	s.judge()
	s.terminated()
	s.judge()
	if got := s.session.Status.RunSeconds; got != 65 {
		t.Errorf("runSeconds = %d, want 65", got)
	}
}

func TestALongResumeValueIsRecordedByItsDigest(t *testing.T) {
	s := newScene(t)
	value := strings.Repeat("now ", 1000)
	s.resume(value)
	s.start()
	if got, want := s.session.Status.LastHandledResume, manifest.Digest([]byte(value)); got != want {
		t.Errorf("lastHandledResume = %q, want %q", got, want)
	}
	s.agentEnds("Error", 125, `{"code":"PolicyUnverified","path":"/x"}`, 0)
	s.judge()
	if j := judge(s.observation); j.start != 0 || len(j.remove) > 0 {
		t.Error("the same value resumes the session again")
	}
}

func TestWhatTheImageHasInTheWayIsNamed(t *testing.T) {
	const message = `failed to create containerd task: runc create failed: error mounting "/var/lib/kubelet/x" to rootfs at "/root": not a directory`
	s := newScene(t)
	s.start()
	s.agentEnds("StartError", 128, message, 0)
	s.judge()
	got := s.session.Status.Error
	if got.Reason != orcav1alpha1.ReasonMountConflict || !strings.Contains(got.Message, `"/root"`) || strings.Contains(got.Message, "kubelet") {
		t.Errorf("%s: %q, want a MountConflict that names /root and nothing of the node", got.Reason, got.Message)
	}
}

func TestNoStatusSaysWhatTheDeploymentGives(t *testing.T) {
	cases := map[string]string{
		"a quota":            `pods "p" is forbidden: exceeded quota: q, requested: limits.memory=2Gi, used: limits.memory=0, limited: limits.memory=1Gi`,
		"a maximum":          `pods "p" is forbidden: maximum memory usage per Container is 1Gi, but limit is 2Gi`,
		"a ratio":            `pods "p" is forbidden: memory max limit to request ratio per Container is 2, but provided ratio is 8.000000`,
		"a limit by default": `Pod "p" is invalid: spec.containers[0].resources.requests: Invalid value: "2Gi": must be less than or equal to cpu limit`,
	}
	for name, message := range cases {
		t.Run(name, func(t *testing.T) {
			got := withoutAmounts(message)
			for _, amount := range []string{"2Gi", "8.0"} {
				if strings.Contains(got, amount) {
					t.Errorf("%q says %s", got, amount)
				}
			}
		})
	}
}
