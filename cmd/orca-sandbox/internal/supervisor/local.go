// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package supervisor

import "golang.org/x/sys/unix"

// local are the file systems without a server behind them: what is asked of
// their files is answered at once.
var local = map[int64]bool{
	unix.TMPFS_MAGIC: true, unix.EXT4_SUPER_MAGIC: true, unix.XFS_SUPER_MAGIC: true,
	unix.BTRFS_SUPER_MAGIC: true, unix.OVERLAYFS_SUPER_MAGIC: true,
}

// onLocal reports whether a path leads to a file of a local file system.
func onLocal(path string) bool {
	var status unix.Statfs_t
	return unix.Statfs(path, &status) == nil && local[status.Type]
}
