// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package mounts

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestParseKeepsTheOrderAndUnescapes(t *testing.T) {
	const mountinfo = `20 1 0:19 / / rw - ext4 /dev/vda rw
30 20 0:20 / /state/a\040b rw shared:1 - tmpfs tmpfs rw
31 30 0:21 / /state/a\040b/c rw - tmpfs tmpfs rw
32 20 0:22 / /state2 rw - tmpfs tmpfs rw
cut short
`
	got := parse(mountinfo, func(p string) bool { return within(p, "/state") })
	if want := []string{"/state/a b", "/state/a b/c"}; !slices.Equal(got, want) {
		t.Errorf("parse() = %q, want %q", got, want)
	}
}

func TestWithin(t *testing.T) {
	cases := map[string]struct {
		path, dir string
		want      bool
	}{
		"the folder itself":               {"/a/b", "/a/b", true},
		"below it":                        {"/a/b/c", "/a/b", true},
		"a name that only begins like it": {"/a/bc", "/a/b", false},
		"above it":                        {"/a", "/a/b", false},
		"a folder with a closing slash":   {"/a/b/c", "/a/b/", true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := within(tc.path, tc.dir); got != tc.want {
				t.Errorf("within(%q, %q) = %v", tc.path, tc.dir, got)
			}
		})
	}
}

func TestUnmountBelowRemovesNestedMounts(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	for _, d := range []string{filepath.Join(from, "inner"), to} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = UnmountBelow(dir) })
	if err := Bind(from, to); err != nil {
		t.Fatal(err)
	}
	if err := Bind(from, filepath.Join(to, "inner")); err != nil {
		t.Fatal(err)
	}
	if mounted, err := IsMountPoint(to); !mounted || err != nil {
		t.Fatalf("IsMountPoint() = %v, %v after Bind", mounted, err)
	}
	if err := UnmountBelow(dir); err != nil {
		t.Fatal(err)
	}
	if left, err := Below(dir); err != nil || len(left) > 0 {
		t.Errorf("still mounted: %q, %v", left, err)
	}
}
