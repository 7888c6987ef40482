// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/writes"
	"github.com/orca-agent-engine/orca-operator/controllers/layout"
)

// matrixAgent makes every call with every name, and prints each as a matrixCase.
func matrixAgent() int {
	lines, err := ownErrors()
	if err != nil {
		return fail(err)
	}
	// Opening a pipe to write must not wait for a reader.
	if _, err := unix.Open("/workspace/app/pipe", unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0); err != nil {
		return fail(err)
	}
	views, err := matrixViews()
	if err != nil {
		return fail(err)
	}
	fresh := false
	for _, name := range slices.Sorted(maps.Keys(matrixCalls)) {
		for _, path := range matrixPaths {
			for _, view := range views {
				relative, seen := view.path(path)
				if !seen {
					continue
				}
				if !fresh {
					err = freshFiles()
				}
				if err != nil {
					return fail(err)
				}
				lines()
				missing := isMissing(view.dir, relative)
				result := matrixCalls[name](view.dir, relative)
				fresh = result != nil
				encoded, _ := json.Marshal(matrixCase{name, view.name, path, fmt.Sprint(result), missing, lines()})
				fmt.Println(string(encoded))
			}
		}
	}
	return 0
}

// matrixCase is what came of one call.
type matrixCase struct {
	Call, View, Path, Result string
	// Missing tells that the name was none of anything.
	Missing bool
	Lines   int
}

// ownErrors makes standard error a pipe of the process itself, and returns
// what counts the lines that have come since it was last asked.
func ownErrors() (func() int, error) {
	var ends [2]int
	if err := errors.Join(unix.Pipe2(ends[:], unix.O_NONBLOCK|unix.O_CLOEXEC), unix.Dup3(ends[1], 2, 0)); err != nil {
		return nil, err
	}
	block := make([]byte, 65536)
	return func() int {
		n, _ := unix.Read(ends[0], block)
		return strings.Count(string(block[:max(n, 0)]), "write denied for ")
	}, nil
}

// matrixResults reads what a matrix agent has printed.
func matrixResults(t *testing.T, output string) []matrixCase {
	t.Helper()
	var cases []matrixCase
	for line := range strings.Lines(output) {
		var c matrixCase
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatalf("%v: %q", err, line)
		}
		cases = append(cases, c)
	}
	return cases
}

func (c matrixCase) key() string { return c.Call + " " + c.View + " " + c.Path }

// call returns the name of the system call.
func (c matrixCase) call() string {
	call, _, _ := strings.Cut(c.Call, " ")
	return call
}

// refused reports whether the kernel refused to write.
func (c matrixCase) refused() bool {
	return c.Result == unix.EROFS.Error() || c.Result == unix.EACCES.Error()
}

// below reports whether the name begins with one of these.
func (c matrixCase) below(places ...string) bool {
	return slices.ContainsFunc(places, func(place string) bool { return layout.Contains(place, c.Path) })
}

// unexplained are the refusals that have no line on purpose.
var unexplained = map[string]func(c matrixCase) bool{
	"there is nothing to be removed or moved": func(c matrixCase) bool {
		return c.Missing && (c.removes() || strings.HasPrefix(c.call(), "rename"))
	},
	"times by a descriptor, which are too frequent to look at": func(c matrixCase) bool {
		return c.Call == "utimensat descriptor" || c.Call == "futimesat number"
	},
	"proc has rules of its own": func(c matrixCase) bool {
		return c.Result == unix.EACCES.Error() && (c.below("/proc", "/dev/fd/1") || c.View == "descriptor" && c.Path == "/" && c.removes())
	},
	"devices and pipes are no storage, and Landlock alone refuses them": func(c matrixCase) bool {
		return c.Result == unix.EACCES.Error() && (c.below("/dev/null", "/tmp/d/to-null", "/workspace/app/pipe") || c.Call == "openat again")
	},
	"attributes that most file systems have for files and folders alone": func(c matrixCase) bool {
		return c.call() == "ioctl" || c.call() == "file_setattr"
	},
	"an open for neither reading nor writing": func(c matrixCase) bool { return c.Call == "openat no access" },
}

func (c matrixCase) removes() bool {
	return c.call() == "unlinkat" || c.call() == "unlink" || c.call() == "rmdir"
}

// mayBeExplained reports whether a line is true: beside writes that are refused
// there are changes of root's devices, which others may not make at all.
func (c matrixCase) mayBeExplained() bool {
	return c.refused() || c.Result == unix.EPERM.Error() && c.below("/dev")
}

// TestEveryRefusalIsExplainedAndNothingElse tries each call of the list with
// names of every kind. The line must come if the kernel refuses and only then.
func TestEveryRefusalIsExplainedAndNothingElse(t *testing.T) {
	t.Parallel()
	container := inSealedTree(t, agent("matrix"), containerOptions{})
	container.wantEnd(0, exited(0))
	excused := map[string]int{}
	explained := 0
	for _, c := range matrixResults(t, container.output.String()) {
		explained += c.Lines
		switch {
		case c.Lines > 1, c.Lines == 1 && !c.mayBeExplained():
			t.Errorf("a line too many: %+v", c)
		case c.Lines == 0 && c.refused():
			reason := excuse(c)
			if excused[reason]++; reason == "" {
				t.Errorf("no line: %+v", c)
			}
		}
	}
	for reason := range unexplained {
		if excused[reason] == 0 {
			t.Errorf("no case needs the exception %q", reason)
		}
	}
	t.Logf("%d lines, %v", explained, excused)
}

// excuse returns why a refusal has no line, or nothing.
func excuse(c matrixCase) string {
	for reason, applies := range unexplained {
		if applies(c) {
			return reason
		}
	}
	return ""
}

func TestTheMatrixHasEveryListedCall(t *testing.T) {
	t.Parallel()
	machine, _ := writes.Native()
	for _, listed := range writes.Calls {
		tried := slices.ContainsFunc(slices.Collect(maps.Keys(matrixCalls)), func(name string) bool {
			return matrixCase{Call: name}.call() == listed.Name
		})
		if !tried && machine.Number(listed) != writes.None {
			t.Errorf("no case calls %s", listed.Name)
		}
	}
}

func TestTheSupervisorChangesNoResult(t *testing.T) {
	t.Parallel()
	supervised := inSealedTree(t, agent("matrix"), containerOptions{})
	bare := startSeparate(t)
	plain := bare.startProgram(nil, "env", "-i", agentVariable+"=matrix", agentProgram)
	if exitCode := plain.exitCode(t); exitCode != 0 {
		t.Fatalf("exit code %d: %s", exitCode, plain.output)
	}
	want, got := map[string]string{}, map[string]string{}
	for _, c := range matrixResults(t, plain.output.String()) {
		want[c.key()] = c.Result
		if c.Lines != 0 {
			t.Errorf("a line without a supervisor: %+v", c)
		}
	}
	supervised.wantEnd(0, exited(0))
	for _, c := range matrixResults(t, supervised.output.String()) {
		got[c.key()] = c.Result
		// Landlock, which only the supervised have, may refuse before the kernel
		// comes to its own reason, and refuses pipes too.
		if c.Result == unix.EACCES.Error() && (want[c.key()] != "<nil>" || c.below("/workspace/app/pipe")) {
			want[c.key()] = c.Result
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results differ from those without a supervisor (-without +with):\n%s", diff)
	}
}
