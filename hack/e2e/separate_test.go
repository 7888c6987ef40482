// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
)

// deployAs installs the operator with a line added to its settings, until the
// test ends. Such a test isn't parallel to any other.
func deployAs(t *testing.T, line string) {
	t.Helper()
	before := render(t, "")
	t.Cleanup(func() {
		if err := install(context.WithoutCancel(t.Context()), before); err != nil {
			t.Error(err)
		}
	})
	if err := install(t.Context(), render(t, line)); err != nil {
		t.Fatal(err)
	}
}

// call runs a program in a session's sandbox as an agent elsewhere does.
func call(t *testing.T, s *orcav1alpha1.OrcaSession, script string) (output string, code int) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "kubectl", "exec", "--namespace", s.Namespace, s.Status.PodName, "--container", "sandbox", "--",
		"/orca/bin/orca-sandbox", "exec", "--", "bash", "-c", script).CombinedOutput()
	if failed, is := errors.AsType[*exec.ExitError](err); is {
		return string(out), failed.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(out), 0
}

// In Separate mode a sandbox waits for calls, in the operator's image, and ends
// when it is asked to.
func TestSeparateMode(t *testing.T) {
	deployAs(t, "mode: Separate")
	namespace := newNamespace(t)
	env := environment(namespace, "env")
	env.Spec.Image = "registry.test/there-is-no-such-image:v1"
	create(t, env)
	s := session(namespace, "")
	s.Spec.Command, s.Spec.Args = nil, nil
	create(t, s)
	awaitReason(t, s, orcav1alpha1.ReasonRunning)
	if err := cluster.Get(t.Context(), client.ObjectKeyFromObject(env), env); err != nil {
		t.Fatal(err)
	}
	if !meta.IsStatusConditionTrue(env.Status.Conditions, orcav1alpha1.ConditionImageIgnored) {
		t.Errorf("the environment doesn't say that its image is ignored: %+v", env.Status.Conditions)
	}
	callsShareASandbox(t, s)

	update(t, s, func() { s.Spec.DesiredState = orcav1alpha1.DesiredStateIdle })
	awaitReason(t, s, orcav1alpha1.ReasonIdle)
	update(t, s, func() { s.Spec.DesiredState = orcav1alpha1.DesiredStateRunning })
	awaitReason(t, s, orcav1alpha1.ReasonRunning)
	if out, code := call(t, s, "cat /tmp/shared"); code == 0 {
		t.Errorf("the sandbox of a resumed session has the /tmp of the one before: %q", out)
	}
	update(t, s, func() { s.Spec.DesiredState = orcav1alpha1.DesiredStateEnded })
	awaitReason(t, s, orcav1alpha1.ReasonEnded)
	if s.Status.ExitCode != nil {
		t.Errorf("there is an exit code, %d, of no agent", *s.Status.ExitCode)
	}
}

func callsShareASandbox(t *testing.T, s *orcav1alpha1.OrcaSession) {
	t.Helper()
	if out, code := call(t, s, "echo shared > /tmp/shared; exit 7"); code != 7 {
		t.Errorf("a call exits with %d, want 7: %s", code, out)
	}
	var calls sync.WaitGroup
	for range 4 {
		calls.Go(func() {
			if out, code := call(t, s, "cat /tmp/shared"); code != 0 || strings.TrimSpace(out) != "shared" {
				t.Errorf("a call at the same time as others exits with %d: %q", code, out)
			}
		})
	}
	calls.Wait()
	const line = "write denied for /workspace/x; user-downloadable files must be written under /mnt/session/outputs/"
	if out, code := call(t, s, "echo x > /workspace/x"); code == 0 || !strings.Contains(out, line) {
		t.Errorf("a write outside the permitted paths exits with %d: %q", code, out)
	}
}
