// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// pathSize is how long a path can be, with the zero byte at its end.
const pathSize = unix.PathMax

// task is the thread that makes a call. All that is read of it is what a
// hostile program wants to be read, at the time it wants.
type task int

// file returns the path of a file about the task.
func (t task) file(name string) string {
	return "/proc/" + strconv.Itoa(int(t)) + "/" + name
}

// descriptor returns the path that leads to what a descriptor is open on; the
// working directory counts as one.
func (t task) descriptor(fd int32) string {
	if fd == unix.AT_FDCWD {
		return t.file("cwd")
	}
	return t.file("fd/" + strconv.Itoa(int(fd)))
}

// read fills a buffer from the task's memory. It reports whether all of it
// could be read.
func (t task) read(address uint64, buffer []byte) bool {
	local := []unix.Iovec{{Base: &buffer[0]}}
	local[0].SetLen(len(buffer))
	remote := []unix.RemoteIovec{{Base: uintptr(address), Len: len(buffer)}}
	count, err := unix.ProcessVMReadv(int(t), local, remote, 0)
	return err == nil && count == len(buffer)
}

// readPath reads a path up to its zero byte. It reports false where the kernel
// can't read one either. It goes from page to page, for what follows the path
// may be unreadable.
func (t task) readPath(address uint64, buffer *[pathSize]byte) (string, bool) {
	page := uint64(os.Getpagesize())
	for got := 0; got < pathSize; {
		at := address + uint64(got)
		chunk := buffer[got:min(pathSize, got+int(page-at%page))]
		if at < address || !t.read(at, chunk) {
			return "", false
		}
		if end := bytes.IndexByte(chunk, 0); end >= 0 {
			return string(buffer[:got+end]), true
		}
		got += len(chunk)
	}
	return "", false
}

// group returns the id of the process that the thread belongs to.
func (t task) group() (task, bool) {
	content, err := os.ReadFile(t.file("status"))
	if err != nil {
		return 0, false
	}
	value, found := field(string(content), "Tgid:")
	id, err := strconv.Atoi(value)
	return task(id), found && err == nil
}
