// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	orcatesting "github.com/orca-agent-engine/orca-operator/controllers/internal/testing"
	"github.com/orca-agent-engine/orca-operator/controllers/policy"
	"github.com/orca-agent-engine/orca-operator/controllers/settings"
)

// effective returns what holds in a namespace of a deployment with the given
// lines in its settings file.
func effective(t testing.TB, lines string) settings.Effective {
	t.Helper()
	return orcatesting.SettingsWithoutCommand(t, lines).ForNamespace("default")
}

// file returns a file at the given path, or at its default one.
func file(name, mountPath string) orcav1alpha1.SessionResource {
	return orcav1alpha1.SessionResource{Name: name, File: orcav1alpha1.FileResource{
		FileID:    "file_" + name,
		Source:    orcav1alpha1.FileSource{ConfigMapKeyRef: orcav1alpha1.ConfigMapKeyReference{Name: "inputs", Key: name}},
		MountPath: mountPath,
	}}
}

func files(count int) []orcav1alpha1.SessionResource {
	var out []orcav1alpha1.SessionResource
	for i := range count {
		out = append(out, file(fmt.Sprintf("file-%03d", i), ""))
	}
	return out
}

func session(resources ...orcav1alpha1.SessionResource) *orcav1alpha1.OrcaSession {
	return &orcav1alpha1.OrcaSession{Spec: orcav1alpha1.OrcaSessionSpec{Command: []string{"agent"}, Resources: resources}}
}

// summary is a violation as a table shows it.
type summary struct{ Reason, Resource, Field string }

func summaries(violations policy.Violations) []summary {
	var out []summary
	for _, v := range violations {
		out = append(out, summary{v.Reason, v.Resource, v.Cause.Field})
	}
	return out
}

const firstPath = "spec.resources[0].file.mountPath"

