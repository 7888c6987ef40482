// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

// Command escape tries, from inside a sandbox and by plain system calls, to
// write where the policy forbids it. It prints a line for each try: its name,
// the error that it got or OK, and the paths of the lines that explained the
// refusal to it, or a dash.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// try is one way out.
type try struct {
	name string
	do   func(target) error
}

// target is what the tries are about.
type target struct {
	// file and folder are read-only, mount is the read-only mount they are in.
	file, folder, mount string
	// root is writable, and own is a file of the program in it.
	root, own string
}

// The main goroutine stays on the main thread: what traces is a thread.
func init() { runtime.LockOSThread() }

func main() {
	child := flag.String("child", "", "be a child of the program, with this `role`")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: escape READ-ONLY-FILE WRITABLE-FOLDER\nThe file's folder lies right below a mount.")
	}
	flag.Parse()
	if flag.NArg() != 2 {
		flag.Usage()
		os.Exit(2)
	}
	t := newTarget(flag.Arg(0), flag.Arg(1))
	if *child != "" {
		os.Exit(children[*child](t))
	}
	if err := tryAll(t); err != nil {
		fmt.Println("it could not be tried:", err)
		os.Exit(1)
	}
}

func newTarget(file, root string) target {
	folder := filepath.Dir(file)
	return target{
		file: file, folder: folder, mount: filepath.Dir(folder),
		root: root, own: filepath.Join(root, "escape-own"),
	}
}

// escaped is a name in the read-only folder that isn't there.
func (t target) escaped() string { return filepath.Join(t.folder, "escaped") }

func tryAll(t target) error {
	lines, err := ownErrors()
	if err != nil {
		return err
	}
	for _, try := range slices.Concat(fileTries, descriptorTries, mountTries, ringTries, processTries, parentTries()) {
		if err := os.WriteFile(t.own, []byte("own"), 0o600); err != nil {
			return err
		}
		result := try.do(t)
		fmt.Printf("%s\t%s\t%s\n", try.name, nameOf(result), lines())
	}
	return os.Remove(t.own)
}

// nameOf returns an error as the kernel's headers call it.
func nameOf(err error) string {
	errno, ok := errors.AsType[syscall.Errno](err)
	switch {
	case err == nil:
		return "OK"
	case ok:
		return unix.ErrnoName(errno)
	default:
		return err.Error()
	}
}

// ownErrors makes standard error a pipe of the program itself, and returns
// what tells which paths have been explained since it was last asked.
func ownErrors() (func() string, error) {
	var ends [2]int
	if err := errors.Join(unix.Pipe2(ends[:], unix.O_NONBLOCK|unix.O_CLOEXEC), unix.Dup3(ends[1], 2, 0)); err != nil {
		return nil, err
	}
	block := make([]byte, 65536)
	return func() string {
		n, _ := unix.Read(ends[0], block)
		return explained(string(block[:max(n, 0)]))
	}, nil
}

func explained(text string) string {
	var paths []string
	for line := range strings.Lines(text) {
		path, _, _ := strings.Cut(strings.TrimPrefix(line, "write denied for "), "; ")
		paths = append(paths, path)
	}
	if len(paths) == 0 {
		return "-"
	}
	return strings.Join(paths, " ")
}
