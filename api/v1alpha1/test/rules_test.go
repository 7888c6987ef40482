// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package test

import (
	"fmt"
	"strings"
	"testing"
)

func TestSessionRules(t *testing.T) {
	tests := map[string]struct {
		spec string
		want []string
	}{
		"a resource of one kind is accepted": {
			spec: "resources: [{name: a, file: {fileID: a, source: {artifact: {}}}}]",
		},
		"a resource of no kind is refused": {
			spec: "resources: [{name: a}]",
			want: []string{"spec.resources[0]: Invalid value: exactly one of the fields in [file memoryStore gitRepository] must be set"},
		},
		"a resource of two kinds is refused": {
			spec: "resources: [{name: a, file: {fileID: a, source: {artifact: {}}}, gitRepository: {url: 'https://git.test/a'}}]",
			want: []string{"spec.resources[0]: Invalid value: exactly one of the fields in [file memoryStore gitRepository] must be set"},
		},
		"a file from a ConfigMap is accepted": {
			spec: "resources: [{name: a, file: {fileID: a, source: {configMapKeyRef: {name: a, key: b}}}}]",
		},
		"a file from nowhere is refused": {
			spec: "resources: [{name: a, file: {fileID: a, source: {}}}]",
			want: []string{"spec.resources[0].file.source: Invalid value: exactly one of the fields in [configMapKeyRef artifact] must be set"},
		},
		"a file from two places is refused": {
			spec: "resources: [{name: a, file: {fileID: a, source: {artifact: {}, configMapKeyRef: {name: a, key: b}}}}]",
			want: []string{"spec.resources[0].file.source: Invalid value: exactly one of the fields in [configMapKeyRef artifact] must be set"},
		},
		"a memory store on a claim is accepted": {
			spec: "resources: [{name: a, memoryStore: {storeID: a, source: {persistentVolumeClaim: {claimName: a}}}}]",
		},
		"a memory store on nothing is refused": {
			spec: "resources: [{name: a, memoryStore: {storeID: a, source: {}}}]",
			want: []string{"spec.resources[0].memoryStore.source: Invalid value: exactly one of the fields in [persistentVolumeClaim] must be set"},
		},
		"a ref of nothing is accepted": {
			spec: "resources: [{name: a, gitRepository: {url: 'https://git.test/a', ref: {}}}]",
		},
		"a ref of a branch is accepted": {
			spec: "resources: [{name: a, gitRepository: {url: 'https://git.test/a', ref: {branch: b}}}]",
		},
		"a ref of a branch and a tag is refused": {
			spec: "resources: [{name: a, gitRepository: {url: 'https://git.test/a', ref: {branch: b, tag: c}}}]",
			want: []string{"spec.resources[0].gitRepository.ref: Invalid value: at most one of the fields in [branch tag commit] may be set"},
		},
		"a ref of a tag and a commit is refused": {
			spec: "resources: [{name: a, gitRepository: {url: 'https://git.test/a', ref: {tag: b, commit: c}}}]",
			want: []string{"spec.resources[0].gitRepository.ref: Invalid value: at most one of the fields in [branch tag commit] may be set"},
		},
		"8 memory stores and 8 repositories are accepted": {
			spec: "resources:\n" + stores(8) + repositories(8),
		},
		"9 memory stores are refused": {
			spec: "resources:\n" + stores(9),
			want: []string{"spec.resources: Invalid value: must have at most 8 memory stores"},
		},
		"9 repositories are refused": {
			spec: "resources:\n" + repositories(9),
			want: []string{"spec.resources: Invalid value: must have at most 8 repositories"},
		},
		"9 of both are refused for both": {
			spec: "resources:\n" + stores(9) + repositories(9),
			want: []string{"must have at most 8 memory stores", "must have at most 8 repositories"},
		},
		"a variable named like the platform's but in small letters is accepted": {
			spec: "env: [{name: home, value: /}]",
		},
		"HOME is refused": {
			spec: "env: [{name: LANG, value: C.UTF-8}, {name: HOME, value: /}]",
			want: []string{"spec.env[1].name: Invalid value: \"HOME\": must not be 'HOME' or 'TMPDIR'"},
		},
		"TMPDIR is refused": {
			spec: "env: [{name: TMPDIR}]",
			want: []string{"spec.env[0].name: Invalid value: \"TMPDIR\": must not be 'HOME' or 'TMPDIR'"},
		},
		"two variables of one name are refused": {
			spec: "env: [{name: A, value: a}, {name: A, value: b}]",
			want: []string{`spec.env[1]: Duplicate value: {"name":"A"}`},
		},
		"two resources of one name are refused": {
			spec: "resources: [{name: a, file: {fileID: a, source: {artifact: {}}}}, {name: a, file: {fileID: b, source: {artifact: {}}}}]",
			want: []string{`spec.resources[1]: Duplicate value: {"name":"a"}`},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			expect(t, api.Create(t.Context(), session(t, tc.spec)), tc.want...)
		})
	}
}

// stores is the YAML of the items of a list of memory stores.
func stores(count int) string {
	var items strings.Builder
	for i := range count {
		fmt.Fprintf(&items, "- {name: m%d, memoryStore: {storeID: m%d, source: {persistentVolumeClaim: {claimName: m%d}}}}\n", i, i, i)
	}
	return items.String()
}

// repositories is the YAML of the items of a list of repositories.
func repositories(count int) string {
	var items strings.Builder
	for i := range count {
		fmt.Fprintf(&items, "- {name: r%d, gitRepository: {url: 'https://git.test/r%d'}}\n", i, i)
	}
	return items.String()
}
