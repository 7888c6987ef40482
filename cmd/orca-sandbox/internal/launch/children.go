// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"errors"
	"os"
	"syscall"
)

// The launcher's own exit codes, as shells and container tools have them.
const (
	// ExitUnverified: the write policy could not be established.
	ExitUnverified    = 125
	exitNotExecutable = 126
	exitNotFound      = 127
)

// ExitCode is the exit code that belongs to an error of Policy.Start, and to
// any error before.
func ExitCode(err error) int {
	failed, ok := errors.AsType[*ProgramError](err)
	switch {
	case !ok:
		return ExitUnverified
	case failed.Missing():
		return exitNotFound
	default:
		return exitNotExecutable
	}
}

// StatusCode is the exit code of an ended process, as shells report it.
func StatusCode(status syscall.WaitStatus) int {
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}

// Children are those of the calling process: its program, and orphans of that.
type Children struct {
	// Ended fires when one has ended.
	Ended <-chan os.Signal
}

// Reap collects all children that have ended. It reports whether the program
// is one of them, and how it ended.
func (c *Children) Reap(program int) (status syscall.WaitStatus, ended bool) {
	for {
		var current syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &current, syscall.WNOHANG, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil || pid == 0:
			return status, ended
		case pid == program && !current.Stopped():
			status, ended = current, true
		}
	}
}
