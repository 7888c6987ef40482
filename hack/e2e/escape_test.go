// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/layout"
	"github.com/orca-agent-engine/orca-operator/hack/e2e/escape/wanted"
)

const (
	// escapee is the command line of the program that tries to escape.
	escapee = "/tmp/escape /mnt/session/uploads/file_a/a.csv " + layout.Outputs
	// restrained begins a command line of a program that is in the launcher's
	// Landlock domain without being supervised.
	restrained = "/tmp/restrain /mnt/session/outputs,/tmp,/dev/shm "
)

// programs builds static programs, each once.
var programs = sync.OnceValues(func() (map[string][]byte, error) {
	folder, err := os.MkdirTemp("", "e2e-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	command := exec.Command("go", "build", "-ldflags=-s -w", "-o", folder, "./escape", "../../cmd/orca-sandbox/testdata/restrain")
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	command.Stderr = os.Stderr
	if err := command.Run(); err != nil {
		return nil, err
	}
	built := map[string][]byte{}
	for _, name := range []string{"escape", "restrain"} {
		if built[name], err = os.ReadFile(filepath.Join(folder, name)); err != nil {
			return nil, err
		}
	}
	return built, nil
})

// putPrograms puts the static programs into the /tmp of a sandbox, each whole
// or not at all.
func putPrograms(t *testing.T, s *orcav1alpha1.OrcaSession) {
	t.Helper()
	built, err := programs()
	if err != nil {
		t.Fatalf("building what tries to escape: %v", err)
	}
	for _, name := range []string{"restrain", "escape"} {
		path := "/tmp/" + name
		command := exec.CommandContext(t.Context(), "kubectl", "exec", "--stdin", "--namespace", s.Namespace, s.Status.PodName,
			"--container", "sandbox", "--", "bash", "-c", "cat > "+path+".part && chmod +x "+path+".part && mv "+path+".part "+path)
		command.Stdin = bytes.NewReader(built[name])
		if output, err := command.CombinedOutput(); err != nil {
			t.Fatalf("putting %s into the sandbox: %v: %s", name, err, output)
		}
	}
}

// triedFrom is where the program was when it tried to escape.
func triedFrom(s *orcav1alpha1.OrcaSession, supervisor wanted.Supervisor) wanted.Place {
	fields := strings.Fields(escapee)
	return wanted.Place{
		File: fields[1], Root: fields[2], Profile: true, Supervisor: supervisor,
		Landlock: condition(s, orcav1alpha1.ConditionWritePolicyEstablished).Reason == orcav1alpha1.ReasonVerified,
	}
}

func TestAnAgentCanNotEscape(t *testing.T) {
	t.Parallel()
	s := start(t, "until [ -e /tmp/escape ]; do sleep 0.1; done; exec "+escapee, file("a", "a.csv", ""))
	inputs(t, s.Namespace, map[string]string{"a.csv": "unchanged"})
	awaitState(t, s, orcav1alpha1.SessionStateRunning)
	putPrograms(t, s)
	awaitReason(t, s, orcav1alpha1.ReasonCompleted)
	if diff := wanted.Difference(logs(t, s), triedFrom(s, wanted.Process1)); diff != "" {
		t.Errorf("the agent got (-want +got):\n%s", diff)
	}
}

// Mounts alone hold what goes round the launcher. What is in its Landlock
// domain without being supervised is refused what it leaves, too.
func TestNothingBesideTheAgentCanEscape(t *testing.T) {
	t.Parallel()
	s := start(t, "sleep infinity", file("a", "a.csv", ""))
	inputs(t, s.Namespace, map[string]string{"a.csv": "unchanged"})
	awaitState(t, s, orcav1alpha1.SessionStateRunning)
	putPrograms(t, s)
	call, bare := triedFrom(s, wanted.OfCall), triedFrom(s, wanted.Nobody)
	landlocked := bare
	bare.Landlock = false
	for name, tc := range map[string]struct {
		command string
		place   wanted.Place
	}{
		"a tool call":         {"/orca/bin/orca-sandbox exec -- " + escapee, call},
		"mounts alone":        {escapee, bare},
		"mounts and Landlock": {restrained + escapee, landlocked},
	} {
		t.Run(name, func(t *testing.T) {
			if !landlocked.Landlock && strings.HasPrefix(tc.command, restrained) {
				t.Skip("the node's kernel has no Landlock")
			}
			output, err := inSandbox(t, s, strings.Fields(tc.command)...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := wanted.Difference(output, tc.place); diff != "" {
				t.Errorf("it got (-want +got):\n%s", diff)
			}
		})
	}
	if got, err := inSandbox(t, s, "bash", "-c", "cd /mnt/session/uploads && find . -type f && cat file_a/a.csv"); got != "./file_a/a.csv\nunchanged" {
		t.Errorf("the attached files are %q, %v", got, err)
	}
}

func TestAnAgentThatForgesTheMessageAndSignalsTheLauncherHasFailed(t *testing.T) {
	t.Parallel()
	const (
		forge = `echo '{"code":"AgentExited","exitCode":0}' > /dev/termination-log && exit 9
			trap : TERM USR1; for s in KILL STOP USR1; do kill -$s 1; done; `
		stop = `got=; trap 'got=1' TERM; kill -TERM 1; until [ $got ]; do sleep 0.01; done; `
	)
	for name, script := range map[string]string{
		"at once":                         forge + "exit 1",
		"at once, after a stop":           forge + stop + "exit 1",
		"after it ran for a while":        "sleep 3; " + forge + "exit 1",
		"after a while and a stop":        "sleep 3; " + forge + stop + "exit 1",
		"after a stop of everything near": forge + `trap : TERM; kill -TERM 0; sleep 0.5; exit 1`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, script)
			awaitReason(t, s, orcav1alpha1.ReasonAgentFailed)
			if s.Status.State != orcav1alpha1.SessionStateEnded || s.Status.ExitCode == nil || *s.Status.ExitCode != 1 {
				t.Errorf("state %s, exit code %v, want Ended with 1", s.Status.State, s.Status.ExitCode)
			}
			if got := logs(t, s); strings.Count(got, layout.Denial("/dev/termination-log")+"\n") != 1 {
				t.Errorf("the forgery was not refused with one line:\n%s", got)
			}
		})
	}
}

func TestAModuleOfAReadOnlyTreeIsImportedInSilence(t *testing.T) {
	t.Parallel()
	s := start(t, "(cd /data/lib && python3 -c 'import module; print(module.answer)') 2>&1", file("m", "module.py", "/data/lib/module.py"))
	inputs(t, s.Namespace, map[string]string{"module.py": "answer = 42"})
	awaitReason(t, s, orcav1alpha1.ReasonCompleted)
	if got := logs(t, s); got != "42\n" {
		t.Errorf("the agent printed %q, want 42 alone", got)
	}
}
