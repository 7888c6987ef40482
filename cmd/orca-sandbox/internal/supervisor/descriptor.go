// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"bytes"
	"encoding/binary"
	"errors"

	"golang.org/x/sys/unix"
)

// isOpen reports whether the directory of a name is a descriptor that stands
// for more than a name.
func (n fileName) isOpen() bool {
	if n.dir == unix.AT_FDCWD {
		return true
	}
	flags, open := descriptorFlags(n.task, n.dir)
	return open && flags&unix.O_PATH == 0
}

// restricting are the flags of openat2 that make a name fail or leave it where
// it leads.
const restricting = unix.RESOLVE_NO_XDEV | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_BENEATH

// restricted returns where a name leads under restrictions of openat2. Whether
// they let the name through the kernel says, and where it leads the walk: the
// kernel would find the supervisor's own processes.
func (r resolver) restricted(name fileName, follow bool, resolve uint64) place {
	from := name
	if resolve&unix.RESOLVE_IN_ROOT != 0 {
		from.path = relative(name.path)
	}
	base, done, err := r.base(from)
	if err != nil || name.path == "" {
		return place{}
	}
	defer done()
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: resolve}
	if !follow {
		how.Flags |= unix.O_NOFOLLOW
	}
	fd, err := unix.Openat2(base, name.path, &how)
	switch {
	case err == nil:
		unix.Close(fd)
	case !errors.Is(err, unix.ENOENT):
		return place{}
	}
	if resolve&^restricting != 0 {
		return resolver{root: base}.walk(name, base, follow || name.endsInSlash(), true)
	}
	return r.object(name, follow)
}

// readSocketName reads the path in the address of a socket. It reports false
// if there is none: a socket can have a name that no file system knows.
func (t task) readSocketName(address, size uint64) (string, bool) {
	const family = 2 // Bytes before the path.
	var buffer [unix.SizeofSockaddrUnix]byte
	size = uint64(uint32(size))
	if size <= family || size > uint64(len(buffer)) || !t.read(address, buffer[:size]) {
		return "", false
	}
	if binary.NativeEndian.Uint16(buffer[:]) != unix.AF_UNIX {
		return "", false
	}
	path, _, _ := bytes.Cut(buffer[family:size], []byte{0})
	return string(path), len(path) > 0
}
