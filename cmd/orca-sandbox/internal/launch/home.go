// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// MakeHome makes the agent's HOME, private to it whatever the umask and the
// group of the volume. What is there already must be a directory of ours.
func MakeHome(path string) error {
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("making HOME: %w", err)
	}
	dir, err := os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return fmt.Errorf("opening HOME: %w", err)
	}
	defer dir.Close()
	if err := checkOwner(dir); err != nil {
		return err
	}
	// Where the volume has a group, mkdir sets the group bit.
	if err := dir.Chmod(0o700); err != nil {
		return fmt.Errorf("closing HOME to others: %w", err)
	}
	return nil
}

func checkOwner(dir *os.File) error {
	info, err := dir.Stat()
	if err != nil {
		return fmt.Errorf("looking at HOME: %w", err)
	}
	owner := int(info.Sys().(*syscall.Stat_t).Uid)
	if owner != os.Geteuid() {
		return fmt.Errorf("HOME %s belongs to uid %d, it must belong to uid %d", dir.Name(), owner, os.Geteuid())
	}
	return nil
}
