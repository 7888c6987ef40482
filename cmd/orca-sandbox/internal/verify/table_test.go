// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// recorded reads a table that was recorded in a pod.
func recorded(t *testing.T, name string) table {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	mounts, err := parseTable(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return mounts
}

const rootLine = "1 0 0:9 / / ro - overlay overlay rw\n"

func TestParseMount(t *testing.T) {
	for name, tc := range map[string]struct {
		line string
		want mount
	}{
		"a volume": {
			"569 541 8:1 /var/lib/kubelet/outputs /mnt/session/outputs rw,relatime - ext4 /dev/sda1 rw,discard",
			mount{id: 569, parent: 541, source: "/dev/sda1", device: "8:1", root: "/var/lib/kubelet/outputs", point: "/mnt/session/outputs", filesystem: "ext4"},
		},
		"one that is read-only by itself": {
			"2 1 8:1 /s /workspace ro,relatime - ext4 /dev/sda1 rw",
			mount{id: 2, parent: 1, source: "/dev/sda1", device: "8:1", root: "/s", point: "/workspace", filesystem: "ext4", readOnly: true},
		},
		"one of a read-only file system": {
			"2 1 0:5 / /x rw,relatime - squashfs /dev/loop0 ro,errors=continue",
			mount{id: 2, parent: 1, source: "/dev/loop0", device: "0:5", root: "/", point: "/x", filesystem: "squashfs", readOnly: true},
		},
		"options that only begin like ro": {
			"2 1 0:5 / /x rw,root - tmpfs tmpfs rw,rootcontext=ro",
			mount{id: 2, parent: 1, source: "tmpfs", device: "0:5", root: "/", point: "/x", filesystem: "tmpfs"},
		},
		"one that takes the node's mounts": {
			"2 1 0:5 / /x rw master:8 propagate_from:9 - tmpfs tmpfs rw",
			mount{id: 2, parent: 1, source: "tmpfs", device: "0:5", root: "/", point: "/x", filesystem: "tmpfs", open: true},
		},
		"one that shares its mounts with the node": {
			"2 1 0:5 / /x rw shared:7 - tmpfs tmpfs rw",
			mount{id: 2, parent: 1, source: "tmpfs", device: "0:5", root: "/", point: "/x", filesystem: "tmpfs", open: true},
		},
		"an optional field about something else": {
			"2 1 0:5 / /x rw unbindable - tmpfs tmpfs rw",
			mount{id: 2, parent: 1, source: "tmpfs", device: "0:5", root: "/", point: "/x", filesystem: "tmpfs"},
		},
		"a source without a name": {
			"2 1 0:5 / /x rw - tmpfs  rw",
			mount{id: 2, parent: 1, device: "0:5", root: "/", point: "/x", filesystem: "tmpfs"},
		},
		"escapes": {
			`2 1 0:5 /a\040\134040 /b\011\012\134 rw - nfs4 host:/a\040b rw`,
			mount{id: 2, parent: 1, source: "host:/a b", device: "0:5", root: `/a \040`, point: "/b\t\n\\", filesystem: "nfs4"},
		},
		"bytes that are no text": {
			"2 1 0:5 / /\xff rw - tmpfs tmpfs rw",
			mount{id: 2, parent: 1, source: "tmpfs", device: "0:5", root: "/", point: "/\xff", filesystem: "tmpfs"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseTable(rootLine + tc.line + "\n")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got[1], cmp.AllowUnexported(mount{})); diff != "" {
				t.Errorf("the mount differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseTableRefusesNonsense(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"nothing":                       {"", "it has no mount at the root"},
		"no root":                       {"2 1 0:5 / /x rw - tmpfs tmpfs rw\n", "it has no mount at the root"},
		"an empty line":                 {rootLine + "\n", "it hasn't the fields that it must have"},
		"a cut line":                    {rootLine + "2 1 0:5 / /x rw", "it hasn't the fields that it must have"},
		"no separator":                  {rootLine + "2 1 0:5 / /x rw tmpfs tmpfs rw\n", "it hasn't the fields that it must have"},
		"a separator too early":         {rootLine + "2 1 0:5 / /x - tmpfs tmpfs rw\n", "it hasn't the fields that it must have"},
		"a field too many":              {rootLine + "2 1 0:5 / /x rw - tmpfs tmpfs rw x\n", "it hasn't the fields that it must have"},
		"an id that is no number":       {rootLine + "a 1 0:5 / /x rw - tmpfs tmpfs rw\n", "invalid syntax"},
		"a parent that is no number":    {rootLine + "2 -1 0:5 / /x rw - tmpfs tmpfs rw\n", "invalid syntax"},
		"a relative mount point":        {rootLine + "2 1 0:5 / x rw - tmpfs tmpfs rw\n", `the mount point "x" is not an absolute path`},
		"a mount point with dots":       {rootLine + "2 1 0:5 / /x/../y rw - tmpfs tmpfs rw\n", `the mount point "/x/../y" is not an absolute path`},
		"an escape that is cut off":     {rootLine + `2 1 0:5 / /x\04 rw - tmpfs tmpfs rw` + "\n", "is cut off"},
		"an escape that is not octal":   {rootLine + `2 1 0:5 / /x\089 rw - tmpfs tmpfs rw` + "\n", "is no octal number of one byte"},
		"an escape of more than a byte": {rootLine + `2 1 0:5 / /x\777 rw - tmpfs tmpfs rw` + "\n", "is no octal number of one byte"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parseTable(tc.text)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want an error with %q", err, tc.want)
			}
		})
	}
}

func TestTheMountThatAPathLiesOn(t *testing.T) {
	covered := rootLine + `2 1 0:2 / /cache rw - tmpfs tmpfs rw
3 2 0:3 / /cache/deep rw - tmpfs tmpfs rw
4 2 0:4 / /cache ro - tmpfs tmpfs rw
5 4 0:5 / /cache/deep/er rw - tmpfs tmpfs rw
6 1 0:6 / / rw - tmpfs tmpfs rw
7 6 0:7 / /below rw - tmpfs tmpfs rw
8 9 0:8 / /lost rw - tmpfs tmpfs rw
`
	mounts, err := parseTable(covered)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]uint64{
		"/": 1, "/etc": 1, "/cached": 1,
		"/cache": 4, "/cache/x": 4, "/cache/deep": 4, // 2 and 3 lie under 4.
		"/cache/deep/er": 5, "/cache/deep/er/x": 5,
		"/below": 1, // 6 is mounted over the root, which every path begins beneath.
		"/lost":  1, // What 8 is mounted on isn't there.
	} {
		if got := mounts.at(path).id; got != want {
			t.Errorf("%s lies on mount %d, want %d", path, got, want)
		}
	}
	var visible []uint64
	for _, m := range mounts {
		if mounts.visible(m) {
			visible = append(visible, m.id)
		}
	}
	if diff := cmp.Diff([]uint64{1, 4, 5}, visible); diff != "" {
		t.Errorf("the visible mounts differ (-want +got):\n%s", diff)
	}
}

func TestAllMountsOfARealPodAreVisible(t *testing.T) {
	for _, name := range []string{"plain.mountinfo", "sandbox.mountinfo"} {
		mounts := recorded(t, name)
		if len(mounts) < 30 {
			t.Errorf("%s: %d mounts", name, len(mounts))
		}
		for _, m := range mounts {
			if !mounts.visible(m) {
				t.Errorf("%s: the mount at %s counts as covered", name, m.point)
			}
		}
	}
}

func FuzzParseTable(f *testing.F) {
	f.Add(rootLine + "2 1 0:5 / /x\\040y rw shared:1 - tmpfs tmpfs rw\n")
	f.Fuzz(func(t *testing.T, text string) {
		mounts, err := parseTable(text)
		if err == nil && (len(mounts) == 0 || len(mounts) != strings.Count(strings.TrimSuffix(text, "\n"), "\n")+1) {
			t.Errorf("%d mounts of %q", len(mounts), text)
		}
	})
}
