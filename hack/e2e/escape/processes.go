// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// launcher is process 1.
const launcher = 1

// processTries want another process to do it: the launcher or a descendant.
var processTries = []try{
	{"trace the launcher", func(target) error { return trace(launcher) }},
	{"write into the launcher", func(target) error { return writeInto(launcher) }},
	{"open the launcher's memory", func(target) error { return openOf(launcher, "mem", unix.O_RDWR) }},
	{"read the launcher's environment", func(target) error { return openOf(launcher, "environ", unix.O_RDONLY) }},
	{"take a descriptor of the launcher", func(target) error { return takeDescriptor(launcher) }},
	{"reopen a descriptor of the launcher", func(target) error { return openOf(launcher, "fd/1", unix.O_WRONLY) }},
	{"make a file as a child of a child", func(t target) error { return asChild(t, "parent", &syscall.SysProcAttr{Setsid: true}) }},
}

// parentTries want the program's parent to do it, where that is a process of
// the sandbox: in a tool call it is the call's supervisor.
func parentTries() []try {
	parent := os.Getppid()
	if parent == 0 {
		return nil
	}
	return []try{
		{"trace the parent", func(target) error { return trace(parent) }},
		{"write into the parent", func(target) error { return writeInto(parent) }},
		{"open the parent's memory", func(target) error { return openOf(parent, "mem", unix.O_RDWR) }},
		{"take a descriptor of the parent", func(target) error { return takeDescriptor(parent) }},
	}
}

// openOf opens a file of a process's folder in /proc.
func openOf(pid int, name string, flags int) error {
	return open(fmt.Sprintf("/proc/%d/%s", pid, name), flags)
}

// trace attaches to a process without stopping it.
func trace(pid int) error {
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(pid), 0, 0, 0, 0)
	return asError(errno)
}

func writeInto(pid int) error {
	text := []byte("x")
	local := unix.Iovec{Base: &text[0], Len: 1}
	remote := unix.RemoteIovec{Base: uintptr(unsafe.Pointer(&text[0])), Len: 1}
	_, err := unix.ProcessVMWritev(pid, []unix.Iovec{local}, []unix.RemoteIovec{remote}, 0)
	return err
}

func takeDescriptor(pid int) error {
	process, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return err
	}
	defer unix.Close(process)
	return closing(unix.PidfdGetfd(process, 1, 0))
}
