// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package volume opens the folders in which a container sees its volumes.
package volume

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// open is the mode that a directory needs for its entries to be removed.
const open = 0o700

// OpenEmpty opens a folder and empties it: what an earlier run left there may
// be half made. Nothing that is done in the returned root leaves the folder.
func OpenEmpty(folder string) (*os.Root, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	if err := Empty(root); err != nil {
		_ = root.Close()
		return nil, err
	}
	return root, nil
}

// Empty removes all entries of a folder.
func Empty(root *os.Root) error {
	entries, err := ReadDir(root, ".")
	if err != nil {
		return fmt.Errorf("emptying: %w", err)
	}
	for _, entry := range entries {
		if err := Remove(root, entry.Name()); err != nil {
			return err
		}
	}
	return nil
}

// Remove removes an entry of a folder with all that is in it, also where
// directories are closed to writing. One that isn't there is no error.
func Remove(root *os.Root, name string) error {
	err := root.RemoveAll(name)
	if errors.Is(err, fs.ErrPermission) {
		err = errors.Join(unlock(root, name), root.RemoveAll(name))
	}
	if err != nil {
		return fmt.Errorf("emptying: %w", err)
	}
	return nil
}

// unlock lets the entries of all directories be removed. Links aren't followed.
func unlock(root *os.Root, name string) error {
	if info, err := root.Lstat(name); err != nil || !info.IsDir() {
		return err
	}
	if err := root.Chmod(name, open); err != nil {
		return err
	}
	entries, err := ReadDir(root, name)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if err := unlock(root, name+"/"+entry.Name()); err != nil {
			return err
		}
	}
	return nil
}

// ReadDir returns the entries of a directory by name. Unlike io/fs it takes
// every name that Linux has, also one that isn't UTF-8.
func ReadDir(root *os.Root, name string) ([]fs.DirEntry, error) {
	directory, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer directory.Close()
	entries, err := directory.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}
