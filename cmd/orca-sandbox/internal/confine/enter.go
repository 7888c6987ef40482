// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package confine

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"math"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// exitFailed is the exit code of a child that didn't become the program. The
// launcher, which knows why, doesn't look at it.
const exitFailed = 125

// noListener is the listener where there is none.
const noListener = -1

// Enter is the whole life of the launcher's child: it confines itself and
// becomes the program of its plan. It returns an exit code if it fails, and
// must be called on the main thread.
func Enter() int {
	// The launcher learns of the program's execve by its descriptor closing.
	KeepStandardStreamsOnly()
	plan, err := readPlan()
	if err != nil {
		fmt.Fprintln(os.Stderr, "orca-sandbox: this subcommand is the launcher's own:", err)
		return exitFailed
	}
	said, listener, err := confine(plan.WritableRoots)
	if err != nil {
		said.Failure = err.Error()
	}
	if err := send(said, listener); err != nil || said.Failure != "" {
		return exitFailed
	}
	if listener != noListener {
		// As long as one is open, its calls wait for an answer.
		unix.Close(listener)
	}
	err = syscall.Exec(plan.Program, plan.Argv, plan.Env)
	errno, _ := errors.AsType[syscall.Errno](err) // It returns nothing else.
	_ = send(report{Exec: errno}, noListener)
	return exitFailed
}

// KeepStandardStreamsOnly keeps programs that the process executes from
// inheriting any other descriptor that it has now.
func KeepStandardStreamsOnly() {
	if err := unix.CloseRange(planFD, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		unix.CloseOnExec(planFD)
		unix.CloseOnExec(reportFD)
	}
}

func readPlan() (Plan, error) {
	file := os.NewFile(planFD, "plan")
	defer file.Close()
	var plan Plan
	if err := gob.NewDecoder(file).Decode(&plan); err != nil {
		return Plan{}, fmt.Errorf("reading the plan: %w", err)
	}
	return plan, nil
}

// confine puts the calling thread, which is the one that calls execve, under
// the policy. The listener comes last: it hears the thread's own calls too.
func confine(roots []string) (report, int, error) {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return report{}, noListener, fmt.Errorf("closing the launcher's child to other processes: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return report{}, noListener, fmt.Errorf("setting no_new_privs: %w", err)
	}
	landlocked, err := EnterDomain(roots)
	if err != nil {
		return report{}, noListener, err
	}
	listener, unheard := listen()
	return report{Landlock: landlocked, Unheard: unheard}, listener, nil
}

// send says something to the launcher, and hands over the listener if there is
// one.
func send(said report, listener int) error {
	var message bytes.Buffer
	if err := gob.NewEncoder(&message).Encode(said); err != nil {
		return err
	}
	var rights []byte
	if listener != noListener {
		rights = unix.UnixRights(listener)
	}
	return unix.Sendmsg(reportFD, message.Bytes(), rights, nil, 0)
}
