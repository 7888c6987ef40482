// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orca-agent-engine/orca-operator/controllers/policy"
)

// F18: one path in another spelling is refused, so no two spellings of a path
// ever meet.
func TestF18SpellingsOfOnePath(t *testing.T) {
	spellings := []string{"/data/in", "/data/in/", "/data//in", "/data/./in", "/data/x/../in", "//data/in", "/data/in/."}
	for i, first := range spellings {
		for j, second := range spellings {
			var want []string
			if i > 0 || j > 0 {
				want = append(want, "InvalidSpec")
			}
			files := session(file("a", first), file("b", second))
			refused, warnings := policy.SessionAdmission(files, effective(t, ""))
			if diff := cmp.Diff(want, reasons(refused)); diff != "" {
				t.Errorf("%s and %s (-want +got):\n%s", first, second, diff)
			}
			if conflict := len(warnings) == 1 && strings.Contains(warnings[0], "files on one path"); conflict != (i == 0 && j == 0) {
				t.Errorf("%s and %s: warnings %q", first, second, warnings)
			}
		}
	}
}

// F27: what a runtime would trip over never reaches it.
func TestF27OddMountPaths(t *testing.T) {
	refused := []string{
		"/data/a:ro", "data/rel", "/data/\n", "/data/..", "/..", "/", "/proc/x", "/dev/shm/in", "/etc/hosts", "/usr/bin",
		"/" + strings.Repeat("x", 5000), strings.Repeat("/x", 2500), "/var/run/x", "/orca", "/data/\u202ex", "/data/\xff",
	}
	taken := []string{"/data/a b", "/data/a", "/data/$(id)", "/data/-a", "/data/..a", "/data/.git", "/etcetera", "/var/running", "/data/ünï 🐋"}
	judge := func(path string) map[string]policy.Violations {
		out := map[string]policy.Violations{}
		for _, r := range []resource{file("file", path), repository("repository", readWrite, path)} {
			out[r.Name], _ = policy.SessionAdmission(session(r), effective(t, ""))
		}
		return out
	}
	for _, path := range refused {
		for kind, got := range judge(path) {
			if diff := cmp.Diff([]string{"InvalidSpec"}, reasons(got)); diff != "" {
				t.Errorf("%s at %.40q (-want +got):\n%s", kind, path, diff)
			}
		}
	}
	for _, path := range taken {
		for kind, got := range judge(path) {
			if len(got) > 0 {
				t.Errorf("%s at %.40q is refused: %s", kind, path, got.Message(statusLimit))
			}
		}
	}
}

// P27: where a path is compared by segment, a name that begins as another is
// another.
func TestP27TheReservedFolderIsComparedBySegment(t *testing.T) {
	cases := map[string]bool{
		"/workspace/skills": true, "/workspace/skills/a": true, "/workspace": true,
		"/workspace/skills-x": false, "/workspace/skills.d/a": false, "/workspace/skill": false, "/workspace/Skills": false,
		"/workspace/\uff53kills": false, "/workspaces": false, "/data/workspace/skills": false,
	}
	for path, reserved := range cases {
		for _, r := range []resource{file("f", path), repository("r", readOnly, path), repository("w", readWrite, path)} {
			got, _ := policy.SessionAdmission(session(r), effective(t, ""))
			if is := slices.Equal(reasons(got), []string{"ReservedRoot"}); is != reserved || (!is && len(got) > 0) {
				t.Errorf("%s at %s: %v, want reserved %t", r.Name, path, reasons(got), reserved)
			}
		}
	}
}
