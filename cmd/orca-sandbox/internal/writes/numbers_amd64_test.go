// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build amd64

package writes

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestNumbersAreTheKernels(t *testing.T) {
	t.Parallel()
	for name, number := range map[string]int{
		"openat": unix.SYS_OPENAT, "open": unix.SYS_OPEN, "openat2": unix.SYS_OPENAT2, "creat": unix.SYS_CREAT,
		"mkdir": unix.SYS_MKDIR, "mkdirat": unix.SYS_MKDIRAT, "mknod": unix.SYS_MKNOD, "mknodat": unix.SYS_MKNODAT,
		"symlink": unix.SYS_SYMLINK, "symlinkat": unix.SYS_SYMLINKAT, "link": unix.SYS_LINK, "linkat": unix.SYS_LINKAT,
		"unlink": unix.SYS_UNLINK, "unlinkat": unix.SYS_UNLINKAT, "rmdir": unix.SYS_RMDIR, "rename": unix.SYS_RENAME,
		"renameat": unix.SYS_RENAMEAT, "renameat2": unix.SYS_RENAMEAT2, "truncate": unix.SYS_TRUNCATE, "chmod": unix.SYS_CHMOD,
		"fchmodat": unix.SYS_FCHMODAT, "fchmodat2": unix.SYS_FCHMODAT2, "chown": unix.SYS_CHOWN, "lchown": unix.SYS_LCHOWN,
		"fchownat": unix.SYS_FCHOWNAT, "utime": unix.SYS_UTIME, "utimes": unix.SYS_UTIMES, "futimesat": unix.SYS_FUTIMESAT,
		"utimensat": unix.SYS_UTIMENSAT, "setxattr": unix.SYS_SETXATTR, "lsetxattr": unix.SYS_LSETXATTR,
		"setxattrat": unix.SYS_SETXATTRAT, "removexattr": unix.SYS_REMOVEXATTR, "lremovexattr": unix.SYS_LREMOVEXATTR,
		"removexattrat": unix.SYS_REMOVEXATTRAT,
		"fchmod":        unix.SYS_FCHMOD, "fchown": unix.SYS_FCHOWN, "fsetxattr": unix.SYS_FSETXATTR, "fremovexattr": unix.SYS_FREMOVEXATTR,
		"ioctl": unix.SYS_IOCTL, "file_setattr": unix.SYS_FILE_SETATTR, "bind": unix.SYS_BIND,
	} {
		for _, call := range Calls {
			if call.Name == name && call.AMD64 != number {
				t.Errorf("%s has number %d, want %d", name, call.AMD64, number)
			}
		}
	}
}
