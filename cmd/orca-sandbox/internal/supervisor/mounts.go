// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/orca-agent-engine/orca-operator/controllers/layout"
)

// mount is a line of mountinfo.
type mount struct {
	id       uint64
	point    string
	readOnly bool
	fsType   string
}

// Mounts are the mounts of the sandbox on which writes are refused.
type Mounts map[uint64]bool

// open are the places outside the roots where the policy has rules of its own
// for the files that are there: the kernel alone knows which may be written.
var open = []string{"/proc", "/dev/pts"}

// localTypes are the file systems without a server behind them: what is asked
// of their files is answered at once.
var localTypes = []string{"tmpfs", "ext4", "xfs", "btrfs", "overlay"}

// devices holds devices beside links and folders. It is no read-only mount, but
// only root can change what is there.
const devices = "/dev"

// RefusingMounts finds the mounts on which the policy refuses writes: those
// that are read-only, and with Landlock those outside the roots.
func RefusingMounts(roots []string, landlock bool) (Mounts, error) {
	mounts, err := readMounts()
	if err != nil {
		return nil, err
	}
	refusing := refusingMounts(mounts, roots, landlock)
	for _, root := range roots {
		id, err := mountOf(root)
		if err != nil {
			return nil, fmt.Errorf("looking at the writable root %s: %w", root, err)
		}
		delete(refusing, id)
	}
	return refusing, nil
}

// mountOf returns the mount that a path leads to.
func mountOf(path string) (uint64, error) {
	var status unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_MNT_ID, &status)
	return status.Mnt_id, err
}

func refusingMounts(mounts []mount, roots []string, landlock bool) Mounts {
	writable := slices.Concat(roots, open)
	below := func(point string) bool {
		return slices.ContainsFunc(writable, func(place string) bool { return layout.Contains(place, point) })
	}
	refusing := Mounts{}
	for _, m := range mounts {
		if m.readOnly || m.point == devices || landlock && !below(m.point) {
			refusing[m.id] = true
		}
	}
	return refusing
}

// localMounts finds the mounts of local file systems.
func localMounts() (Mounts, error) {
	mounts, err := readMounts()
	found := Mounts{}
	for _, m := range mounts {
		if slices.Contains(localTypes, m.fsType) {
			found[m.id] = true
		}
	}
	return found, err
}

func readMounts() ([]mount, error) {
	content, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("reading the mounts: %w", err)
	}
	return parseMounts(string(content))
}

// parseMounts reads mountinfo, as proc_pid_mountinfo(5) describes it.
func parseMounts(content string) ([]mount, error) {
	var mounts []mount
	for line := range strings.Lines(content) {
		before, after, found := strings.Cut(strings.TrimSuffix(line, "\n"), " - ")
		own, super := strings.Fields(before), strings.Fields(after)
		if !found || len(own) < 6 || len(super) < 3 {
			return nil, fmt.Errorf("the mount %q has not the form of a mount", line)
		}
		id, err := strconv.ParseUint(own[0], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("the mount %q has no id", line)
		}
		mounts = append(mounts, mount{
			id: id, point: unescape(own[4]),
			fsType:   super[0],
			readOnly: hasOption(own[5], "ro") || hasOption(super[len(super)-1], "ro"),
		})
	}
	return mounts, nil
}

func hasOption(options, option string) bool {
	return slices.Contains(strings.Split(options, ","), option)
}

// unescape undoes how mountinfo writes white space and backslashes.
func unescape(text string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(text)
}
