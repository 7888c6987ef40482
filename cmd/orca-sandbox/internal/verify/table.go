// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/orca-agent-engine/orca-operator/controllers/layout"
)

// tableFile is where the kernel tells a process the mounts that it sees.
const tableFile = "/proc/self/mountinfo"

// mount is one line of the mount table.
type mount struct {
	id, parent uint64
	// source, device and root say what is mounted: of the file system from
	// source, to the kernel the device "major:minor", the directory or file root.
	source, device, root string
	// point is where it is mounted, a path without links.
	point string
	// readOnly tells that the kernel refuses every write through this mount.
	readOnly bool
	// open tells that mounts which are made elsewhere appear below it.
	open       bool
	filesystem string
}

// table are the mounts of a container.
type table []mount

// readTable reads the table from the kernel. Something else that stands in its
// place is an error.
func readTable() (table, error) {
	file, err := os.Open(tableFile)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var filesystem unix.Statfs_t
	if err := unix.Fstatfs(int(file.Fd()), &filesystem); err != nil {
		return nil, fmt.Errorf("looking at its file system: %w", err)
	}
	if filesystem.Type != unix.PROC_SUPER_MAGIC {
		return nil, errors.New("it doesn't come from the kernel")
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, err
	}
	return parseTable(string(text))
}

// parseTable reads the text of a mount table.
func parseTable(text string) (table, error) {
	var mounts table
	for line := range strings.Lines(text) {
		parsed, err := parseMount(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return nil, fmt.Errorf("line %q: %w", line, err)
		}
		mounts = append(mounts, parsed)
	}
	if !slices.ContainsFunc(mounts, func(m mount) bool { return m.point == "/" }) {
		return nil, errors.New("it has no mount at the root")
	}
	return mounts, nil
}

// parseMount reads a line of the form
//
//	36 35 98:0 /root /point rw,nosuid [optional fields] - type source rw,size=1k
func parseMount(line string) (mount, error) {
	fields := strings.Split(line, " ")
	separator := slices.Index(fields, "-")
	if separator < 6 || len(fields) != separator+4 {
		return mount{}, errors.New("it hasn't the fields that it must have")
	}
	id, errID := strconv.ParseUint(fields[0], 10, 64)
	parent, errParent := strconv.ParseUint(fields[1], 10, 64)
	root, errRoot := unescape(fields[3])
	point, errPoint := unescape(fields[4])
	source, errSource := unescape(fields[separator+2])
	if err := errors.Join(errID, errParent, errRoot, errPoint, errSource); err != nil {
		return mount{}, err
	}
	if path.Clean(point) != point || !path.IsAbs(point) {
		return mount{}, fmt.Errorf("the mount point %q is not an absolute path in its shortest form", point)
	}
	return mount{
		id: id, parent: parent, source: source, device: fields[2], root: root, point: point,
		readOnly:   hasOption(fields[5], "ro") || hasOption(fields[separator+3], "ro"),
		open:       slices.ContainsFunc(fields[6:separator], propagates),
		filesystem: fields[separator+1],
	}, nil
}

// unescape replaces the octal numbers that stand for spaces, line breaks and
// backslashes.
func unescape(field string) (string, error) {
	var out strings.Builder
	for {
		before, after, escaped := strings.Cut(field, `\`)
		out.WriteString(before)
		if !escaped {
			return out.String(), nil
		}
		if len(after) < 3 {
			return "", fmt.Errorf("the escape %q is cut off", after)
		}
		value, err := strconv.ParseUint(after[:3], 8, 8)
		if err != nil {
			return "", fmt.Errorf("the escape %q is no octal number of one byte", after[:3])
		}
		out.WriteByte(byte(value))
		field = after[3:]
	}
}

// propagates reports whether an optional field puts its mount into a group in
// which mounts are passed on.
func propagates(field string) bool {
	return strings.HasPrefix(field, "shared:") || strings.HasPrefix(field, "master:")
}

func hasOption(options, name string) bool {
	return slices.Contains(strings.Split(options, ","), name)
}

// at returns the mount that the path, which has no links, lies on, as the
// kernel finds it: from the root downwards, and on through whatever is mounted
// at each step.
func (t table) at(name string) mount {
	current := t.base()
	for _, step := range steps(name) {
		for {
			next, found := t.child(current, step)
			if !found {
				break
			}
			current = next
		}
	}
	return current
}

// base returns the mount that is the root of the container: the one at "/"
// that isn't mounted over another one there.
func (t table) base() mount {
	for _, m := range t {
		below := slices.ContainsFunc(t, func(other mount) bool {
			return other.id == m.parent && other.id != m.id && other.point == "/"
		})
		if m.point == "/" && !below {
			return m
		}
	}
	return mount{}
}

func (t table) child(parent mount, point string) (mount, bool) {
	i := slices.IndexFunc(t, func(m mount) bool {
		return m.parent == parent.id && m.point == point && m.id != parent.id
	})
	if i < 0 {
		return mount{}, false
	}
	return t[i], true
}

// visible reports whether a mount can be reached by its path, which it can't
// where another one covers it.
func (t table) visible(m mount) bool { return t.at(m.point).id == m.id }

// byID returns the mount with an id.
func (t table) byID(id uint64) (mount, bool) {
	i := slices.IndexFunc(t, func(m mount) bool { return m.id == id })
	if i < 0 {
		return mount{}, false
	}
	return t[i], true
}

// steps returns the paths that lead to a path: "/a" and "/a/b" for "/a/b", and
// none for "/".
func steps(name string) []string {
	var all []string
	for ; name != "/"; name = path.Dir(name) {
		all = append(all, name)
	}
	slices.Reverse(all)
	return all
}

// within reports whether a path is another one or lies below it.
func within(outer, name string) bool { return outer == "/" || layout.Contains(outer, name) }
