// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The requests of a seccomp listener, and a flag of one of them, as the kernel
// has them in <linux/seccomp.h>.
const (
	requestReceive  = 0xc0502100
	requestSend     = 0xc0182101
	requestValid    = 0x40082102
	requestSetFlags = 0x40082104

	flagSyncWakeUp = 1
)

// notification is struct seccomp_notif: a call that waits for an answer.
type notification struct {
	ID                 uint64
	TID                uint32
	_                  uint32
	Number             int32
	Machine            uint32
	InstructionPointer uint64
	Arguments          [6]uint64
}

// response is struct seccomp_notif_resp.
type response struct {
	ID    uint64
	_     int64
	_     int32
	Flags uint32
}

// errNobodyLeft says that no process has the filter any more.
var errNobodyLeft = errors.New("every supervised process has ended")

// listener is where notifications come from.
type listener struct {
	file *os.File // Keeps the descriptor open.
	fd   int
}

// newListener takes over a descriptor. Where the kernel can, the caller and
// the supervisor take turns on one processor, which is several times as fast.
func newListener(file *os.File) listener {
	l := listener{file, int(file.Fd())}
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(l.fd), requestSetFlags, flagSyncWakeUp)
	return l
}

// receive waits for the next call. The error is errNobodyLeft when there can't
// be another.
func (l listener) receive() (notification, error) {
	for {
		var n notification // The kernel wants it empty.
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(l.fd), requestReceive, uintptr(unsafe.Pointer(&n)))
		switch {
		case errno == 0:
			return n, nil
		case errno == unix.ENOENT && l.over():
			return n, errNobodyLeft
		case errno == unix.ENOENT || errno == unix.EINTR:
			// The caller was killed before it could be received.
		default:
			return n, fmt.Errorf("receiving a supervised call: %w", errno)
		}
	}
}

// over reports whether no process has the filter any more.
func (l listener) over() bool {
	polled := []unix.PollFd{{Fd: int32(l.fd)}}
	_, err := unix.Poll(polled, 0)
	return err == nil && polled[0].Revents&unix.POLLHUP != 0
}

// awaitEnd returns when no process has the filter any more.
func (l listener) awaitEnd() {
	for {
		polled := []unix.PollFd{{Fd: int32(l.fd)}}
		if _, err := unix.Poll(polled, -1); err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
		if polled[0].Revents != 0 {
			return
		}
	}
}

// proceed lets the kernel decide about a call. It fails if the caller was
// killed, and then nobody waits.
func (l listener) proceed(n notification) {
	r := response{ID: n.ID, Flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(l.fd), requestSend, uintptr(unsafe.Pointer(&r)))
}

// waits reports whether the caller still waits: until then its id is its own,
// and what was found by that id is the caller's.
func (l listener) waits(n notification) bool {
	id := n.ID
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(l.fd), requestValid, uintptr(unsafe.Pointer(&id)))
	runtime.KeepAlive(&id)
	return errno == 0
}
