// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package confine

import (
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/writes"
)

// listen puts the filter of write-intent calls on the calling thread and
// returns its listener. The filter goes without where that can't be: the
// message goes missing then, the enforcement doesn't.
func listen() (listener int, unheard syscall.Errno) {
	machine, listed := writes.Native()
	if !listed {
		return noListener, unix.ENOSYS
	}
	filter, err := machine.Filter()
	if err != nil {
		return noListener, unix.EINVAL
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	// A call that is being looked at must only be interrupted by what kills its
	// process: else a timer that is faster than the supervisor restarts it for ever.
	const flags = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&program)))
	runtime.KeepAlive(filter)
	if errno != 0 {
		return noListener, errno
	}
	return int(fd), 0
}
