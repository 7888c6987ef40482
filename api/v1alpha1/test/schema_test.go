// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package test

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A session and an environment that set every field.
const (
	fullSession = `
environmentRef: {name: analysis}
desiredState: Idle
command: [bash]
args: ['']
env: [{name: A, value: ''}]
ttlSecondsAfterEnded: 0
resources:
- name: file
  file: {fileID: f, filename: f, mountPath: /f, source: {configMapKeyRef: {name: c, key: k}}}
- name: store
  memoryStore: {storeID: m, storeName: m, access: ReadWrite, source: {persistentVolumeClaim: {claimName: c}}}
- name: repository
  gitRepository:
    url: https://git.test/r
    ref: {branch: b}
    access: ReadWrite
    mountPath: /r
    credentials: {secretRef: {name: s}}
    depth: 1
    submodules: Recursive
    lfs: Fetch
`
	fullEnvironment = `
image: ''
config:
  packages: ['']
  networking: {type: Limited, allowedHosts: [a]}
`
)

func complete(t *testing.T, kind string) *unstructured.Unstructured {
	t.Helper()
	if kind == "OrcaEnvironment" {
		return environment(t, fullEnvironment)
	}
	return session(t, fullSession)
}

func TestEveryFieldIsAccepted(t *testing.T) {
	for _, kind := range []string{"OrcaEnvironment", "OrcaSession"} {
		t.Run(kind, func(t *testing.T) {
			expect(t, api.Create(t.Context(), complete(t, kind)))
		})
	}
}

func TestLengths(t *testing.T) {
	tests := map[string]struct {
		kind string
		most int
		// emptyFits says that the empty string is a value, too.
		emptyFits bool
	}{
		"spec.environmentRef.name":                          {"OrcaSession", 253, false},
		"spec.command.0":                                    {"OrcaSession", 32768, true},
		"spec.args.0":                                       {"OrcaSession", 32768, true},
		"spec.env.0.name":                                   {"OrcaSession", 256, false},
		"spec.env.0.value":                                  {"OrcaSession", 32768, true},
		"spec.resources.0.name":                             {"OrcaSession", 63, false},
		"spec.resources.0.file.fileID":                      {"OrcaSession", 128, false},
		"spec.resources.0.file.filename":                    {"OrcaSession", 255, false},
		"spec.resources.0.file.mountPath":                   {"OrcaSession", 1024, false},
		"spec.resources.0.file.source.configMapKeyRef.name": {"OrcaSession", 253, false},
		"spec.resources.0.file.source.configMapKeyRef.key":  {"OrcaSession", 253, false},
		"spec.resources.1.memoryStore.storeID":              {"OrcaSession", 128, false},
		"spec.resources.1.memoryStore.storeName":            {"OrcaSession", 1024, false},
		"spec.resources.1.memoryStore.source.persistentVolumeClaim.claimName": {"OrcaSession", 253, false},
		"spec.resources.2.gitRepository.url":                                  {"OrcaSession", 2048, false},
		"spec.resources.2.gitRepository.ref.branch":                           {"OrcaSession", 255, false},
		"spec.resources.2.gitRepository.mountPath":                            {"OrcaSession", 1024, false},
		"spec.resources.2.gitRepository.credentials.secretRef.name":           {"OrcaSession", 253, false},
		"spec.image":                            {"OrcaEnvironment", 1024, true},
		"spec.config.packages.0":                {"OrcaEnvironment", 256, true},
		"spec.config.networking.allowedHosts.0": {"OrcaEnvironment", 253, false},
	}
	for path, tc := range tests {
		t.Run(path, func(t *testing.T) {
			refusal := written(path) + ": Too long: may not be more than " + fmt.Sprint(tc.most) + " bytes"
			expect(t, createWith(t, tc.kind, path, strings.Repeat("a", tc.most)))
			expect(t, createWith(t, tc.kind, path, strings.Repeat("a", tc.most+1)), refusal)
			if tc.emptyFits {
				expect(t, createWith(t, tc.kind, path, ""))
			} else if err := createWith(t, tc.kind, path, ""); !refuses(t, err, written(path)) {
				t.Errorf("the empty string is accepted or refused elsewhere: %v", err)
			}
		})
	}
}

