// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package repository

import (
	"bytes"
	"context"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/gitbox"
	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

// ProbeRole is the subcommand of the test's program that tries what its
// arguments say and prints how each went.
const ProbeRole = "probe"

// Probe does that.
func Probe(arguments []string) int {
	for _, argument := range arguments {
		what, on, _ := strings.Cut(argument, " ")
		result := "allowed"
		if err := attempts[what](on); err != nil {
			result = "refused"
		}
		_, _ = os.Stdout.WriteString(result + " " + argument + "\n")
	}
	return 0
}

var attempts = map[string]func(on string) error{
	"read": func(path string) error { _, err := os.ReadFile(path); return err },
	"list": func(path string) error { _, err := os.ReadDir(path); return err },
	"write": func(path string) error {
		return os.WriteFile(filepath.Join(path, "new"), nil, 0o600)
	},
	"rename":  func(path string) error { return os.Rename(path, path+".new") },
	"signal":  func(pid string) error { return unix.Kill(number(pid), 0) },
	"environ": func(pid string) error { _, err := os.ReadFile("/proc/" + pid + "/environ"); return err },
	"trace":   func(pid string) error { return unix.PtraceSeize(number(pid)) },
	"memory": func(pid string) error {
		buffer := make([]byte, 1)
		_, err := unix.ProcessVMReadv(number(pid), []unix.Iovec{{Base: &buffer[0], Len: 1}}, []unix.RemoteIovec{{Base: 0x400000, Len: 1}}, 0)
		if err == unix.EFAULT {
			return nil // It may look, there is only nothing.
		}
		return err
	},
}

func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

// The git process of one repository sees nothing of another's, nor of the
// sandbox's other folders, nor of other processes.
func TestBoxesAreApart(t *testing.T) {
	t.Parallel()
	if !gitbox.Supported() {
		t.Skip("the kernel has no Landlock")
	}
	folder := t.TempDir()
	launcher := filepath.Join(folder, "bin")
	mustMake(t, launcher)
	a, b := boxedJob(t, folder, "a"), boxedJob(t, folder, "b")
	other := b.box().Command(t.Context(), "sleep", "60")
	start(t, other)
	defer func() { _ = gitbox.Kill(other); _ = other.Wait() }()
	outside := exec.Command("sleep", "60")
	start(t, outside)
	defer func() { _ = outside.Process.Kill(); _ = outside.Wait() }()

	want := map[string]string{
		"read " + a.grant.Folder + "/password": "allowed", "read " + b.grant.Folder + "/password": "refused", "list " + b.grant.Folder: "refused",
		"list " + filepath.Dir(a.grant.Folder): "refused",
		"write " + a.staging:                   "allowed", "write " + b.staging: "refused", "list " + b.staging: "refused",
		"write " + filepath.Dir(a.staging): "refused", "rename " + a.staging: "refused",
		"write " + a.work: "allowed", "write " + b.work: "refused", "list " + b.work: "refused",
		"list " + launcher: "refused", "write " + launcher: "refused", "write /tmp": "refused", "list /tmp": "refused", "write /dev/shm": "refused",
		"read /etc/hosts": "allowed", "write /etc": "refused",
	}
	for _, pid := range []int{other.Process.Pid, outside.Process.Pid, os.Getpid()} {
		for _, what := range []string{"signal", "environ", "trace", "memory"} {
			want[what+" "+strconv.Itoa(pid)] = "refused"
		}
	}
	operations := slices.Sorted(maps.Keys(want))
	// The control: outside of a box, every one of these processes can be looked at.
	for _, line := range probe(t, exec.Command(a.shared.program, ProbeRole, "environ "+strconv.Itoa(outside.Process.Pid), "memory "+strconv.Itoa(outside.Process.Pid), "signal "+strconv.Itoa(outside.Process.Pid))) {
		if !strings.HasPrefix(line, "allowed") {
			t.Errorf("outside of a box: %s", line)
		}
	}
	got := map[string]string{}
	for _, line := range probe(t, a.box().Command(t.Context(), a.shared.program, append([]string{ProbeRole}, operations...)...)) {
		result, operation, _ := strings.Cut(line, " ")
		got[operation] = result
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("in the box (-want +got):\n%s", diff)
	}
}

func probe(t *testing.T, command *exec.Cmd) []string {
	t.Helper()
	var problems bytes.Buffer
	command.Stderr = &problems
	output, err := command.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, problems.String())
	}
	return strings.Split(strings.TrimSpace(string(output)), "\n")
}

