// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"runtime"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ringTries ask through an io_uring, which makes no system call of its own for
// what it is asked.
var ringTries = []try{
	{"open a file by a ring", func(t target) error { return ringOpen(t.file, unix.O_WRONLY) }},
	{"make a file by a ring", func(t target) error { return ringOpen(t.escaped(), unix.O_WRONLY|unix.O_CREAT) }},
	{"make a folder by a ring", func(t target) error { return ringNames(ringMkdir, t.escaped(), "", 0o700) }},
	{"remove a file by a ring", func(t target) error { return ringNames(ringUnlink, t.file, "", 0) }},
	{"rename a file by a ring", func(t target) error { return ringNames(ringRename, t.file, t.escaped(), cwd) }},
	{"rename a file out of a root by a ring", func(t target) error { return ringNames(ringRename, t.own, t.escaped(), cwd) }},
	{"link a file out of a root by a ring", func(t target) error { return ringNames(ringLink, t.own, t.escaped(), cwd) }},
	{"write to a descriptor by a ring", func(t target) error { return onDescriptor(t.file, unix.O_RDONLY, ringWrite) }},
	{"write to a file of a root by a ring", func(t target) error { return onDescriptor(t.own, unix.O_RDWR, ringWrite) }},
	{"open the termination message by a ring", func(target) error { return ringOpen("/dev/termination-log", unix.O_WRONLY) }},
}

// What a ring can be asked for: IORING_OP_*.
const (
	ringOpenat = 18
	ringWriteN = 23
	ringRename = 35
	ringUnlink = 36
	ringMkdir  = 37
	ringLink   = 39
)

// cwd is AT_FDCWD where a field has no sign.
const cwd = 1<<32 + unix.AT_FDCWD

// request is struct io_uring_sqe.
type request struct {
	operation, _ uint8
	_            uint16
	fd           int32
	second       uint64
	first        uint64
	length       uint32
	flags        uint32
	_            [4]uint64
}

// ringOffsets is struct io_sqring_offsets, where array is, and struct
// io_cqring_offsets, where results is.
type ringOffsets struct {
	_, tail, _, _, _, results, array, _ uint32
	_                                   uint64
}

// ringParameters is struct io_uring_params.
type ringParameters struct {
	_      [10]uint32
	sq, cq ringOffsets
}

// Offsets in the ring's descriptor: IORING_OFF_*, and what has to be mapped.
const (
	ringCompletions = 0x8000000
	ringRequests    = 0x10000000
	ringMapped      = 4096
)

func ringOpen(path string, flags int) error {
	name, err := unix.BytePtrFromString(path)
	if err != nil {
		return err
	}
	defer runtime.KeepAlive(name)
	return ask(request{operation: ringOpenat, fd: unix.AT_FDCWD, first: address(name), length: 0o600, flags: uint32(flags)})
}

// ringNames asks for what takes one name or two.
func ringNames(operation uint8, from, to string, length uint32) error {
	names := append([]byte(from), 0)
	second := uint64(0)
	if to != "" {
		names = append(append(names, to...), 0)
		second = address(&names[len(from)+1])
	}
	defer runtime.KeepAlive(names)
	return ask(request{operation: operation, fd: unix.AT_FDCWD, first: address(&names[0]), second: second, length: length})
}

func ringWrite(fd int) error {
	text := []byte("x")
	defer runtime.KeepAlive(text)
	return ask(request{operation: ringWriteN, fd: int32(fd), first: address(&text[0]), length: 1})
}

func address(p *byte) uint64 { return uint64(uintptr(unsafe.Pointer(p))) }

// ask makes a ring for one request and returns what came of it.
func ask(r request) error {
	var parameters ringParameters
	fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&parameters)), 0)
	if errno != 0 {
		return errno
	}
	defer unix.Close(int(fd))
	var mapped [3][]byte
	for i, offset := range []int64{0, ringCompletions, ringRequests} {
		memory, err := unix.Mmap(int(fd), offset, ringMapped, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err != nil {
			return err
		}
		mapped[i] = memory // Until the program ends, which is soon.
	}
	submissions, completions := mapped[0], mapped[1]
	*(*request)(unsafe.Pointer(&mapped[2][0])) = r
	*word(submissions, parameters.sq.array) = 0 // The first is request 0.
	atomic.StoreUint32(word(submissions, parameters.sq.tail), 1)
	const awaitOne = 1 // IORING_ENTER_GETEVENTS
	if _, _, errno := unix.Syscall6(unix.SYS_IO_URING_ENTER, fd, 1, 1, awaitOne, 0, 0); errno != 0 {
		return errno
	}
	// 8 bytes of the request's own come before the first result.
	if result := int32(*word(completions, parameters.cq.results+8)); result < 0 {
		return unix.Errno(-result)
	}
	return nil
}

func word(memory []byte, offset uint32) *uint32 {
	return (*uint32)(unsafe.Pointer(&memory[offset]))
}
