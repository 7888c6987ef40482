// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package layout_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orca-agent-engine/orca-operator/controllers/layout"
)

func TestWritableRoots(t *testing.T) {
	for name, tc := range map[string]struct {
		sharedMemory bool
		resources    []string
		want         []string
	}{
		"a plain session":                    {false, nil, []string{"/mnt/session/outputs", "/tmp"}},
		"with shared memory":                 {true, nil, []string{"/dev/shm", "/mnt/session/outputs", "/tmp"}},
		"with resources, whatever the order": {true, []string{"/workspace/app", "/mnt/memory/notes"}, []string{"/dev/shm", "/mnt/memory/notes", "/mnt/session/outputs", "/tmp", "/workspace/app"}},
		"a path that comes twice":            {false, []string{"/workspace/app", "/tmp", "/workspace/app"}, []string{"/mnt/session/outputs", "/tmp", "/workspace/app"}},
	} {
		t.Run(name, func(t *testing.T) {
			given := slices.Clone(tc.resources)
			if diff := cmp.Diff(tc.want, layout.WritableRoots(tc.sharedMemory, tc.resources...)); diff != "" {
				t.Errorf("the roots differ (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(given, tc.resources); diff != "" {
				t.Errorf("the caller's list changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestSealedDirectories(t *testing.T) {
	withMemory := []string{"/dev/mqueue", "/mnt/memory", "/mnt/session/uploads", "/workspace", "/workspace/skills"}
	without := []string{"/dev/mqueue", "/dev/shm", "/mnt/memory", "/mnt/session/uploads", "/workspace", "/workspace/skills"}
	if diff := cmp.Diff(withMemory, layout.SealedDirectories(true)); diff != "" {
		t.Errorf("with shared memory (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(without, layout.SealedDirectories(false)); diff != "" {
		t.Errorf("without shared memory, which is then covered (-want +got):\n%s", diff)
	}
}

func TestInSealedRoot(t *testing.T) {
	for path, want := range map[string]bool{
		"/workspace": true, "/workspace/app": true, "/workspace/skills": true, "/mnt/memory/notes": true,
		"/mnt/session/uploads/f/x": true, "/workspace2": false, "/mnt/session/outputs": false,
		"/mnt/session": false, "/mnt": false, "/data": false, "/tmp": false,
	} {
		if got := layout.InSealedRoot(path); got != want {
			t.Errorf("InSealedRoot(%q) = %v, want %v", path, got, want)
		}
	}
}

func TestNoFixedRootOverlapsAnother(t *testing.T) {
	roots := append(layout.WritableRoots(true), layout.SealedRoots()...)
	for i, a := range roots {
		for _, b := range roots[i+1:] {
			if layout.Overlap(a, b) {
				t.Errorf("%s and %s overlap", a, b)
			}
		}
	}
	if !layout.Contains(layout.Tmp, layout.Home) || !layout.Contains(layout.Workspace, layout.Skills) {
		t.Error("HOME must lie in /tmp and the skills in the workspace")
	}
}
