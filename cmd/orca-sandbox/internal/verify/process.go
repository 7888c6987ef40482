// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"os"

	"golang.org/x/sys/unix"
)

// statusFile is where a process's user and capabilities can be read.
const statusFile = "/proc/self/status"

// checkProcess makes sure that the agent is going to have no rights but its
// user's: others could undo the mounts.
func checkProcess() *Failure {
	gains, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
	switch {
	case os.Getuid() == 0 || os.Geteuid() == 0:
		return failure(statusFile, "says that this is root: the container must have runAsNonRoot")
	case err != nil || gains != 1:
		return failure(statusFile, "says that programs can gain privileges: the container must not have allowPrivilegeEscalation")
	}
	held, err := capabilities()
	if err != nil {
		return failure(statusFile, "can't be told: %v", err)
	}
	if held {
		return failure(statusFile, "says that this has capabilities: the container must drop ALL")
	}
	return nil
}

// capabilities reports whether the process has a capability, or could get one
// by executing a program.
func capabilities() (bool, error) {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if err := unix.Capget(&header, &sets[0]); err != nil {
		return false, err
	}
	for _, set := range sets {
		if set.Effective|set.Permitted|set.Inheritable != 0 {
			return true, nil
		}
	}
	for capability := 0; ; capability++ {
		bound, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, uintptr(capability), 0, 0, 0)
		if err != nil { // The kernel has no more of them.
			return false, nil
		}
		if bound == 1 {
			return true, nil
		}
	}
}
