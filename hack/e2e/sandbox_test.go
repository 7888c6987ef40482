// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
)

// inputs makes the ConfigMap that file reads.
func inputs(t *testing.T, namespace string, data map[string]string) {
	t.Helper()
	create(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "inputs"}, Data: data})
}

func TestAnAgentCanWriteOnlyWhereTheContractSays(t *testing.T) {
	t.Parallel()
	s := start(t, "sleep infinity", file("a", "a.csv", ""), file("b", "b.csv", "/data/in/b.csv"))
	inputs(t, s.Namespace, map[string]string{"a.csv": "one", "b.csv": "two"})
	awaitState(t, s, orcav1alpha1.SessionStateRunning)

	for _, path := range []string{
		"/new", "/etc/new", "/workspace/new", "/workspace/skills/new", "/mnt/new", "/mnt/session/new",
		"/mnt/session/uploads/new", "/mnt/session/uploads/file_a/new", "/mnt/memory/new", "/data/in/new",
		"/mnt/session/uploads/file_a/a.csv", "/data/in/b.csv", "/etc/hosts", "/dev/mqueue/new", "/orca/bin/new",
	} {
		if _, err := inSandbox(t, s, "touch", path); err == nil {
			t.Errorf("touch %s succeeded, want it refused", path)
		} else if !strings.Contains(err.Error(), "Read-only file system") {
			t.Errorf("touch %s failed for another reason than a read-only mount: %v", path, err)
		}
	}
	for _, path := range []string{"/mnt/session/outputs/new", "/tmp/new", "$HOME/new", "$TMPDIR/other", "/dev/shm/new"} {
		if _, err := inSandbox(t, s, "bash", "-c", "touch "+path); err != nil {
			t.Errorf("touch %s: %v", path, err)
		}
	}
	for path, want := range map[string]string{"/mnt/session/uploads/file_a/a.csv": "one", "/data/in/b.csv": "two"} {
		if got, err := inSandbox(t, s, "cat", path); err != nil || got != want {
			t.Errorf("cat %s = %q, %v; want %q", path, got, err, want)
		}
	}
	want := []orcav1alpha1.ResourceStatus{
		{Name: "a", MountPath: "/mnt/session/uploads/file_a/a.csv", Access: orcav1alpha1.AccessReadOnly},
		{Name: "b", MountPath: "/data/in/b.csv", Access: orcav1alpha1.AccessReadOnly},
	}
	if diff := cmp.Diff(want, s.Status.Resources); diff != "" {
		t.Errorf("status.resources (-want +got):\n%s", diff)
	}
}

func TestASandboxHoldsNoTokenAndResolvesNames(t *testing.T) {
	t.Parallel()
	s := start(t, "sleep infinity")
	awaitState(t, s, orcav1alpha1.SessionStateRunning)
	if out, err := inSandbox(t, s, "ls", "/var/run/secrets/kubernetes.io"); err == nil {
		t.Errorf("a service account's token is in the sandbox: %s", out)
	}
	for _, name := range []string{"kubernetes.default.svc.cluster.local", "localhost", "$(hostname)"} {
		if _, err := inSandbox(t, s, "bash", "-c", "getent hosts "+name); err != nil {
			t.Errorf("resolving %s: %v", name, err)
		}
	}
	out, err := inSandbox(t, s, "bash", "-c", "id -u; pwd; stat -c %a $HOME; cat /proc/self/status | grep -E 'CapEff|NoNewPrivs|Seccomp:'")
	if err != nil {
		t.Fatal(err)
	}
	want := "1000\n/workspace\n700\nCapEff:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n"
	if diff := cmp.Diff(want, out); diff != "" {
		t.Errorf("what the agent's process is (-want +got):\n%s", diff)
	}
}

func TestCommandArgsAndEnvReachTheAgentByteForByte(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	create(t, environment(namespace, "env"))
	s := session(namespace, "")
	s.Spec.Command = []string{"python3", "-c", `import os,sys; print(repr(sys.argv[1:]), repr(os.environ["STRANGE"]))`}
	s.Spec.Args = []string{"$(HOME)", "$$(HOME)", "", "two\nlines", `quote"'`, "caf\u00e9"}
	s.Spec.Env = []orcav1alpha1.EnvVar{{Name: "STRANGE", Value: new("$(HOME) `id` \n end")}}
	create(t, s)
	awaitReason(t, s, orcav1alpha1.ReasonCompleted)
	want := `['$(HOME)', '$$(HOME)', '', 'two\nlines', 'quote"\'', 'café'] '$(HOME) ` + "`id`" + ` \n end'` + "\n"
	if diff := cmp.Diff(want, logs(t, s)); diff != "" {
		t.Errorf("what the agent saw (-want +got):\n%s", diff)
	}
}
