// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"path/filepath"

	"golang.org/x/sys/unix"
)

// fileTries name what they want to change.
var fileTries = []try{
	{"open a file", func(t target) error { return open(t.file, unix.O_WRONLY) }},
	{"open a file to cut it", func(t target) error { return open(t.file, unix.O_RDONLY|unix.O_TRUNC) }},
	{"truncate a file", func(t target) error { return unix.Truncate(t.file, 0) }},
	{"make a file", func(t target) error { return open(t.escaped(), unix.O_WRONLY|unix.O_CREAT) }},
	{"make a file without a name", func(t target) error { return open(t.folder, unix.O_WRONLY|unix.O_TMPFILE) }},
	{"make a folder", func(t target) error { return unix.Mkdirat(unix.AT_FDCWD, t.escaped(), 0o700) }},
	{"make a pipe", func(t target) error { return unix.Mknodat(unix.AT_FDCWD, t.escaped(), unix.S_IFIFO|0o600, 0) }},
	{"make a link", func(t target) error { return unix.Symlinkat("x", unix.AT_FDCWD, t.escaped()) }},
	{"make a socket", makeSocket},
	{"make a device in a root", func(t target) error {
		return unix.Mknodat(unix.AT_FDCWD, filepath.Join(t.root, "device"), unix.S_IFCHR|0o600, int(unix.Mkdev(1, 11)))
	}},
	{"remove a file", func(t target) error { return unix.Unlinkat(unix.AT_FDCWD, t.file, 0) }},
	{"remove a folder", func(t target) error { return unix.Unlinkat(unix.AT_FDCWD, t.folder, unix.AT_REMOVEDIR) }},
	{"rename a file", func(t target) error { return rename(t.file, t.escaped(), 0) }},
	{"rename a file out of a root", func(t target) error { return rename(t.own, t.escaped(), 0) }},
	{"rename a file into a root", func(t target) error { return rename(t.file, filepath.Join(t.root, "moved"), 0) }},
	{"exchange a file with one of a root", func(t target) error { return rename(t.own, t.file, unix.RENAME_EXCHANGE) }},
	{"link a file out of a root", func(t target) error { return link(t.own, t.escaped(), 0) }},
	{"link a file into a root", func(t target) error { return link(t.file, filepath.Join(t.root, "linked"), 0) }},
	{"link a descriptor into a root", func(t target) error {
		return onDescriptor(t.file, unix.O_RDONLY, func(int) error {
			return link(descriptorPath, filepath.Join(t.root, "linked"), unix.AT_SYMLINK_FOLLOW)
		})
	}},
	{"write through a link of a root", writeThroughLink},
	{"change a file's mode", func(t target) error { return unix.Fchmodat(unix.AT_FDCWD, t.file, 0o777, 0) }},
	{"change a file's owner", func(t target) error { return unix.Fchownat(unix.AT_FDCWD, t.file, unix.Getuid(), unix.Getgid(), 0) }},
	{"change a file's times", func(t target) error { return unix.UtimesNanoAt(unix.AT_FDCWD, t.file, nil, 0) }},
	{"set a file's attribute", func(t target) error { return unix.Setxattr(t.file, "user.escaped", []byte("1"), 0) }},
	{"remove a file's attribute", func(t target) error { return unix.Removexattr(t.file, "user.escaped") }},

	{"make a file by the process's root", func(t target) error {
		return open("/proc/self/root"+t.escaped(), unix.O_WRONLY|unix.O_CREAT)
	}},
	{"make a file by process 1's root", func(t target) error {
		return open("/proc/1/root"+t.escaped(), unix.O_WRONLY|unix.O_CREAT)
	}},
	{"make a file by process 1's folder", func(target) error { return open("/proc/1/cwd/escaped", unix.O_WRONLY|unix.O_CREAT) }},
	{"change a kernel setting", func(target) error { return open("/proc/sys/kernel/core_pattern", unix.O_WRONLY) }},
	{"make a folder in /sys", func(target) error { return unix.Mkdirat(unix.AT_FDCWD, "/sys/escaped", 0o700) }},

	{"open the termination message", func(target) error { return open("/dev/termination-log", unix.O_WRONLY) }},
	{"make a message queue", makeQueue},
}

// open opens a file and closes it again.
func open(path string, flags int) error {
	return openAt(unix.AT_FDCWD, path, flags)
}

func openAt(folder int, path string, flags int) error {
	fd, err := unix.Openat(folder, path, flags|unix.O_CLOEXEC, 0o600)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

func rename(from, to string, flags uint) error {
	return unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, flags)
}

func link(from, to string, flags int) error {
	return unix.Linkat(unix.AT_FDCWD, from, unix.AT_FDCWD, to, flags)
}

func writeThroughLink(t target) error {
	name := filepath.Join(t.root, "link")
	if err := unix.Symlinkat(t.file, unix.AT_FDCWD, name); err != nil {
		return err
	}
	defer func() { _ = unix.Unlinkat(unix.AT_FDCWD, name, 0) }()
	return open(name, unix.O_WRONLY)
}

func makeSocket(t target) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Bind(fd, &unix.SockaddrUnix{Name: t.escaped()})
}
