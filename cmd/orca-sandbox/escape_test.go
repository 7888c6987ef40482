// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/confine"
	"github.com/orca-agent-engine/orca-operator/hack/e2e/escape/wanted"
)

// Where programs are in a container: one that tries to escape, and one that
// becomes another in the launcher's Landlock domain, without a supervisor.
const (
	escapeProgram   = "/opt/escape"
	restrainProgram = "/opt/restrain"
)

// escapee is the command line of the program in a sealed tree.
func escapee() []string {
	return []string{escapeProgram, "/workspace/app/readme", writableRoots[0]}
}

// triedFrom is where a program in a sealed tree was when it tried to escape.
func triedFrom(place wanted.Place) wanted.Place {
	place.File, place.Root = escapee()[1], escapee()[2]
	return place
}

// withEscapee returns options for a container with those programs in it.
func withEscapee(t *testing.T, lost ...uint32) containerOptions {
	t.Helper()
	folder, err := buildEscapee()
	if err != nil {
		t.Fatal(err)
	}
	return containerOptions{lost: lost, mounts: []containerMount{
		{Target: escapeProgram, Bind: filepath.Join(folder, "escape"), ReadOnly: true},
		{Target: restrainProgram, Bind: filepath.Join(folder, "restrain"), ReadOnly: true},
		// As container runtimes have it.
		{Target: "/proc/sys", BindInside: "/proc/sys", ReadOnly: true},
	}}
}

// buildEscapee builds those programs, which are static, and returns the folder
// with them.
var buildEscapee = sync.OnceValues(func() (string, error) {
	folder := filepath.Dir(binary)
	command := exec.Command("go", "build", "-buildvcs=false", "-o", folder, "../../hack/e2e/escape", "./testdata/restrain")
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the programs that try to escape: %w\n%s", err, output)
	}
	return folder, nil
})

// hasLandlock reports whether the kernel has Landlock.
func hasLandlock(t *testing.T) bool {
	t.Helper()
	available, err := confine.Landlock(nil)
	if err != nil {
		t.Fatal(err)
	}
	return available
}

// needsLandlock skips a test of what Landlock does where the kernel has none.
func needsLandlock(t *testing.T) {
	t.Helper()
	if !hasLandlock(t) {
		t.Skip("this kernel has no Landlock, so there is nothing to show")
	}
}

// needsRoot skips a test in which something must belong to another user than
// the sandbox's.
func needsRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can make a container as a runtime makes it")
	}
}

func TestAnAgentCanNotEscape(t *testing.T) {
	t.Parallel()
	needsRoot(t)
	for name, lost := range map[string][]uint32{
		"with Landlock":    nil,
		"without Landlock": {unix.SYS_LANDLOCK_CREATE_RULESET},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if lost == nil {
				needsLandlock(t)
			}
			sandbox := empty()
			sandbox.Command = escapee()
			c := inSealedTree(t, sandbox, withEscapee(t, lost...))
			c.wantEnd(0, exited(0))
			place := triedFrom(wanted.Place{Landlock: lost == nil, Supervisor: wanted.Process1})
			if diff := wanted.Difference(c.output.String(), place); diff != "" {
				t.Errorf("the agent got (-want +got):\n%s", diff)
			}
		})
	}
}

// What is beside the launcher: a tool call, whose parent is a supervisor of
// its own; an exec that goes round the launcher, which mounts alone hold; and
// one that enters the launcher's Landlock domain without being supervised.
func TestNothingBesideTheAgentCanEscape(t *testing.T) {
	t.Parallel()
	needsRoot(t)
	c := inSealedTree(t, separate(), withEscapee(t))
	await(t, func() bool { _, exitCode := c.enter("/orca/bin/orca-sandbox", "started"); return exitCode == 0 }, c.errors.String)
	const tree = `cd /workspace && find . -printf '%p %m %T@ %l\n' && cat app/readme`
	before, _ := c.enter("sh", "-c", tree)
	for name, tc := range map[string]struct {
		start func(t *testing.T) *call
		place wanted.Place
	}{
		"a tool call": {
			func(*testing.T) *call { return c.startCall(nil, escapee()...) },
			wanted.Place{Landlock: hasLandlock(t), Supervisor: wanted.OfCall},
		},
		"mounts alone": {
			func(*testing.T) *call { return c.startProgram(nil, escapee()...) },
			wanted.Place{},
		},
		"mounts and Landlock": {
			func(t *testing.T) *call {
				needsLandlock(t)
				return c.startProgram(nil, append([]string{restrainProgram, strings.Join(writableRoots, ",")}, escapee()...)...)
			},
			wanted.Place{Landlock: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			tried := tc.start(t)
			if code := tried.exitCode(t); code != 0 {
				t.Fatalf("exit code %d: %s", code, tried.errors)
			}
			if diff := wanted.Difference(tried.output.String(), triedFrom(tc.place)); diff != "" {
				t.Errorf("it got (-want +got):\n%s", diff)
			}
		})
	}
	after, _ := c.enter("sh", "-c", tree)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("the sealed tree has changed (-before +after):\n%s", diff)
	}
}
