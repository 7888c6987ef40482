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
}

// Mounts are the mounts of the sandbox on which writes are refused.
type Mounts map[uint64]bool

// open are the places outside the roots where the policy has rules of its own
// for the files that are there: the kernel alone knows which may be written.
var open = []string{"/proc", "/dev/pts"}

// devices holds devices beside links and folders; only root can change which.
const devices = "/dev"

// RefusingMounts finds the mounts on which the policy refuses writes: those
// that are read-only, and with Landlock those outside the roots.
func RefusingMounts(roots []string, landlock bool) (Mounts, error) {
	content, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("reading the mounts: %w", err)
	}
	mounts, err := parseMounts(string(content))
	if err != nil {
		return nil, err
	}
	refusing := refusingMounts(mounts, roots, landlock)
	for _, root := range roots {
		var status unix.Statx_t
		if err := unix.Statx(unix.AT_FDCWD, root, 0, unix.STATX_MNT_ID, &status); err != nil {
			return nil, fmt.Errorf("looking at the writable root %s: %w", root, err)
		}
		delete(refusing, status.Mnt_id)
	}
	return refusing, nil
}

func refusingMounts(mounts []mount, roots []string, landlock bool) Mounts {
	writable := slices.Concat(roots, open)
	below := func(point string) bool {
		return slices.ContainsFunc(writable, func(place string) bool { return layout.Contains(place, point) })
	}
	refusing := Mounts{}
	for _, m := range mounts {
		if m.readOnly || landlock && m.point != devices && !below(m.point) {
			refusing[m.id] = true
		}
	}
	return refusing
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