func TestRefsOfOtherKindsHaveTheirLengths(t *testing.T) {
	for _, kind := range []string{"branch", "tag", "commit"} {
		t.Run(kind, func(t *testing.T) {
			const path = "spec.resources.2.gitRepository.ref"
			expect(t, createWith(t, "OrcaSession", path, map[string]any{kind: strings.Repeat("a", 255)}))
			expect(t, createWith(t, "OrcaSession", path, map[string]any{kind: strings.Repeat("a", 256)}),
				written(path)+"."+kind+": Too long: may not be more than 255 bytes")
			expect(t, createWith(t, "OrcaSession", path, map[string]any{kind: ""}),
				written(path)+"."+kind+`: Invalid value: ""`)
		})
	}
}

func TestCounts(t *testing.T) {
	tests := map[string]struct {
		kind string
		most int
		item func(int) any
	}{
		"spec.command": {"OrcaSession", 256, func(int) any { return "a" }},
		"spec.args":    {"OrcaSession", 256, func(int) any { return "a" }},
		"spec.env":     {"OrcaSession", 256, func(i int) any { return map[string]any{"name": fmt.Sprint("A", i)} }},
		"spec.resources": {"OrcaSession", 1024, func(i int) any {
			file := map[string]any{"fileID": "a", "source": map[string]any{"artifact": map[string]any{}}}
			return map[string]any{"name": fmt.Sprint("a", i), "file": file}
		}},
		"spec.config.packages":                {"OrcaEnvironment", 256, func(int) any { return "a" }},
		"spec.config.networking.allowedHosts": {"OrcaEnvironment", 256, func(int) any { return "a" }},
	}
	for path, tc := range tests {
		t.Run(path, func(t *testing.T) {
			items := make([]any, tc.most+1)
			for i := range items {
				items[i] = tc.item(i)
			}
			expect(t, createWith(t, tc.kind, path, []any{}))
			expect(t, createWith(t, tc.kind, path, items[:tc.most]))
			expect(t, createWith(t, tc.kind, path, items),
				fmt.Sprintf("%s: Too many: %d: must have at most %d items", path, tc.most+1, tc.most))
		})
	}
}

