// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build arm64

package writes

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestNumbersAreTheKernels(t *testing.T) {
	t.Parallel()
	for name, number := range map[string]int{
		"openat": unix.SYS_OPENAT, "openat2": unix.SYS_OPENAT2, "mkdirat": unix.SYS_MKDIRAT, "mknodat": unix.SYS_MKNODAT,
		"symlinkat": unix.SYS_SYMLINKAT, "linkat": unix.SYS_LINKAT, "unlinkat": unix.SYS_UNLINKAT, "renameat": unix.SYS_RENAMEAT,
		"renameat2": unix.SYS_RENAMEAT2, "truncate": unix.SYS_TRUNCATE, "fchmodat": unix.SYS_FCHMODAT, "fchmodat2": unix.SYS_FCHMODAT2,
		"fchownat": unix.SYS_FCHOWNAT, "utimensat": unix.SYS_UTIMENSAT, "setxattr": unix.SYS_SETXATTR, "lsetxattr": unix.SYS_LSETXATTR,
		"setxattrat": unix.SYS_SETXATTRAT, "removexattr": unix.SYS_REMOVEXATTR, "lremovexattr": unix.SYS_LREMOVEXATTR, "removexattrat": unix.SYS_REMOVEXATTRAT,
		"fchmod": unix.SYS_FCHMOD, "fchown": unix.SYS_FCHOWN, "fsetxattr": unix.SYS_FSETXATTR, "fremovexattr": unix.SYS_FREMOVEXATTR,
		"ioctl": unix.SYS_IOCTL, "file_setattr": unix.SYS_FILE_SETATTR, "bind": unix.SYS_BIND,
	} {
		for _, call := range Calls {
			if call.Name == name && call.ARM64 != number {
				t.Errorf("%s has number %d, want %d", name, call.ARM64, number)
			}
		}
	}
}
