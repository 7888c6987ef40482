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
// group of the volume. What is there already must be a directory.
func MakeHome(path string) error {
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("making HOME: %w", err)
	}
	dir, err := os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return fmt.Errorf("opening HOME: %w", err)
	}
	defer dir.Close()
	// Where the volume has a group, mkdir sets the group bit.
	if err := dir.Chmod(0o700); err != nil {
		return fmt.Errorf("closing HOME to others: %w", err)
	}
	return nil
}
