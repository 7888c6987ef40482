// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// place is a path as the kernel finds it, held open, so that what is looked at
// is what is tried.
type place struct {
	file int
	// mount is the id of the mount that the path lies on.
	mount uint64
	// kind is the type of the file, such as unix.S_IFDIR.
	kind uint16
	// identity tells the file from all others of the node.
	identity identity
}

type identity struct {
	major, minor uint32
	inode        uint64
}

// openPlace opens a path for nothing but looking at it. That a link is in it
// is an error.
func openPlace(path string) (*place, error) {
	file, err := openWithoutLinks(path, unix.O_PATH)
	if err != nil {
		return nil, err
	}
	p := &place{file: file}
	if err := p.look(); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// look asks the kernel alone, not the server of a network volume.
func (p *place) look() error {
	var stat unix.Statx_t
	const flags, wanted = unix.AT_EMPTY_PATH | unix.AT_STATX_DONT_SYNC, unix.STATX_MNT_ID | unix.STATX_TYPE | unix.STATX_INO
	if err := retry(func() error { return unix.Statx(p.file, "", flags, wanted, &stat) }); err != nil {
		return err
	}
	if stat.Mask&wanted != wanted {
		return errors.New("the kernel doesn't say on which mount it lies; Linux 5.8 does")
	}
	p.mount, p.kind = stat.Mnt_id, stat.Mode&unix.S_IFMT
	p.identity = identity{stat.Dev_major, stat.Dev_minor, stat.Ino}
	return nil
}

func (p *place) close() { _ = unix.Close(p.file) }

// openWithoutLinks opens a path in which no link may be.
func openWithoutLinks(path string, flags uint64) (file int, err error) {
	how := unix.OpenHow{Flags: flags | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	err = retry(func() error {
		file, err = unix.Openat2(unix.AT_FDCWD, path, &how)
		return err
	})
	if errors.Is(err, unix.ELOOP) {
		err = fmt.Errorf("it is a symbolic link, or lies behind one: %w", err)
	}
	return file, err
}

// retry repeats a system call for as long as a signal interrupts it.
func retry(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
