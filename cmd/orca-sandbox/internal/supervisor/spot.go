// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"errors"

	"golang.org/x/sys/unix"
)

// spot is a folder in which names are looked up. Opening a folder costs more
// than looking something up through its descriptor in /proc, so the folder of
// a caller's descriptor isn't opened.
type spot struct {
	fd int
	// prefix leads from the descriptor to the folder, which is the descriptor's
	// own if it is empty.
	prefix string
}

// spot returns the folder of a name. The caller must close it.
func (r resolver) spot(name fileName, dir string) (spot, error) {
	if dir == "" {
		return spot{unix.AT_FDCWD, name.task.descriptor(name.dir) + "/"}, nil
	}
	base, done, err := r.base(name)
	if err != nil {
		return spot{}, err
	}
	defer done()
	fd, err := r.folder(name.task, dir, base)
	return spot{fd, ""}, err
}

func (s spot) close() {
	if s.prefix == "" {
		unix.Close(s.fd)
	}
}

// look returns the place of a name in the folder, or of the folder itself if
// the name is empty. The place of what doesn't exist has no mount.
func (s spot) look(name string) place {
	flags := unix.AT_NO_AUTOMOUNT
	if name == "" {
		flags |= unix.AT_EMPTY_PATH
	} else {
		flags |= unix.AT_SYMLINK_NOFOLLOW
	}
	return stat(s.fd, s.prefix+name, flags)
}

func statPlace(fd int) place { return stat(fd, "", unix.AT_EMPTY_PATH) }

func stat(fd int, path string, flags int) place {
	var status unix.Statx_t
	const wanted = unix.STATX_TYPE | unix.STATX_MNT_ID
	switch err := unix.Statx(fd, path, flags, wanted, &status); {
	case errors.Is(err, unix.ENOENT):
		return place{known: true}
	case err != nil || status.Mask&wanted != wanted:
		return place{}
	}
	return place{known: true, exists: true, mode: status.Mode, mount: status.Mnt_id}
}
