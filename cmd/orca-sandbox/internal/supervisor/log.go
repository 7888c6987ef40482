// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// errUnreachable says that a line didn't get to its caller.
var errUnreachable = errors.New("the caller's standard error can't be reached")

// log is the supervisor's own standard error, for lines that their callers
// can't be given.
type log struct {
	fd int
	to stream
}

// newLog opens the log in a way in which it never holds up the supervisor.
func newLog() *log {
	own := task(os.Getpid())
	l := &log{fd: standardError, to: lookAt(own)}
	if channelOf(l.to) == reopened {
		if fd, err := reopen(own); err == nil {
			l.fd = fd
		}
	}
	return l
}

// quieten puts the supervisor's standard error in the place of the log.
func (l *log) quieten() {
	if l.fd != standardError {
		_ = unix.Dup3(standardError, l.fd, unix.O_CLOEXEC)
	}
}

// instead writes a line to the log if an error kept it from its caller.
func (l *log) instead(err error, text []byte) {
	if err == nil {
		return
	}
	text = append([]byte("orca-sandbox: not shown to its process: "), text...)
	if l.to.fileType == unix.S_IFSOCK {
		_ = writeShared(l.to, text)
		return
	}
	_ = write(l.fd, text)
}

// filterCount returns how many seccomp filters a process has.
func filterCount(of task) int {
	content, err := os.ReadFile(of.file("status"))
	if err != nil {
		return -1
	}
	value, _ := field(string(content), "Seccomp_filters:")
	count, err := strconv.Atoi(value)
	if err != nil {
		return -1
	}
	return count
}

func closeDescriptor(fd int) { _ = unix.Close(fd) }