// start starts a command and waits until it has become the program that it is
// to be.
func start(t *testing.T, command *exec.Cmd) {
	t.Helper()
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		name, err := os.ReadFile("/proc/" + strconv.Itoa(command.Process.Pid) + "/comm")
		if err == nil && string(name) == "sleep\n" {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the program is %q (%v)", name, err)
		}
	}
}

// boxedJob makes a job with a Secret.
func boxedJob(t *testing.T, folder, name string) *job {
	t.Helper()
	secret := filepath.Join(folder, "secrets", name)
	volume := filepath.Join(folder, "volume")
	work := filepath.Join(folder, "work")
	for _, folder := range []string{secret, volume, work} {
		mustMake(t, folder)
	}
	if err := os.WriteFile(filepath.Join(secret, "password"), []byte("secret-of-"+name), 0o600); err != nil {
		t.Fatal(err)
	}
	shared, err := newShared(Options{Work: work})
	if err != nil {
		t.Fatal(err)
	}
	clone := Clone{Folder: filepath.Join(volume, name), Repository: manifest.Repository{Resource: name, URL: "https://git.test/" + name, Secret: name, Credential: secret}}
	j, err := newJob(clone, shared, name, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	mustMake(t, j.staging)
	return j
}

func mustMake(t *testing.T, folder string) {
	t.Helper()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
}

// Nothing of the environment of setup reaches git, and nothing of the credential
// its environment, arguments or configuration.
func TestGitIsToldNoSecret(t *testing.T) {
	t.Setenv("ORCA_TEST_MARK", "inherited")
	j := boxedJob(t, t.TempDir(), "a")
	command := j.box().Command(context.WithoutCancel(t.Context()), "git", "version")
	command.Env = j.environment()
	told := strings.Join(append(command.Environ(), command.Args...), "\n")
	for _, text := range []string{"secret-of-a", "ORCA_TEST_MARK", "inherited"} {
		if strings.Contains(told, text) {
			t.Errorf("git is told %q:\n%s", text, told)
		}
	}
}

// F05: no form of a secret stays in a text.
func TestSecretsAreScrubbed(t *testing.T) {
	t.Parallel()
	j := boxedJob(t, t.TempDir(), "a")
	for name, tc := range map[string]struct{ text, want string }{
		"as it is":            {"x secret-of-a y", "x [redacted] y"},
		"in base64":           {"c2VjcmV0LW9mLWE= and c2VjcmV0LW9mLWE", "[redacted] and [redacted]"},
		"with the user":       {"Basic Z2l0OnNlY3JldC1vZi1h", "Basic [redacted]"},
		"in an address":       {"https://bot:secret-of-a@git.test/x", "https://git.test/x"},
		"a stranger's":        {"'https://bot:p@ss@git.test/x': y", "'https://git.test/x': y"},
		"hidden by a control": {"secret\x00-of-\x1ba", "[redacted]"},
		"control and format":  {"a\x1b[31mb\u202ec\u200bd\te", "a[31mbcde"},
		"folders":             {"fatal: '" + j.staging + "/lib' and " + j.work + "/home", "fatal: 'lib' and home"},
		"nothing to scrub":    {"fatal: early EOF", "fatal: early EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := j.secrets.scrub(tc.text); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
