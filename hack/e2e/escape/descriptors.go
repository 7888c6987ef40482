// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// descriptor is the number of a descriptor whose path shows in a line.
const (
	descriptor     = 100
	descriptorPath = "/proc/self/fd/100"
)

// descriptorTries change something by a descriptor that they may have.
var descriptorTries = []try{
	{"reopen a descriptor", func(t target) error {
		return onDescriptor(t.file, unix.O_RDONLY, func(int) error { return open(descriptorPath, unix.O_WRONLY) })
	}},
	{"reopen a descriptor of a path alone", func(t target) error {
		return onDescriptor(t.file, unix.O_PATH, func(int) error { return open(descriptorPath, unix.O_RDWR) })
	}},
	{"make a file below a descriptor", func(t target) error {
		return onDescriptor(t.folder, unix.O_PATH, func(fd int) error { return openAt(fd, "escaped", unix.O_WRONLY|unix.O_CREAT) })
	}},
	{"write by a descriptor", onReadable(func(fd int) error {
		_, err := unix.Write(fd, []byte("x"))
		return err
	})},
	{"truncate by a descriptor", onReadable(func(fd int) error { return unix.Ftruncate(fd, 0) })},
	{"punch a hole by a descriptor", onReadable(func(fd int) error {
		return unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, 1)
	})},
	{"copy to a descriptor", func(t target) error {
		return onDescriptor(t.own, unix.O_RDONLY, func(own int) error {
			fd, err := unix.Open(t.file, unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			_, err = unix.CopyFileRange(own, nil, fd, nil, 3, 0)
			return err
		})
	}},
	{"change the mode by a descriptor", onReadable(func(fd int) error { return unix.Fchmod(fd, 0o777) })},
	{"change the times by a descriptor", onReadable(changeTimes)},
	{"set an attribute by a descriptor", onReadable(func(fd int) error { return unix.Fsetxattr(fd, "user.escaped", []byte("1"), 0) })},
	{"map a file to write", onReadable(func(fd int) error {
		_, err := unix.Mmap(fd, 0, 1, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		return err
	})},
	{"make a mapped file writable", onReadable(func(fd int) error {
		page, err := unix.Mmap(fd, 0, 1, unix.PROT_READ, unix.MAP_SHARED)
		if err != nil {
			return err
		}
		return unix.Mprotect(page, unix.PROT_READ|unix.PROT_WRITE)
	})},
	{"open a file by its handle", openByHandle},
}

// onDescriptor opens a path under the fixed number.
func onDescriptor(path string, flags int, use func(fd int) error) error {
	fd, err := unix.Open(path, flags|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Dup3(fd, descriptor, unix.O_CLOEXEC); err != nil {
		return err
	}
	defer unix.Close(descriptor)
	return use(descriptor)
}

// onReadable uses a descriptor of the read-only file.
func onReadable(use func(fd int) error) func(target) error {
	return func(t target) error { return onDescriptor(t.file, unix.O_RDONLY, use) }
}

// changeTimes is utimensat without a path, as futimens calls it.
func changeTimes(fd int) error {
	_, _, errno := unix.Syscall6(unix.SYS_UTIMENSAT, uintptr(fd), 0, 0, 0, 0, 0)
	return asError(errno)
}

func openByHandle(t target) error {
	handle, _, err := unix.NameToHandleAt(unix.AT_FDCWD, t.file, 0)
	if err != nil {
		return err
	}
	return onDescriptor(t.folder, unix.O_RDONLY, func(fd int) error {
		opened, err := unix.OpenByHandleAt(fd, handle, unix.O_RDWR)
		if err == nil {
			unix.Close(opened)
		}
		return err
	})
}

// makeQueue makes a POSIX message queue, which isn't in any mount of the
// process's own.
func makeQueue(target) error {
	name, err := unix.BytePtrFromString("escaped")
	if err != nil {
		return err
	}
	fd, _, errno := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(name)), unix.O_RDWR|unix.O_CREAT, 0o600, 0, 0, 0)
	if errno != 0 {
		return errno
	}
	unix.Close(int(fd))
	_, _, _ = unix.Syscall(unix.SYS_MQ_UNLINK, uintptr(unsafe.Pointer(name)), 0, 0)
	return nil
}

// asError returns an error, or nil where there is none.
func asError(errno unix.Errno) error {
	if errno != 0 {
		return errno
	}
	return nil
}
