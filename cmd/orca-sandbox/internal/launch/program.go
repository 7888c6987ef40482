// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// defaultPath is searched where neither the image nor the session sets PATH.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// findProgram returns the file that a program's name means: the name itself if
// it has a slash, else what the search path has. The error is fs.ErrNotExist
// if there is none, and why it can't be executed if there is one.
func findProgram(name, searchPath string) (string, error) {
	if strings.Contains(name, "/") {
		return name, checkExecutable(name)
	}
	result := fs.ErrNotExist
	if name == "" {
		return "", result
	}
	for folder := range strings.SplitSeq(searchPath, ":") {
		candidate := folder + "/" + name
		if folder == "" { // By tradition the working directory.
			candidate = "./" + name
		}
		err := checkExecutable(candidate)
		if err == nil {
			return candidate, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			result = err
		}
	}
	return "", result
}

// checkExecutable returns fs.ErrNotExist if nothing is at a path, and why this
// process can't execute it if something is.
func checkExecutable(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return fs.ErrNotExist
	case err != nil:
		return errors.Unwrap(err)
	case info.IsDir():
		return syscall.EISDIR
	}
	return unix.Faccessat(unix.AT_FDCWD, path, unix.X_OK, unix.AT_EACCESS)
}