func TestValues(t *testing.T) {
	tests := map[string]struct {
		kind              string
		accepted, refused []any
	}{
		"spec.environmentRef.name":     {"OrcaSession", []any{"a.b-c.1"}, []any{"A", "-a", "a_b", "a..b", "a/b"}},
		"spec.desiredState":            {"OrcaSession", []any{"Running", "Idle", "Ended"}, []any{"running", "Paused", ""}},
		"spec.ttlSecondsAfterEnded":    {"OrcaSession", []any{int64(0), int64(1<<31 - 1)}, []any{int64(-1), int64(1 << 31)}},
		"spec.command.0":               {"OrcaSession", []any{"a b\n'\"", "ä"}, []any{"a\x00"}},
		"spec.args.0":                  {"OrcaSession", []any{"$(HOME)", "\t"}, []any{"\x00"}},
		"spec.env.0.name":              {"OrcaSession", []any{"a.b", "1 a-~"}, []any{"A=B", "=", "ä", "a\n"}},
		"spec.env.0.value":             {"OrcaSession", []any{"a=b\nc"}, []any{"\x00a"}},
		"spec.resources.0.name":        {"OrcaSession", []any{"a", "0-a"}, []any{"A", "a.b", "-a", "a-"}},
		"spec.resources.0.file.fileID": {"OrcaSession", []any{"A", "0._-"}, []any{".a", "-a", "_a", "a/b", "ä", "a\n"}},
		"spec.resources.0.file.source.configMapKeyRef.name": {"OrcaSession", []any{"a.b"}, []any{"A", "a/b"}},
		"spec.resources.0.file.source.configMapKeyRef.key":  {"OrcaSession", []any{".a", "A_b-c.d", "a..b"}, []any{".", "..", "..a", "a/b", "a b"}},
		"spec.resources.1.memoryStore.storeID":              {"OrcaSession", []any{"A", "0_-"}, []any{"a.b", "_a", "-a", "a/b"}},
		"spec.resources.1.memoryStore.access":               {"OrcaSession", []any{"ReadOnly", "ReadWrite"}, []any{"read_write", ""}},
		"spec.resources.2.gitRepository.access":             {"OrcaSession", []any{"ReadOnly", "ReadWrite"}, []any{"readOnly", ""}},
		"spec.resources.2.gitRepository.depth":              {"OrcaSession", []any{int64(1), int64(1<<31 - 1)}, []any{int64(0), int64(-1), int64(1 << 31)}},
		"spec.resources.2.gitRepository.submodules":         {"OrcaSession", []any{"None", "Recursive"}, []any{"Fetch", ""}},
		"spec.resources.2.gitRepository.lfs":                {"OrcaSession", []any{"Skip", "Fetch"}, []any{"None", ""}},
		"spec.config.networking.type":                       {"OrcaEnvironment", []any{"Limited", "Unrestricted"}, []any{"limited", ""}},
	}
	for path, tc := range tests {
		for _, value := range tc.accepted {
			t.Run(fmt.Sprintf("%s takes %#v", path, value), func(t *testing.T) {
				expect(t, createWith(t, tc.kind, path, value))
			})
		}
		for _, value := range tc.refused {
			t.Run(fmt.Sprintf("%s refuses %#v", path, value), func(t *testing.T) {
				if err := createWith(t, tc.kind, path, value); !refuses(t, err, written(path)) {
					t.Errorf("accepted or refused elsewhere: %v", err)
				}
			})
		}
	}
}

func TestWrongTypes(t *testing.T) {
	tests := map[string]struct {
		kind  string
		value any
		want  string
	}{
		"spec.command":                          {"OrcaSession", "bash", `must be of type array: "string"`},
		"spec.command.0":                        {"OrcaSession", int64(1), `must be of type string: "integer"`},
		"spec.env":                              {"OrcaSession", "A=b", `must be of type array: "string"`},
		"spec.env.0.value":                      {"OrcaSession", int64(1), `must be of type string: "integer"`},
		"spec.ttlSecondsAfterEnded":             {"OrcaSession", "1h", `must be of type integer: "string"`},
		"spec.resources.0":                      {"OrcaSession", "a", `must be of type object: "string"`},
		"spec.resources.2.gitRepository.ref":    {"OrcaSession", "main", `must be of type object: "string"`},
		"spec.resources.2.gitRepository.depth":  {"OrcaSession", 1.5, `must be of type int32: "float64"`},
		"spec.image":                            {"OrcaEnvironment", []any{}, `must be of type string: "array"`},
		"spec.config.packages":                  {"OrcaEnvironment", "git", `must be of type array: "string"`},
		"spec.config.networking":                {"OrcaEnvironment", "Limited", `must be of type object: "string"`},
		"spec.config.networking.allowedHosts.0": {"OrcaEnvironment", true, `must be of type string: "boolean"`},
	}
	for path, tc := range tests {
		t.Run(path, func(t *testing.T) {
			err := createWith(t, tc.kind, path, tc.value)
			if !refuses(t, err, written(path)) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("want a refusal of %s with %q, got %v", written(path), tc.want, err)
			}
		})
	}
}

