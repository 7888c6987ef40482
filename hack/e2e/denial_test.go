// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/layout"
)

// byAgent runs a script as the agent of a session and returns what it printed,
// its standard error included.
func byAgent(t *testing.T, script string) string {
	t.Helper()
	s := start(t, "("+script+") 2>&1; echo code $?")
	awaitReason(t, s, orcav1alpha1.ReasonCompleted)
	return logs(t, s)
}

func TestARefusedWriteIsExplainedInOneLine(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ script, path string }{
		"a redirect":                      {`echo x > /etc/x`, "/etc/x"},
		"a new directory":                 {`mkdir /workspace/x`, "/workspace/x"},
		"python":                          {`python3 -c "open('/mnt/session/uploads/x','w')"`, "/mnt/session/uploads/x"},
		"a relative name":                 {`cd /workspace && : > rel`, "/workspace/rel"},
		"a link that leads out of a root": {`ln -s /workspace/skills/y /mnt/session/outputs/l && echo x > /mnt/session/outputs/l`, "/mnt/session/outputs/l"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := byAgent(t, tc.script)
			if got := strings.Count(out, "write denied for "); got != 1 || !strings.Contains(out, layout.Denial(tc.path)+"\n") {
				t.Errorf("%d lines, want one %q in:\n%s", got, layout.Denial(tc.path), out)
			}
			if !strings.Contains(strings.ToLower(out), "read-only file system") || strings.HasSuffix(out, "code 0\n") {
				t.Errorf("it did not fail as on a read-only file system:\n%s", out)
			}
		})
	}
}

func TestWhatIsAllowedWorksWithoutALine(t *testing.T) {
	t.Parallel()
	cases := map[string]string{
		"a device":                       `echo x > /dev/null`,
		"standard error":                 `echo x >&2`,
		"mkdir -p below the outputs":     `mkdir -p /mnt/session/outputs/a/b`,
		"install -d":                     `install -d /tmp/a/b`,
		"git init and clone":             `cd /tmp && git init -q a && git clone -q a b`,
		"a missing file is left missing": `touch -c /workspace/missing`,
		"a rename in a root":             `cd /mnt/session/outputs && mkdir a b && touch a/f && python3 -c "import os; os.rename('a/f','b/f')"`,
		"temporary files":                `python3 -c "import tempfile; tempfile.TemporaryFile().write(b'x'); tempfile.mkdtemp()"`,
		"multiprocessing":                `python3 -c "import multiprocessing as m; m.Lock(); print(m.Pool(2).map(abs, [-1]))"`,
	}
	for name, script := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := byAgent(t, script)
			if strings.Contains(out, "write denied") || !strings.HasSuffix(out, "code 0\n") {
				t.Errorf("it failed, or a line was printed:\n%s", out)
			}
		})
	}
}

func TestWhatAnAgentCantDoToGetAround(t *testing.T) {
	t.Parallel()
	cases := map[string]string{
		"rename out of a root":         `cd /tmp && echo x > f && python3 -c "import os; os.rename('f','/workspace/f')"`,
		"link out of a root":           `cd /tmp && echo x > f && python3 -c "import os; os.link('f','/workspace/f')"`,
		"link a sealed file in":        `python3 -c "import os; os.link('/mnt/session/uploads/file_a/a.csv','/tmp/a')"`,
		"truncate a sealed file":       `python3 -c "import os; os.truncate('/mnt/session/uploads/file_a/a.csv', 0)"`,
		"change a sealed file's times": `python3 -c "import os; os.utime('/mnt/session/uploads/file_a/a.csv')"`,
		"change its attributes":        `python3 -c "import os; os.setxattr('/mnt/session/uploads/file_a/a.csv','user.x',b'1')"`,
		"change its mode":              `chmod 777 /mnt/session/uploads/file_a/a.csv`,
		"reopen a descriptor":          `python3 -c "import os; f=os.open('/mnt/session/uploads/file_a/a.csv',os.O_RDONLY); os.open('/proc/self/fd/%d'%f,os.O_WRONLY)"`,
		"through /proc/self/root":      `echo x > /proc/self/root/workspace/x`,
		"through process 1's root":     `echo x > /proc/1/root/workspace/x`,
		"a bind mount":                 `mount --bind /tmp /workspace`,
		"a user namespace":             `unshare -Urm true`,
		"a kernel setting":             `echo x > /proc/sys/kernel/core_pattern`,
		"a control group":              `mkdir /sys/fs/cgroup/x`,
		"the launcher's memory":        `python3 -c "open('/proc/1/mem','r+b')"`,
		"the launcher's environment":   `cat /proc/1/environ`,
		"the termination message":      `echo forged > /dev/termination-log`,
		"the launcher's program":       `echo x > /orca/bin/orca-sandbox`,
		"what the launcher is told":    `echo x > /orca/manifest/sandbox.json`,
	}
	for name, script := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, "("+script+") 2>&1; echo code $?; cat /mnt/session/uploads/file_a/a.csv", file("a", "a.csv", ""))
			inputs(t, s.Namespace, map[string]string{"a.csv": "unchanged"})
			awaitReason(t, s, orcav1alpha1.ReasonCompleted)
			if out := logs(t, s); strings.Contains(out, "code 0\n") || !strings.HasSuffix(out, "unchanged") {
				t.Errorf("it went through:\n%s", out)
			}
		})
	}
}