func TestSession(t *testing.T) {
	at := func(path string) *orcav1alpha1.OrcaSession { return session(file("a", path)) }
	refused := func(reasons ...string) []summary {
		var out []summary
		for _, reason := range reasons {
			out = append(out, summary{reason, "a", firstPath})
		}
		return out
	}
	cases := map[string]struct {
		settings string
		session  *orcav1alpha1.OrcaSession
		want     []summary
	}{
		"nothing but a command":      {session: session()},
		"files at their usual paths": {session: session(file("a", ""), file("b", ""))},
		"a file at a path of its own, below a directory that is not there": {session: at("/data/in/a")},
		"a file in the workspace":           {session: at("/workspace/a")},
		"a file among the memory stores":    {session: at("/mnt/memory/notes/a")},
		"a file beside the reserved folder": {session: at("/workspace/skills-x")},
		"a file beside the outputs":         {session: at("/mnt/session/outputs2")},
		"a file beside the scratch folder":  {session: at("/tmp2/a")},

		"no command anywhere": {
			session: &orcav1alpha1.OrcaSession{},
			want:    []summary{{"InvalidSpec", "", "spec.command"}},
		},
		"args alone are no command": {
			session: &orcav1alpha1.OrcaSession{Spec: orcav1alpha1.OrcaSessionSpec{Args: []string{"run.py"}}},
			want:    []summary{{"InvalidSpec", "", "spec.command"}},
		},
		"the deployment's command":    {settings: "  command: [agent]", session: &orcav1alpha1.OrcaSession{}},
		"no command in Separate mode": {settings: "mode: Separate", session: &orcav1alpha1.OrcaSession{}},

		"as many files as the deployment lets": {session: session(files(100)...)},
		"one file more": {
			session: session(files(101)...),
			want:    []summary{{"LimitExceeded", "", "spec.resources"}},
		},
		"as many files as a lower limit lets": {settings: "limits: {files: 2}", session: session(files(2)...)},
		"one file more than a lower limit": {
			settings: "limits: {files: 2}",
			session:  session(files(3)...),
			want:     []summary{{"LimitExceeded", "", "spec.resources"}},
		},
		"as many files as a workspace's limit lets": {
			settings: "workspaces: [{namespaces: [default], limits: {files: 101}}]",
			session:  session(files(101)...),
		},

		"the reserved folder itself":        {session: at("/workspace/skills"), want: refused("ReservedRoot", "MountConflict")},
		"a file in the reserved folder":     {session: at("/workspace/skills/a/b"), want: refused("ReservedRoot")},
		"a file above the reserved folder":  {session: at("/workspace"), want: refused("ReservedRoot", "MountConflict")},
		"a file in the outputs":             {session: at("/mnt/session/outputs/a"), want: refused("OverlappingRoots")},
		"the outputs themselves":            {session: at("/mnt/session/outputs"), want: refused("OverlappingRoots")},
		"a file above the outputs":          {session: at("/mnt/session"), want: refused("OverlappingRoots", "MountConflict")},
		"a file in the scratch folder":      {session: at("/tmp/a"), want: refused("OverlappingRoots")},
		"a file in the home directory":      {session: at("/tmp/home/a"), want: refused("OverlappingRoots")},
		"the folder of the memory stores":   {session: at("/mnt/memory"), want: refused("MountConflict")},
		"the folder of the attached files":  {session: at("/mnt/session/uploads"), want: refused("MountConflict")},
		"a file above every folder":         {session: at("/mnt"), want: refused("OverlappingRoots", "MountConflict")},
		"a file beside the memory stores":   {session: at("/mnt/memory2")},
		"a file in the uploads":             {session: at("/mnt/session/uploads/a")},
		"a relative path":                   {session: at("data/a"), want: refused("InvalidSpec")},
		"the root":                          {session: at("/"), want: refused("InvalidSpec")},
		"a trailing slash":                  {session: at("/workspace/a/"), want: refused("InvalidSpec")},
		"two slashes":                       {session: at("/workspace//a"), want: refused("InvalidSpec")},
		"a dot":                             {session: at("/workspace/./a"), want: refused("InvalidSpec")},
		"a way up":                          {session: at("/workspace/../etc/passwd"), want: refused("InvalidSpec")},
		"a colon":                           {session: at("/data/a:b"), want: refused("InvalidSpec")},
		"a newline":                         {session: at("/data/a\nb"), want: refused("InvalidSpec")},
		"a character that nobody sees":      {session: at("/data/a\u200bb"), want: refused("InvalidSpec")},
		"a place of the operating system":   {session: at("/etc/passwd"), want: refused("InvalidSpec")},
		"a place of the kernel":             {session: at("/proc/self/environ"), want: refused("InvalidSpec")},
		"shared memory":                     {session: at("/dev/shm/a"), want: refused("InvalidSpec")},
		"a place of the operator":           {session: at("/orca/bin/orca-sandbox"), want: refused("InvalidSpec")},
		"a segment of more than 255 bytes":  {session: at("/data/" + strings.Repeat("a", 256)), want: refused("InvalidSpec")},
		"a path of more than 1,024 bytes":   {session: at(strings.Repeat("/abcdefg", 129)), want: refused("InvalidSpec")},
		"a path of 1,024 bytes is just fit": {session: at(strings.Repeat("/abcdefg", 128))},

		"two files at one path": {
			session: session(file("a", "/data/x"), file("b", "/data/x")),
			want:    []summary{{"MountConflict", "b", "spec.resources[1].file.mountPath"}},
		},
		"three files at one path": {
			session: session(file("a", "/data/x"), file("b", "/data/x"), file("c", "/data/x")),
			want: []summary{
				{"MountConflict", "b", "spec.resources[1].file.mountPath"},
				{"MountConflict", "c", "spec.resources[2].file.mountPath"},
			},
		},
		"two files at paths that are none": {
			session: session(file("a", "x"), file("b", "x")),
			want: []summary{
				{"InvalidSpec", "a", "spec.resources[0].file.mountPath"},
				{"InvalidSpec", "b", "spec.resources[1].file.mountPath"},
			},
		},
		"a file at another's usual path": {
			session: session(file("a", ""), file("b", "/mnt/session/uploads/file_a/a")),
			want:    []summary{{"MountConflict", "b", "spec.resources[1].file.mountPath"}},
		},
		"paths that differ in case":                        {session: session(file("a", "/data/x"), file("b", "/data/X"))},
		"a file below another, which setup has to look at": {session: session(file("a", "/data/x"), file("b", "/data/x/y"))},

		"several broken rules come in the order of the rules, then of the fields": {
			settings: "limits: {files: 2}",
			session:  session(file("a", "/tmp/a"), file("b", "/workspace/skills"), file("c", "c")),
			want: []summary{
				{"LimitExceeded", "", "spec.resources"},
				{"InvalidSpec", "c", "spec.resources[2].file.mountPath"},
				{"ReservedRoot", "b", "spec.resources[1].file.mountPath"},
				{"OverlappingRoots", "a", "spec.resources[0].file.mountPath"},
				{"MountConflict", "b", "spec.resources[1].file.mountPath"},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := policy.Session(tc.session, effective(t, tc.settings))
			if diff := cmp.Diff(tc.want, summaries(got)); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSessionFileNames(t *testing.T) {
	const (
		id   = "spec.resources[0].file.fileID"
		name = "spec.resources[0].file.filename"
		key  = "spec.resources[0].file.source.configMapKeyRef.key"
	)
	cases := map[string]struct {
		id, filename, key  string
		field, value, rule string
	}{
		"a usual name":                      {filename: "run.py"},
		"a name with spaces inside":         {filename: "my report.txt"},
		"the key where there is no name":    {key: ".hidden"},
		"a key beside a name":               {filename: "run.py", key: "-rf"},
		"a name that is a path":             {filename: "a/b", field: name, value: "a/b", rule: "must not contain '/'"},
		"a way up":                          {filename: "..", field: name, value: "..", rule: "must not have '.' or '..' as a segment"},
		"a repository's own folder":         {filename: ".git", field: name, value: ".git", rule: "must not be '.git'"},
		"a name that reads as an option":    {filename: "-rf", field: name, value: "-rf", rule: "must not start with '-'"},
		"a space at the end":                {filename: "a ", field: name, value: "a ", rule: "must not start or end with a space"},
		"an escape sequence for a terminal": {filename: "a\x1b[31m", field: name, value: "a\x1b[31m", rule: "must not contain control or format characters"},
		"a key that is no usable name":      {key: "-rf", field: key, value: "-rf", rule: "must not start with '-'"},
		"an id that leads out":              {id: "..", field: id, value: "..", rule: "must not have '.' or '..' as a segment"},
		"an id that is a path":              {id: "a/b", filename: ".git", field: id, value: "a/b", rule: "must not contain '/'"},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			resource := file("a", "")
			resource.File.Filename = tc.filename
			if tc.id != "" {
				resource.File.FileID = tc.id
			}
			if tc.key != "" {
				resource.File.Source.ConfigMapKeyRef.Key = tc.key
			}
			got := policy.Session(session(resource), effective(t, ""))
			if tc.rule == "" {
				if len(got) > 0 {
					t.Errorf("refused: %s", got.Message(statusLimit))
				}
				return
			}
			want := policy.Violations{{
				Reason: orcav1alpha1.ReasonInvalidSpec, Resource: "a",
				Cause: &field.Error{Type: field.ErrorTypeInvalid, Field: tc.field, BadValue: tc.value, Detail: tc.rule},
			}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFilesOfTheArtifactStoreAreRefused(t *testing.T) {
	resource := orcav1alpha1.SessionResource{Name: "a", File: orcav1alpha1.FileResource{
		FileID: "file_a", Source: orcav1alpha1.FileSource{Artifact: &orcav1alpha1.ArtifactSource{}},
	}}
	want := []summary{{"FileUnavailable", "a", "spec.resources[0].file.source.artifact"}}
	if diff := cmp.Diff(want, summaries(policy.Session(session(resource), effective(t, "")))); diff != "" {
		t.Errorf("violations (-want +got):\n%s", diff)
	}
	refused, _ := policy.SessionAdmission(session(resource), effective(t, ""))
	if diff := cmp.Diff(want, summaries(refused)); diff != "" {
		t.Errorf("violations at admission (-want +got):\n%s", diff)
	}
}