func TestMissingFields(t *testing.T) {
	tests := map[string]struct{ kind, spec, want string }{
		"a session without an environment":         {"OrcaSession", "{}", "spec.environmentRef: Required value"},
		"a reference without a name":               {"OrcaSession", "environmentRef: {}", "spec.environmentRef.name: Required value"},
		"a resource without a name":                {"OrcaSession", "{environmentRef: {name: a}, resources: [{file: {fileID: a, source: {artifact: {}}}}]}", "spec.resources[0].name: Required value"},
		"a file without an id":                     {"OrcaSession", "{environmentRef: {name: a}, resources: [{name: a, file: {source: {artifact: {}}}}]}", "spec.resources[0].file.fileID: Required value"},
		"a file without a source":                  {"OrcaSession", "{environmentRef: {name: a}, resources: [{name: a, file: {fileID: a}}]}", "spec.resources[0].file.source: Required value"},
		"a ConfigMap without a key":                {"OrcaSession", "{environmentRef: {name: a}, resources: [{name: a, file: {fileID: a, source: {configMapKeyRef: {name: a}}}}]}", "spec.resources[0].file.source.configMapKeyRef.key: Required value"},
		"a memory store without an id":             {"OrcaSession", "{environmentRef: {name: a}, resources: [{name: a, memoryStore: {source: {persistentVolumeClaim: {claimName: a}}}}]}", "spec.resources[0].memoryStore.storeID: Required value"},
		"a claim without a name":                   {"OrcaSession", "{environmentRef: {name: a}, resources: [{name: a, memoryStore: {storeID: a, source: {persistentVolumeClaim: {}}}}]}", "spec.resources[0].memoryStore.source.persistentVolumeClaim.claimName: Required value"},
		"a repository without a URL":               {"OrcaSession", "{environmentRef: {name: a}, resources: [{name: a, gitRepository: {}}]}", "spec.resources[0].gitRepository.url: Required value"},
		"credentials without a Secret":             {"OrcaSession", "{environmentRef: {name: a}, resources: [{name: a, gitRepository: {url: a, credentials: {}}}]}", "spec.resources[0].gitRepository.credentials.secretRef: Required value"},
		"a variable without a name":                {"OrcaSession", "{environmentRef: {name: a}, env: [{value: a}]}", "spec.env[0].name: Required value"},
		"an environment's networking without type": {"OrcaEnvironment", "config: {networking: {}}", "spec.config.networking.type: Required value"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if err := api.Create(t.Context(), object(t, tc.kind, tc.spec)); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("want a refusal with %q, got %v", tc.want, err)
			}
		})
	}
}

func TestUnknownFieldIsRefused(t *testing.T) {
	tests := map[string]struct{ kind, path string }{
		"in a session":              {"OrcaSession", "spec.image"},
		"in a resource":             {"OrcaSession", "spec.resources.0.path"},
		"in an artifact":            {"OrcaSession", "spec.resources.0.file.source.artifact"},
		"a path of a memory store":  {"OrcaSession", "spec.resources.1.memoryStore.mountPath"},
		"a resource limit":          {"OrcaSession", "spec.limits"},
		"in an environment":         {"OrcaEnvironment", "spec.packages"},
		"in an environment's hosts": {"OrcaEnvironment", "spec.config.networking.deniedHosts"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := createWith(t, tc.kind, tc.path, map[string]any{"unknown": "a"})
			want := `unknown field "` + written(tc.path)
			if !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), want) {
				t.Errorf("want a bad request with %q, got %v", want, err)
			}
		})
	}
}

// createWith creates a complete object with another value at one path.
func createWith(t *testing.T, kind, path string, value any) error {
	t.Helper()
	o := complete(t, kind)
	put(o.Object, path, value)
	return api.Create(t.Context(), o)
}

// written is how the API server writes a path: with indexes in brackets.
func written(path string) string {
	var out strings.Builder
	for i, key := range strings.Split(path, ".") {
		switch {
		case strings.Trim(key, "0123456789") == "":
			out.WriteString("[" + key + "]")
		case i > 0:
			out.WriteString("." + key)
		default:
			out.WriteString(key)
		}
	}
	return out.String()
}

// refuses says whether every cause of a refusal is of one field.
func refuses(t *testing.T, err error, path string) bool {
	t.Helper()
	got := causes(t, err)
	for _, cause := range got {
		// The API server gives no field, but a text, where a number has too many bits.
		if !strings.HasPrefix(cause, path+":") && !strings.HasSuffix(cause, " in "+path) {
			return false
		}
	}
	return len(got) > 0
}