func TestAToolCallRunsUnderTheSamePolicy(t *testing.T) {
	t.Parallel()
	s := start(t, "sleep infinity")
	awaitState(t, s, orcav1alpha1.SessionStateRunning)
	call := func(script string) (string, error) {
		return inSandbox(t, s, "/orca/bin/orca-sandbox", "exec", "--", "bash", "-c", script)
	}
	out, err := call(`echo $HOME $TMPDIR $PWD $GIT_OPTIONAL_LOCKS; echo x > /mnt/session/outputs/x`)
	if diff := cmp.Diff("/tmp/home /tmp /workspace 0\n", out); diff != "" || err != nil {
		t.Errorf("error %v, (-want +got):\n%s", err, diff)
	}
	if _, err := call(`echo x > /workspace/x`); err == nil || !strings.Contains(err.Error(), layout.Denial("/workspace/x")) {
		t.Errorf("a refused write: %v", err)
	}
	if _, err := call(`exit 7`); err == nil || !strings.Contains(err.Error(), "exit code 7") {
		t.Errorf("exit 7: %v", err)
	}
	if _, err := call(`echo x > /dev/termination-log`); err == nil {
		t.Error("a tool call writes the termination message: it runs without Landlock")
	}
	// What a call leaves behind goes on working after it.
	if _, err := call(`nohup bash -c 'sleep 1; echo late > /mnt/session/outputs/late' >/dev/null 2>&1 &`); err != nil {
		t.Errorf("starting a background process: %v", err)
	}
	if out, err := call(`until [ -s /mnt/session/outputs/late ]; do sleep 0.1; done; cat /mnt/session/outputs/late`); out != "late\n" {
		t.Errorf("the background process wrote %q, %v", out, err)
	}
}

// An annotation can be edited, and the kubelet shows what it becomes.
func TestAnEditedAnnotationChangesNothing(t *testing.T) {
	t.Parallel()
	s := start(t, "sleep infinity")
	awaitState(t, s, orcav1alpha1.SessionStateRunning)
	edit := client.RawPatch("application/merge-patch+json",
		[]byte(`{"metadata":{"annotations":{"orca.dev/sandbox":"{\"writableRoots\":[\"/workspace\"],\"lifetimeSeconds\":1,\"gracePeriodSeconds\":1}"}}}`))
	pod := podOf(s)
	if err := cluster.Patch(t.Context(), pod, edit); err != nil {
		t.Fatal(err)
	}
	await(t, s, "the kubelet to show the edit", func() bool {
		out, err := inSandbox(t, s, "cat", "/orca/manifest/sandbox.json")
		return err == nil && strings.Contains(out, `["/workspace"]`)
	})
	_, err := inSandbox(t, s, "/orca/bin/orca-sandbox", "exec", "--", "touch", "/workspace/x")
	if err == nil || !strings.Contains(err.Error(), "exit code 125") {
		t.Errorf("a call under an edited manifest: %v, want exit code 125", err)
	}
	if _, err := inSandbox(t, s, "touch", "/workspace/x"); err == nil {
		t.Error("the workspace became writable")
	}
	if c := condition(s, orcav1alpha1.ConditionReady); c.Status != metav1.ConditionTrue {
		t.Errorf("the session is %s %s", c.Status, c.Reason)
	}
}

func TestALandlockedKernelIsSaidToBeOne(t *testing.T) {
	t.Parallel()
	s := start(t, "sleep infinity")
	awaitState(t, s, orcav1alpha1.SessionStateRunning)
	want := orcav1alpha1.ReasonVerified
	if out, err := inSandbox(t, s, "/orca/bin/orca-sandbox", "started"); err != nil || strings.Contains(out, "mounts only") {
		want = orcav1alpha1.ReasonVerifiedMountsOnly
	}
	if c := condition(s, orcav1alpha1.ConditionWritePolicyEstablished); c.Status != metav1.ConditionTrue || c.Reason != want {
		t.Errorf("WritePolicyEstablished is %s %s, want True %s", c.Status, c.Reason, want)
	}
}
