// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"errors"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// standardError is the descriptor that lines go to.
const standardError = 2

// channel is how a line can reach a standard error.
type channel uint8

const (
	// nowhere: the stream is closed, or can't be written by its owner either.
	nowhere channel = iota
	// reopened: the supervisor opens what the stream is open on, for itself.
	reopened
	// shared: the stream seems to be the supervisor's own.
	shared
	// theirs: only the caller's descriptor will do. A socket can't be opened,
	// and in a file that isn't appended to, a second descriptor has an offset of
	// its own and damages what is there.
	theirs
)

// stream is what is known of a standard error.
type stream struct {
	open     bool
	flags    int
	fileType uint32
	// own tells that it is open on the same as the supervisor's.
	own bool
	// device and inode tell one stream from another.
	device, inode uint64
	// mount is that by which a file was opened.
	mount uint64
}

// channelOf chooses how to write to a standard error.
func channelOf(s stream) channel {
	access := s.flags & unix.O_ACCMODE
	if !s.open || s.flags&unix.O_PATH != 0 || access != unix.O_WRONLY && access != unix.O_RDWR {
		return nowhere
	}
	switch {
	case s.fileType == unix.S_IFIFO || s.fileType == unix.S_IFCHR:
		return reopened
	case s.fileType == unix.S_IFREG && s.flags&unix.O_APPEND != 0:
		return reopened
	case s.fileType != unix.S_IFREG && s.fileType != unix.S_IFSOCK:
		return nowhere
	case s.own:
		return shared
	default:
		return theirs
	}
}

// lookAt finds out about a task's standard error.
func lookAt(t task) stream {
	flags, open := descriptorFlags(t, standardError)
	found, err := identify(unix.AT_FDCWD, t.descriptor(standardError))
	if !open || err != nil {
		return stream{}
	}
	own, err := identify(standardError, "")
	found.own = err == nil && own.device == found.device && own.inode == found.inode
	found.open, found.flags = true, flags
	return found
}

// identify finds out what a path or a descriptor leads to, without asking a
// server.
func identify(fd int, path string) (stream, error) {
	var status unix.Statx_t
	const flags = unix.AT_EMPTY_PATH | unix.AT_STATX_DONT_SYNC
	if err := unix.Statx(fd, path, flags, unix.STATX_TYPE|unix.STATX_INO|unix.STATX_MNT_ID, &status); err != nil {
		return stream{}, err
	}
	return stream{
		fileType: uint32(status.Mode) & unix.S_IFMT,
		device:   unix.Mkdev(status.Dev_major, status.Dev_minor), inode: status.Ino, mount: status.Mnt_id,
	}, nil
}

// descriptorFlags returns the flags that a task's descriptor was opened with.
func descriptorFlags(t task, fd int32) (flags int, open bool) {
	content, err := os.ReadFile(t.file("fdinfo/" + strconv.Itoa(int(fd))))
	if err != nil {
		return 0, false
	}
	value, found := field(string(content), "flags:")
	parsed, err := strconv.ParseInt(value, 8, 64)
	return int(parsed), found && err == nil
}

// field returns the value of a line in a file of /proc.
func field(content, name string) (value string, found bool) {
	for line := range strings.Lines(content) {
		if value, found := strings.CutPrefix(line, name); found {
			return strings.TrimSpace(value), true
		}
	}
	return "", false
}

// reopen opens what a task's standard error is open on, in a way that neither
// opening nor writing waits for anybody.
func reopen(t task) (int, error) {
	const flags = unix.O_WRONLY | unix.O_APPEND | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC
	return unix.Open(t.descriptor(standardError), flags, 0)
}

// write writes a line if the stream takes it now.
func write(fd int, text []byte) error {
	_, err := unix.Write(fd, text)
	return ignoreFull(err)
}

// writeShared writes a line to the supervisor's own standard error.
func writeShared(s stream, text []byte) error {
	if s.fileType == unix.S_IFSOCK {
		return ignoreFull(unix.Sendto(standardError, text, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, nil))
	}
	return write(standardError, text)
}

// ignoreFull passes over a stream that is full or that nobody reads: what is
// the writer's to bear there, the caller would bear too.
func ignoreFull(err error) error {
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ENXIO) {
		return nil
	}
	return err
}
