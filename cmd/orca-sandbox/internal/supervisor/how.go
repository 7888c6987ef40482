// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// openHow is struct open_how: how a file is to be opened.
type openHow struct{ flags, mode, resolve uint64 }

const (
	openHowSize = 24

	// resolveCached is RESOLVE_CACHED: such an open fails when it would make
	// anything, and its caller opens again without it.
	resolveCached = 0x20

	knownResolve = unix.RESOLVE_NO_XDEV | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_SYMLINKS |
		unix.RESOLVE_BENEATH | unix.RESOLVE_IN_ROOT | resolveCached
	// largeFile has O_LARGEFILE of each architecture, which others have for
	// another flag.
	largeFile  = 0x8000 | 0x20000
	knownFlags = unix.O_ACCMODE | unix.O_CREAT | unix.O_EXCL | unix.O_NOCTTY | unix.O_TRUNC | unix.O_APPEND |
		unix.O_NONBLOCK | unix.O_SYNC | unix.O_DSYNC | unix.O_ASYNC | unix.O_DIRECT | largeFile | unix.O_DIRECTORY |
		unix.O_NOFOLLOW | unix.O_NOATIME | unix.O_CLOEXEC | unix.O_PATH | unix.O_TMPFILE

	// unnamed is __O_TMPFILE, which O_TMPFILE has beside O_DIRECTORY.
	unnamed     = unix.O_TMPFILE &^ unix.O_DIRECTORY
	permissions = 0o7777
)

// openHow reads what openat2 is given. It reports false where the kernel
// doesn't take it.
func (c *judgement) openHow(address, size uint64) (openHow, bool) {
	var buffer [openHowSize]byte
	if !c.extensible(address, size, openHowSize) || !c.task.read(address, buffer[:]) {
		return openHow{}, false
	}
	word := func(i int) uint64 { return binary.NativeEndian.Uint64(buffer[8*i:]) }
	how := openHow{word(0), word(1), word(2)}
	return how, how.wellFormed()
}

// wellFormed reports whether the kernel takes it from openat2, which is
// stricter than the other calls.
func (h openHow) wellFormed() bool {
	if h.flags&^knownFlags != 0 || h.resolve&^knownResolve != 0 {
		return false
	}
	if scoped := uint64(unix.RESOLVE_BENEATH | unix.RESOLVE_IN_ROOT); h.resolve&scoped == scoped {
		return false
	}
	if h.flags&(unix.O_CREAT|unnamed) == 0 {
		return h.mode == 0
	}
	return h.mode&^permissions == 0
}

// asksToWrite reports whether the open may write at all, and in a way that the
// kernel takes.
func (h openHow) asksToWrite() bool {
	access := h.flags & unix.O_ACCMODE
	switch {
	case h.flags&unix.O_PATH != 0:
		return false
	case h.flags&unnamed != 0:
		return h.flags&unix.O_TMPFILE == unix.O_TMPFILE && h.flags&unix.O_CREAT == 0 && access != unix.O_RDONLY
	case h.flags&unix.O_CREAT != 0 && h.flags&unix.O_DIRECTORY != 0:
		return false
	}
	return access != 0 || h.flags&(unix.O_CREAT|unix.O_TRUNC) != 0
}

// exclusive reports whether an open is to make a new file or fail.
func (h openHow) exclusive() bool { return h.flags&unix.O_CREAT != 0 && h.flags&unix.O_EXCL != 0 }

// refusedAt reports whether an open by a name that may be a folder's alone
// fails at a place where writes are refused, and for that reason.
func (h openHow) refusedAt(p place, folderOnly bool) bool {
	switch {
	case !p.exists:
		return h.flags&unix.O_CREAT != 0 && !folderOnly
	case h.exclusive():
		return false
	case p.is(unix.S_IFDIR):
		return h.flags&unnamed != 0
	case !p.is(unix.S_IFREG) || h.flags&unix.O_DIRECTORY != 0:
		return false
	}
	access := h.flags & unix.O_ACCMODE
	return access == unix.O_WRONLY || access == unix.O_RDWR || h.flags&unix.O_TRUNC != 0
}
