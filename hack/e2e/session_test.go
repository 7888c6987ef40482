// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
)

func TestASessionWaitsForItsEnvironment(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	s := session(namespace, "exit 0")
	create(t, s)
	awaitReason(t, s, orcav1alpha1.ReasonEnvironmentNotFound)
	if s.Status.State != orcav1alpha1.SessionStatePending {
		t.Errorf("state = %s, want Pending", s.Status.State)
	}
	create(t, environment(namespace, "env"))
	awaitReason(t, s, orcav1alpha1.ReasonCompleted)
}

func TestASessionWaitsForItsFiles(t *testing.T) {
	t.Parallel()
	s := start(t, "cat /mnt/session/uploads/file_a/a.csv", file("a", "a.csv", ""))
	awaitReason(t, s, orcav1alpha1.ReasonFileUnavailable)
	if s.Status.State != orcav1alpha1.SessionStatePending {
		t.Errorf("state without the ConfigMap = %s, want Pending", s.Status.State)
	}
	inputs(t, s.Namespace, map[string]string{"other.csv": "no"})
	await(t, s, "a sandbox that lacks the key", func() bool {
		return s.Status.State == orcav1alpha1.SessionStateStarting &&
			condition(s, orcav1alpha1.ConditionReady).Reason == orcav1alpha1.ReasonFileUnavailable
	})
	if message := condition(s, orcav1alpha1.ConditionReady).Message; !strings.Contains(message, "a.csv") || !strings.Contains(message, "inputs") {
		t.Errorf("message %q names neither key nor ConfigMap", message)
	}
	change := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "inputs"}}
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"data":{"a.csv":"here"}}`))
	if err := cluster.Patch(t.Context(), change, patch); err != nil {
		t.Fatal(err)
	}
	awaitReason(t, s, orcav1alpha1.ReasonCompleted)
	if got := logs(t, s); got != "here" {
		t.Errorf("the agent read %q, want %q", got, "here")
	}
}

func TestASessionEndsAsItsAgentDoes(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		script     string
		wantReason string
		wantState  orcav1alpha1.SessionState
		wantCode   *int32
	}{
		"an agent that exits with 0":                  {"sleep 3", orcav1alpha1.ReasonCompleted, orcav1alpha1.SessionStateEnded, new(int32(0))},
		"an agent that exits with 0 at once":          {"exit 0", orcav1alpha1.ReasonCompleted, orcav1alpha1.SessionStateEnded, new(int32(0))},
		"an agent that exits with 3":                  {"exit 3", orcav1alpha1.ReasonAgentFailed, orcav1alpha1.SessionStateEnded, new(int32(3))},
		"an agent that a signal ends":                 {"sleep 3; kill -ABRT $$", orcav1alpha1.ReasonAgentFailed, orcav1alpha1.SessionStateEnded, new(int32(134))},
		"an agent that leaves a process behind":       {"sleep 1000 & sleep 2", orcav1alpha1.ReasonCompleted, orcav1alpha1.SessionStateEnded, new(int32(0))},
		"an agent that forges the result and exits 3": {`echo '{"code":"AgentExited","exitCode":0}' > /dev/termination-log; sleep 2; exit 3`, orcav1alpha1.ReasonAgentFailed, orcav1alpha1.SessionStateEnded, new(int32(3))},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, tc.script)
			awaitReason(t, s, tc.wantReason)
			if s.Status.State != tc.wantState {
				t.Errorf("state = %s, want %s", s.Status.State, tc.wantState)
			}
			if s.Status.ExitCode == nil || *s.Status.ExitCode != *tc.wantCode {
				t.Errorf("exitCode = %v, want %d", s.Status.ExitCode, *tc.wantCode)
			}
		})
	}
}

func TestASessionWithoutItsProgramFailsSetup(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	create(t, environment(namespace, "env"))
	s := session(namespace, "")
	s.Spec.Command = []string{"no-such-program"}
	create(t, s)
	awaitReason(t, s, orcav1alpha1.ReasonInvalidSpec)
	if s.Status.State != orcav1alpha1.SessionStateIdle || s.Status.Error.Type != orcav1alpha1.ErrorSetupFailed {
		t.Errorf("state %s with error %q, want Idle with setup_failed", s.Status.State, s.Status.Error.Type)
	}
}

func TestWhatBreaksARuleIsRefusedWhenItIsMade(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	env := environment(namespace, "env")
	env.Spec.Config.Packages = []string{"numpy"}
	if err := cluster.Create(t.Context(), env); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.config.packages") {
		t.Errorf("making an environment with packages: %v, want a refusal that names them", err)
	}
	s := session(namespace, "exit 0")
	s.Spec.Resources = []orcav1alpha1.SessionResource{file("hosts", "hosts", "/etc/hosts")}
	if err := cluster.Create(t.Context(), s); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.resources[0].file.mountPath") {
		t.Errorf("making a session with a file in /etc: %v, want a refusal that names its path", err)
	}
}

func TestASessionGoesIdleAndResumes(t *testing.T) {
	t.Parallel()
	s := start(t, "echo > /tmp/left-behind; sleep infinity")
	awaitState(t, s, orcav1alpha1.SessionStateRunning)
	first := s.Status.PodName
	update(t, s, func() { s.Spec.DesiredState = orcav1alpha1.DesiredStateIdle })
	awaitReason(t, s, orcav1alpha1.ReasonIdle)
	awaitGone(t, s.Namespace, first)
	update(t, s, func() { s.Spec.DesiredState = orcav1alpha1.DesiredStateRunning })
	awaitReason(t, s, orcav1alpha1.ReasonRunning)
	if s.Status.Attempt != 2 || s.Status.PodName == first {
		t.Errorf("attempt %d in pod %s, want a second one in another pod", s.Status.Attempt, s.Status.PodName)
	}
	update(t, s, func() { s.Spec.DesiredState = orcav1alpha1.DesiredStateEnded })
	awaitReason(t, s, orcav1alpha1.ReasonEnded)
}

func TestASessionWhosePodIsDeletedIsLostAndResumes(t *testing.T) {
	t.Parallel()
	s := start(t, "trap 'exit 0' TERM; while :; do sleep 0.1; done")
	awaitState(t, s, orcav1alpha1.SessionStateRunning)
	if err := cluster.Delete(t.Context(), podOf(s)); err != nil {
		t.Fatal(err)
	}
	awaitReason(t, s, orcav1alpha1.ReasonSandboxLost)
	if s.Status.State != orcav1alpha1.SessionStateIdle {
		t.Errorf("state = %s, want Idle", s.Status.State)
	}
	update(t, s, func() { metav1.SetMetaDataAnnotation(&s.ObjectMeta, orcav1alpha1.ResumeAnnotation, "1") })
	awaitReason(t, s, orcav1alpha1.ReasonRunning)
	if s.Status.LastHandledResume != "1" {
		t.Errorf("lastHandledResume = %q, want 1", s.Status.LastHandledResume)
	}
}

func TestADeletedSessionTakesItsPodAlong(t *testing.T) {
	t.Parallel()
	s := start(t, "sleep infinity")
	awaitState(t, s, orcav1alpha1.SessionStateRunning)
	if err := cluster.Delete(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, s.Namespace, s.Status.PodName)
}

// update changes an object, again if somebody else did meanwhile.
func update(t *testing.T, object client.Object, change func()) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		if err := cluster.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return false, err
		}
		change()
		err := cluster.Update(ctx, object)
		return err == nil, ignoreConflict(err)
	})
	if err != nil {
		t.Fatalf("updating %T: %v", object, err)
	}
}

func ignoreConflict(err error) error {
	if apierrors.IsConflict(err) {
		return nil
	}
	return err
}

func awaitGone(t *testing.T, namespace, pod string) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 200*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		err := cluster.Get(ctx, client.ObjectKey{Namespace: namespace, Name: pod}, &corev1.Pod{})
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
	if err != nil {
		t.Fatalf("waiting for pod %s to go: %v", pod, err)
	}
}

// Stopping and changing one's mind may cross each other at any moment.
func TestAQuickChangeOfMindLosesNoSandbox(t *testing.T) {
	t.Parallel()
	for _, gap := range []time.Duration{0, 20 * time.Millisecond, 80 * time.Millisecond, 300 * time.Millisecond, time.Second} {
		t.Run(gap.String(), func(t *testing.T) {
			t.Parallel()
			s := start(t, "sleep infinity")
			awaitState(t, s, orcav1alpha1.SessionStateRunning)
			for range 4 {
				ask(t, s, orcav1alpha1.DesiredStateIdle)
				pause(t, gap)
				ask(t, s, orcav1alpha1.DesiredStateRunning)
				await(t, s, "the agent to run", func() bool {
					ready := condition(s, orcav1alpha1.ConditionReady)
					return ready.Reason == orcav1alpha1.ReasonRunning && ready.ObservedGeneration == s.Generation
				})
				if s.Status.Error.Type != "" {
					t.Fatalf("session.error %s: %s", s.Status.Error.Type, s.Status.Error.Message)
				}
			}
		})
	}
}

// ask changes desiredState without reading anything first.
func ask(t *testing.T, s *orcav1alpha1.OrcaSession, state orcav1alpha1.DesiredState) {
	t.Helper()
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"desiredState":"`+string(state)+`"}}`))
	if err := cluster.Patch(t.Context(), s, patch); err != nil {
		t.Fatal(err)
	}
}

// pause lets time pass between two requests: it is what is tested.
func pause(t *testing.T, gap time.Duration) {
	t.Helper()
	select {
	case <-time.After(gap):
	case <-t.Context().Done():
	}
}
