// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// hostileAgent gives calls pointers that aren't any.
func hostileAgent() int {
	page, err := unix.Mmap(-1, 0, 2*os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return fail(err)
	}
	end := os.Getpagesize()
	if err := unix.Mprotect(page[end:], unix.PROT_NONE); err != nil {
		return fail(err)
	}
	const path = "/workspace/edge"
	copy(page[end-len(path)-1:], path+"\x00")
	edge := uintptr(unsafe.Pointer(&page[end-len(path)-1]))
	create := func(path uintptr) unix.Errno {
		_, _, errno := unix.Syscall6(unix.SYS_OPENAT, uintptr(unix.AT_FDCWD&0xffffffff), path, unix.O_WRONLY|unix.O_CREAT, 0o600, 0, 0)
		return errno
	}
	fmt.Println(create(0), create(1), create(^uintptr(0)), create(^uintptr(0)-10), create(edge))
	page[end-1] = 'x' // No end any more.
	fmt.Println(create(edge))
	_, _, errno := unix.Syscall6(unix.SYS_OPENAT2, uintptr(unix.AT_FDCWD&0xffffffff), edge, 7, 24, 0, 0)
	fmt.Println(errno)
	return 0
}

func TestPointersThatAreNoneGetTheKernelsAnswer(t *testing.T) {
	t.Parallel()
	c := inSealedTree(t, agent("hostile"), containerOptions{})
	c.wantEnd(0, exited(0))
	const bad = "bad address"
	want := strings.Join([]string{bad, bad, bad, bad, "read-only file system"}, " ") + "\n" + bad + "\n" + bad + "\n"
	if c.output.String() != want {
		t.Errorf("results %q, want %q", c.output, want)
	}
	c.wantDenials("/workspace/edge")
}
