// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"

	"golang.org/x/sys/unix"
)

// The calls that only older architectures have.
func init() {
	maps.Copy(matrixCalls, map[string]matrixCall{
		"open wronly":      raw(unix.SYS_OPEN, absent, 0, others{1: unix.O_WRONLY | unix.O_NONBLOCK | unix.O_NOCTTY}),
		"open creat":       raw(unix.SYS_OPEN, absent, 0, others{1: create | unix.O_NONBLOCK | unix.O_NOCTTY, 2: 0o644}),
		"creat":            raw(unix.SYS_CREAT, absent, 0, others{1: 0o644}),
		"mkdir":            raw(unix.SYS_MKDIR, absent, 0, others{1: 0o755}),
		"mknod":            raw(unix.SYS_MKNOD, absent, 0, others{1: unix.S_IFIFO | 0o644}),
		"mknod folder":     raw(unix.SYS_MKNOD, absent, 0, others{1: unix.S_IFDIR | 0o755}),
		"symlink":          raw(unix.SYS_SYMLINK, absent, 1, others{0: value}),
		"link":             raw(unix.SYS_LINK, absent, 1, others{0: readOnlyFile}),
		"unlink":           raw(unix.SYS_UNLINK, absent, 0, nil),
		"rmdir":            raw(unix.SYS_RMDIR, absent, 0, nil),
		"rename":           raw(unix.SYS_RENAME, absent, 0, others{1: text("/workspace/app/no")}),
		"chmod":            raw(unix.SYS_CHMOD, absent, 0, others{1: 0o644}),
		"chown":            raw(unix.SYS_CHOWN, absent, 0, others{1: sandboxUser, 2: sandboxUser}),
		"lchown":           raw(unix.SYS_LCHOWN, absent, 0, others{1: sandboxUser, 2: sandboxUser}),
		"utime":            raw(unix.SYS_UTIME, absent, 0, nil),
		"utimes":           raw(unix.SYS_UTIMES, absent, 0, nil),
		"utimes bad time":  raw(unix.SYS_UTIMES, absent, 0, others{1: times(1e7, 0)}),
		"futimesat":        raw(unix.SYS_FUTIMESAT, 0, 1, nil),
		"futimesat number": onDescriptor(unix.SYS_FUTIMESAT, nil),
	})
}
