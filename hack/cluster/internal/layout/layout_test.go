// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"os"
	"path/filepath"
	"testing"
)

func TestNewFindsTheRootFromBelow(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	below := filepath.Join(root, "some", "folder")
	for _, dir := range []string{below, filepath.Join(root, "hack", "cluster")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, marker), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(below)
	cases := map[string]struct{ dir, want string }{
		"by default":                {"", filepath.Join(root, ".orca")},
		"relative to where one is":  {"state", filepath.Join(below, "state")},
		"absolute, wherever one is": {"/var/tmp/x", "/var/tmp/x"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := New(tc.dir)
			if err != nil || got.Root != root || got.Dir != tc.want {
				t.Errorf("New(%q) = %+v, %v, want root %s and folder %s", tc.dir, got, err, root, tc.want)
			}
		})
	}
}

func TestNewOutsideTheRepository(t *testing.T) {
	t.Chdir(t.TempDir())
	if got, err := New(""); err == nil {
		t.Errorf("New() = %+v outside the repository", got)
	}
}
