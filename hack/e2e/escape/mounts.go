// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// mountTries want to change what is mounted where.
var mountTries = []try{
	{"mount a root over a folder", func(t target) error { return unix.Mount(t.root, t.folder, "", unix.MS_BIND, "") }},
	{"make a mount writable", remount},
	{"unmount", func(t target) error { return unix.Unmount(t.mount, unix.MNT_DETACH) }},
	{"change a mount's attributes", func(t target) error {
		return unix.MountSetattr(unix.AT_FDCWD, t.mount, 0, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY})
	}},
	{"copy a mount", func(t target) error { return closing(unix.OpenTree(unix.AT_FDCWD, t.mount, unix.OPEN_TREE_CLONE)) }},
	{"make a file system", func(target) error { return closing(unix.Fsopen("tmpfs", unix.FSOPEN_CLOEXEC)) }},
	{"change the root", func(t target) error { return unix.Chroot(t.root) }},
	{"exchange the root", func(t target) error { return unix.PivotRoot(t.root, t.root) }},
	{"enter process 1's mounts", func(target) error { return open("/proc/1/ns/mnt", unix.O_RDONLY) }},
	{"make a user namespace", func(t target) error { return inNamespaces(t, "idle") }},
	{"make a mount writable in a user namespace", func(t target) error { return inNamespaces(t, "remount") }},
}

// children are what the program is as its own child. The exit code of one is
// the number of the error that it got.
var children = map[string]func(target) int{
	"idle":    func(target) int { return 0 },
	"remount": func(t target) int { return code(remount(t)) },
	"parent":  func(t target) int { return code(asChild(t, "writer", &syscall.SysProcAttr{Setsid: true})) },
	"writer":  func(t target) int { return code(open(t.escaped(), unix.O_WRONLY|unix.O_CREAT)) },
}

// failed is the exit code for what isn't an error of the kernel's.
const failed = 255

func code(err error) int {
	errno, ok := errors.AsType[syscall.Errno](err)
	switch {
	case err == nil:
		return 0
	case ok:
		return int(errno)
	default:
		return failed
	}
}

// asChild returns what a child of the program got.
func asChild(t target, role string, attributes *syscall.SysProcAttr) error {
	command := exec.Command("/proc/self/exe", "-child="+role, t.file, t.root)
	command.Stderr = os.Stderr
	command.SysProcAttr = attributes
	err := command.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() < failed {
		return syscall.Errno(exit.ExitCode())
	}
	return err
}

// inNamespaces returns what a child got that is root of a user namespace and
// of its mounts.
func inNamespaces(t target, role string) error {
	return asChild(t, role, &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
	})
}

func remount(t target) error {
	return unix.Mount("", t.mount, "", unix.MS_REMOUNT|unix.MS_BIND, "")
}

func closing(fd int, err error) error {
	if err == nil {
		unix.Close(fd)
	}
	return err
}
