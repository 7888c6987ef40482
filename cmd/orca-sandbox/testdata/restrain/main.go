// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

// Command restrain becomes a program in the launcher's Landlock domain without
// being supervised. It is no part of the product: tests of what Landlock alone
// adds to mounts need it.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/confine"
)

// The domain is a thread's.
func init() { runtime.LockOSThread() }

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: restrain ROOT,... PROGRAM [ARGUMENT...]")
		os.Exit(2)
	}
	fmt.Fprintln(os.Stderr, "restrain:", become(strings.Split(os.Args[1], ","), os.Args[2:]))
	os.Exit(1)
}

// become returns only if it fails.
func become(roots, program []string) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("setting no_new_privs: %w", err)
	}
	landlocked, err := confine.EnterDomain(roots)
	if err != nil {
		return err
	}
	if !landlocked {
		return errors.New("the kernel has no Landlock")
	}
	return syscall.Exec(program[0], program, os.Environ())
}
