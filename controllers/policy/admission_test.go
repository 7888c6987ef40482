// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/policy"
)

func reasons(violations policy.Violations) []string {
	var out []string
	for _, v := range violations {
		out = append(out, v.Reason)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestAdmissionRefusesOrWarns(t *testing.T) {
	cases := map[string]struct {
		settings  string
		resources []resource
		refused   []string
		warnings  []string
	}{
		"nothing to say":        {resources: []resource{file("a", ""), store("s", readWrite, ""), repository("r", readOnly, "")}},
		"a reserved root":       {resources: []resource{file("a", "/workspace/skills/a")}, refused: []string{"ReservedRoot"}},
		"F24 one file too many": {settings: "limits: {files: 1}", resources: []resource{file("a", ""), file("b", "")}, refused: []string{"LimitExceeded"}},
		"a ReadWrite repository": {
			resources: []resource{repository("app", readWrite, ""), repository("lib", readWrite, ""), repository("x", readOnly, "")},
			warnings:  []string{"what is not pushed from a ReadWrite repository is lost when the session goes idle: app, lib"},
		},
		"P28 one claim, read-only": {
			resources: sharing(readOnly, readOnly),
			warnings:  []string{"memory stores, all ReadOnly, have one claim: s1 with s0"},
		},
		"read-only paths that overlap": {
			resources: []resource{repository("app", readOnly, ""), file("f", "/workspace/app/f"), file("g", "/workspace/app/g")},
			warnings:  []string{"read-only paths overlap; if their contents clash, setup fails: f with app, g with app"},
		},
		"two files on one path": {
			resources: []resource{file("a", "/data/x"), file("b", "/data/x")},
			warnings:  []string{"the session will not start (MountConflict): files on one path: b with a"},
		},
		"F13 two repositories in one directory": {
			resources: []resource{repository("a", readOnly, "/srv"), repository("b", readOnly, "/srv")},
			warnings:  []string{"the session will not start (MountConflict): repositories in one directory: b with a"},
		},
		"F13 the same, writable": {
			resources: []resource{repository("a", readOnly, "/srv"), repository("b", readWrite, "/srv")},
			refused:   []string{"OverlappingRoots"},
			warnings:  []string{"what is not pushed from a ReadWrite repository is lost when the session goes idle: b"},
		},
		"a file in a memory store": {
			resources: []resource{store("s", readOnly, "n"), file("f", "/mnt/memory/n/f")},
			warnings:  []string{"the session will not start (MountConflict): a resource inside a memory store: f with s"},
		},
		"a file where every sandbox has a directory": {
			resources: []resource{file("f", "/mnt/memory")},
			warnings:  []string{"the session will not start (MountConflict): a file where every sandbox has a directory: f"},
		},
		"a file that is both in a store and on another's path": {
			resources: []resource{store("s", readOnly, "n"), file("f", "/mnt/memory/n/f"), file("g", "/mnt/memory/n/f")},
			warnings: []string{
				"the session will not start (MountConflict): files on one path: g with f",
				"the session will not start (MountConflict): a resource inside a memory store: f with s, g with s",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			deployment := effective(t, tc.settings)
			refused, warnings := policy.SessionAdmission(session(tc.resources...), deployment)
			if diff := cmp.Diff(tc.refused, reasons(refused)); diff != "" {
				t.Errorf("refused (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.warnings, warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

// P31: what has no effect in a mode is refused, not dropped.
func TestP31NoAgentRunsInSeparateMode(t *testing.T) {
	s := session()
	s.Spec.Args = []string{"x"}
	s.Spec.Env = []orcav1alpha1.EnvVar{{Name: "LANG"}}
	got, warnings := policy.SessionAdmission(s, effective(t, "mode: Separate"))
	want := []summary{{"InvalidSpec", "", "spec.command"}, {"InvalidSpec", "", "spec.args"}, {"InvalidSpec", "", "spec.env"}}
	if diff := cmp.Diff(want, summaries(got)); diff != "" {
		t.Errorf("violations (-want +got):\n%s", diff)
	}
	if len(warnings) > 0 {
		t.Errorf("warnings %q", warnings)
	}
	if got := policy.Session(s, effective(t, "mode: Separate")); len(got) != 3 {
		t.Errorf("before a sandbox: %+v", summaries(got))
	}
}

func TestWarningsAreShortHoweverManyResourcesTheyAreAbout(t *testing.T) {
	for _, count := range []int{2, 3, 10, 1024} {
		var resources []resource
		for i := range count {
			name := fmt.Sprintf("%s-%04d", strings.Repeat("n", 58), i)
			resources = append(resources, file(name, "/data/x"), repository(name, readWrite, ""))
		}
		_, warnings := policy.SessionAdmission(session(resources...), effective(t, ""))
		if len(warnings) != 2 {
			t.Fatalf("%d of each: warnings %q", count, warnings)
		}
		for _, warning := range warnings {
			names := strings.Count(warning, "-0") - strings.Count(warning, " with ")
			told := count
			if strings.HasPrefix(warning, "the session") {
				told = count - 1 // The first one is where it may be.
			}
			if more := fmt.Sprintf(" and %d more", told-names); len(warning) > 256 || names < 1 || (told > names) != strings.HasSuffix(warning, more) {
				t.Errorf("%d of each: %d bytes, %d names: %s", count, len(warning), names, warning)
			}
		}
	}
}

func TestCauses(t *testing.T) {
	bad := func(count int) policy.Violations {
		return policy.Session(session(many(count, func(name string) resource { return file(name, "/tmp/"+name+strings.Repeat("x", 100)) })...), effective(t, ""))
	}
	for count, want := range map[int]int{0: 0, 1: 1, 15: 15, 16: 16, 17: 16, 100: 16} {
		causes := bad(count).Causes()
		if len(causes) != want {
			t.Fatalf("%d violations: %d causes, want %d", count, len(causes), want)
		}
		if count <= 16 {
			continue
		}
		if got, want := causes[15].Error(), fmt.Sprintf("spec: Invalid value: and %d more", count-15); got != want {
			t.Errorf("%d violations: the last cause is %q, want %q", count, got, want)
		}
	}
	want := `spec.resources[0].file.mountPath: Invalid value: "/tmp/r0` + strings.Repeat("x", 70) + `…": resource "r0": must not overlap '/tmp', which is writable (OverlappingRoots)`
	if got := bad(1).Causes()[0].Error(); got != want {
		t.Errorf("cause\n%s\nwant\n%s", got, want)
	}
	none := policy.Session(&orcav1alpha1.OrcaSession{}, effective(t, "")).Causes()
	if got, want := none[0].Error(), "spec.command: Required value: the deployment has no command of its own (InvalidSpec)"; got != want {
		t.Errorf("cause\n%s\nwant\n%s", got, want)
	}
}
