// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

// none is the agent's pid in a sandbox without an agent process.
const none = 0

// startError says why the agent's program wasn't executed.
type startError struct {
	program string
	err     error
}

func (e *startError) Error() string {
	if e.missing() {
		return fmt.Sprintf("the agent's program %q is not in the image", e.program)
	}
	return fmt.Sprintf("the agent's program %q can't be executed: %v", e.program, e.err)
}

func (e *startError) missing() bool { return errors.Is(e.err, fs.ErrNotExist) }

// notStarted is the outcome that belongs to an error of start.
func notStarted(err error) outcome {
	failed, ok := errors.AsType[*startError](err)
	switch {
	case !ok:
		return unverified("")
	case failed.missing():
		return outcome{manifest.RunResult{Code: manifest.RunCommandNotFound, Path: failed.program}, exitNotFound}
	default:
		return outcome{manifest.RunResult{Code: manifest.RunCommandNotExecutable, Path: failed.program}, exitNotExecutable}
	}
}

// start executes the agent and returns its pid, or none if the sandbox has no
// agent process. On success execve has succeeded.
//
// The agent shares the launcher's session and process group: with a terminal
// it is in the foreground from the start, so that a shell finds job control
// working, and without one a group of its own would change nothing, because
// the launcher signals the agent alone or every process there is.
func start(sandbox manifest.Sandbox) (int, error) {
	argv := slices.Concat(sandbox.Command, sandbox.Args)
	if len(argv) == 0 {
		return none, nil
	}
	variables := environment(os.Environ(), sandbox.Env)
	searchPath, set := variables.values["PATH"]
	if !set {
		searchPath = defaultPath
	}
	program, err := findProgram(argv[0], searchPath)
	if err != nil {
		return none, &startError{argv[0], err}
	}
	pid, err := syscall.ForkExec(program, argv, &syscall.ProcAttr{
		Env:   variables.list(),
		Files: []uintptr{0, 1, 2},
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("the interpreter that it names is not in the image")
	}
	if err != nil {
		return none, &startError{argv[0], err}
	}
	return pid, nil
}
