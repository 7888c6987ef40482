// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package probe is how the startup probe learns that the agent was executed:
// process 1 says so in its own name. Only the threads of a process can change
// its name, so no other process of the sandbox can say it.
package probe

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Stage is the name that process 1 has at a stage of its work. The kernel keeps
// 15 bytes of it.
type Stage string

const (
	// Starting: the agent was not executed yet.
	Starting Stage = "orca-starting"
	// Started: the agent was executed, or the sandbox waits for calls. The write
	// policy is held by Landlock too.
	Started Stage = "orca-started"
	// StartedByMounts: as Started, where the kernel has no Landlock.
	StartedByMounts Stage = "orca-mounts"
)

// StartedStage returns the stage of a sandbox whose agent was executed.
func StartedStage(landlock bool) Stage {
	if landlock {
		return Started
	}
	return StartedByMounts
}

// nameFile is where every process can read the name of process 1, also while
// that can't be dumped.
const nameFile = "/proc/1/comm"

// Announce makes a stage the name of the calling process. It must be called on
// the main thread.
func Announce(stage Stage) error {
	name, err := unix.BytePtrFromString(string(stage))
	if err != nil {
		return fmt.Errorf("naming the process %s: %w", stage, err)
	}
	_, _, errno := unix.Syscall(unix.SYS_PRCTL, unix.PR_SET_NAME, uintptr(unsafe.Pointer(name)), 0)
	runtime.KeepAlive(name)
	if errno != 0 {
		return fmt.Errorf("naming the process %s: %w", stage, errno)
	}
	return nil
}

// Check returns the stage if process 1 has announced that the agent was
// executed, and what is the case otherwise.
func Check() (Stage, error) {
	name, err := os.ReadFile(nameFile)
	if err != nil {
		return "", fmt.Errorf("reading the name of process 1: %w", err)
	}
	switch stage := Stage(strings.TrimSuffix(string(name), "\n")); stage {
	case Started, StartedByMounts:
		return stage, nil
	case Starting:
		return "", fmt.Errorf("the agent is not started yet")
	default:
		return "", fmt.Errorf("process 1 is %q, not the launcher of a started agent", stage)
	}
}
