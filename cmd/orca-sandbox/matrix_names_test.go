// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// matrixPaths are names of every kind.
var matrixPaths = []string{
	"", "/", "/workspace", "/workspace/", "/workspace/no", "/workspace/no/", "/workspace/no/no",
	"/workspace/app/readme", "/workspace/app/readme/", "/workspace/app/readme/x", "/workspace/app/link", "/workspace/app/src",
	"/workspace/app/here/no", "/workspace/../workspace/app/./no", "/workspace/skills/../app/no", "/workspace/app/..",
	"/workspace/rw", "/workspace/rw/no", "/workspace/rw/../app/no", "/usr/bin/ls", "/usr/no", "/no", "/tmp", "/mnt/session/outputs",
	"/mnt/session/outputs/no", "/mnt/session", "/mnt/session/no",
	"/dev/null", "/dev/stdout", "/dev/fd/1", "/dev/fd/no", "/proc/no", "/proc/self/no", "/proc/self/comm",
	"/proc/self/root/workspace/no", "/proc/self/root/tmp/d/no", "/proc/self/cwd/app/no", "/proc/thread-self/cwd/app/no", "/proc/self/task/../cwd/app/no",
	"/tmp/d/f", "/tmp/d/no", "/tmp/d/no/", "/tmp/d/no/no", "/tmp/d/folder", "/tmp/d/to-file", "/tmp/d/to-missing", "/tmp/d/to-missing/", "/tmp/d/to-folder",
	"/tmp/d/to-folder/", "/tmp/d/to-folder/no", "/tmp/d/to-folder/link", "/tmp/d/to-tmp", "/tmp/d/to-tmp-missing", "/tmp/d/loop", "/tmp/d/to-null", "/tmp/d/to-cwd/no", "/tmp/d/chain",
	"/dev", "/dev/no", "/dev/folder/no", "/rw/no", "/app/no", "rw/../../app/no", "/tmp/d/in-root", "/workspace/app/pipe",
	"app/no", "./app/readme", "../usr/no", "../tmp/d/no", "rw/no", "skills",
}

// freshFiles puts back what the calls of the matrix may have changed.
func freshFiles() error {
	links := map[string]string{
		"to-file": "/workspace/app/readme", "to-missing": "/workspace/app/no", "to-folder": "/workspace/app", "to-tmp": "f",
		"to-tmp-missing": "no", "loop": "loop", "to-null": "/dev/null", "to-cwd": "/proc/self/cwd/app", "chain": "to-file",
		"in-root": "/workspace/../../app/no",
	}
	err := errors.Join(os.RemoveAll("/tmp/d"), os.RemoveAll("/workspace/rw/no"), os.RemoveAll("/mnt/session/outputs/no"),
		os.MkdirAll("/tmp/d/folder", 0o755), os.WriteFile("/tmp/d/f", []byte("f"), 0o644))
	for name, target := range links {
		err = errors.Join(err, os.Symlink(target, "/tmp/d/"+name))
	}
	return err
}

// matrixView is a way to give the kernel a name.
type matrixView struct {
	name string
	dir  int
	path func(string) (string, bool)
}

func matrixViews() ([]matrixView, error) {
	root, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	tmp, err := unix.Open("/tmp", unix.O_PATH|unix.O_DIRECTORY, 0)
	return []matrixView{
		{"cwd", unix.AT_FDCWD, func(path string) (string, bool) { return path, true }},
		{"dirfd", root, func(path string) (string, bool) { return strings.CutPrefix(path, "/") }},
		{"descriptor", unix.AT_FDCWD, func(path string) (string, bool) {
			return fmt.Sprintf("/proc/self/fd/%d%s", root, path), strings.HasPrefix(path, "/")
		}},
		{"of tmp", tmp, func(path string) (string, bool) { return strings.CutPrefix(path, "/tmp") }},
	}, err
}

func isMissing(dir int, path string) bool {
	var status unix.Stat_t
	return errors.Is(unix.Fstatat(dir, path, &status, unix.AT_SYMLINK_NOFOLLOW), unix.ENOENT)
}
