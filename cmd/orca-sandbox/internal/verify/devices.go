// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// checkDevices makes sure that there is no disk. Whoever may open its device
// can write it: that a mount is read-only, or the image, says nothing about
// the devices in it.
func (c *checker) checkDevices() *Failure {
	for _, m := range c.mounts {
		if failed := c.checkNoDisk(m.point); failed != nil {
			return failed
		}
	}
	var found *Failure
	// What can't be looked into, the agent can't reach either.
	_ = filepath.WalkDir("/dev", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type()&fs.ModeDevice != 0 {
			found = c.checkNoDisk(path)
		}
		if found != nil {
			return fs.SkipAll
		}
		return nil
	})
	return found
}

func (c *checker) checkNoDisk(path string) *Failure {
	c.trying(path)
	place, err := openPlace(path)
	if err != nil {
		return nil // It is covered or out of reach.
	}
	defer place.close()
	if place.kind == unix.S_IFBLK {
		return failure(path, "is a disk, which could be written past all mounts: the pod must not have volumeDevices")
	}
	return nil
}
