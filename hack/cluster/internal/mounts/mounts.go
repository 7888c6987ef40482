// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package mounts finds and removes what is mounted below a folder.
package mounts

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Below lists the mount points at and below the folders, the last mounted
// first: the order in which they can be removed.
func Below(dirs ...string) ([]string, error) {
	b, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	points := parse(string(b), func(point string) bool {
		return slices.ContainsFunc(dirs, func(dir string) bool { return within(point, dir) })
	})
	slices.Reverse(points)
	return points, nil
}

// IsMountPoint reports whether something is mounted exactly there.
func IsMountPoint(path string) (bool, error) {
	points, err := Below(path)
	return slices.Contains(points, path), err
}

// UnmountBelow removes all of them. What is still in use goes away as soon as
// it no longer is.
func UnmountBelow(dirs ...string) error {
	points, err := Below(dirs...)
	if err != nil {
		return fmt.Errorf("listing mounts: %w", err)
	}
	for _, point := range points {
		// EINVAL: not a mount point any more, as it went with another mount.
		err := unix.Unmount(point, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW)
		if err != nil && err != unix.EINVAL && err != unix.ENOENT {
			return fmt.Errorf("unmounting %s: %w", point, err)
		}
	}
	return nil
}

// Bind mounts a folder at a second place, as a mount that others of the same
// kernel don't follow and that is shared with those below it.
func Bind(from, to string) error {
	if err := unix.Mount(from, to, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("bind mounting %s at %s: %w", from, to, err)
	}
	for _, propagation := range []uintptr{unix.MS_PRIVATE, unix.MS_SHARED} {
		if err := unix.Mount("", to, "", propagation, ""); err != nil {
			return fmt.Errorf("setting the propagation of %s: %w", to, err)
		}
	}
	return nil
}

func parse(mountinfo string, keep func(string) bool) []string {
	var points []string
	for line := range strings.Lines(mountinfo) {
		const pointField = 4
		fields := strings.Fields(line)
		if len(fields) <= pointField {
			continue
		}
		if point := unescape(fields[pointField]); keep(point) {
			points = append(points, point)
		}
	}
	return points
}

// unescape turns the kernel's octal escapes back into characters.
var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace

func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
