// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package confine

import (
	"fmt"

	"github.com/landlock-lsm/go-landlock/landlock"
	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// noRuleset is what a kernel without Landlock gives.
const noRuleset = -1

// fileRights are what a place needs whose files are opened and written, and
// where nothing is made or removed.
const fileRights = llsys.AccessFSReadFile | llsys.AccessFSReadDir | llsys.AccessFSWriteFile | llsys.AccessFSTruncate

// rules let a program read everything and write at or below the roots, into
// the devices that programs need, and what /proc itself lets its uid write.
//
// The rights are those of ABI 5. ABI 6 would keep one tool call from stopping
// another's processes.
func rules(roots []string) []landlock.Rule {
	return []landlock.Rule{
		landlock.RODirs("/"),
		landlock.RWDirs(roots...).WithRefer(),
		landlock.RWFiles("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom").IgnoreIfMissing(),
		landlock.RWFiles("/dev/tty", "/dev/ptmx", "/dev/console").WithIoctlDev().IgnoreIfMissing(),
		landlock.PathAccess(fileRights|llsys.AccessFSIoctlDev, "/dev/pts").IgnoreIfMissing(),
		landlock.PathAccess(fileRights, "/proc"),
	}
}

// ruleset returns a descriptor of the rules in the kernel, or noRuleset where
// the kernel has no Landlock.
func ruleset(roots []string) (int, error) {
	config := landlock.Config{HandledAccessFS: landlock.V5.HandledAccessFS}.BestEffort()
	fd, _, err := config.NewRulesetFD(rules(roots)...)
	if err != nil {
		return noRuleset, fmt.Errorf("making the Landlock rules: %w", err)
	}
	return fd, nil
}

// Landlock reports whether programs can be confined by Landlock to the roots.
func Landlock(roots []string) (bool, error) {
	fd, err := ruleset(roots)
	if err != nil || fd == noRuleset {
		return false, err
	}
	return true, unix.Close(fd)
}

// EnterDomain puts the calling thread, which must have no_new_privs, into a
// Landlock domain that lets it write to the roots. It reports whether the
// kernel has Landlock.
func EnterDomain(roots []string) (bool, error) {
	fd, err := ruleset(roots)
	if err != nil || fd == noRuleset {
		return false, err
	}
	defer unix.Close(fd)
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(fd), 0, 0); errno != 0 {
		return false, fmt.Errorf("entering the Landlock domain: %w", errno)
	}
	return true, nil
}
