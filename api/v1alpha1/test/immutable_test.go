// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	unchangeable = "Forbidden: may not be changed; create a new session"
	final        = "Forbidden: may not be changed from 'Ended'; create a new session"
)

func TestP13ImmutableFieldRefusesEveryChange(t *testing.T) {
	values := map[string]struct{ one, other string }{
		"resources": {
			one:   "resources: [{name: a, file: {fileID: a, source: {artifact: {}}}}]",
			other: "resources: [{name: a, file: {fileID: b, source: {artifact: {}}}}]",
		},
		"command": {one: "command: [a, b]", other: "command: [b, a]"},
		"args":    {one: "args: [a]", other: "args: [a, '']"},
		"env":     {one: "env: [{name: A, value: a}]", other: "env: [{name: A, value: b}]"},
	}
	for key, value := range values {
		none, empty := "", key+": []"
		changes := map[string]struct {
			from, to string
			want     []string
		}{
			"from unset to set is refused":     {none, value.one, []string{"spec." + key + ": " + unchangeable}},
			"from empty to set is refused":     {empty, value.one, []string{"spec." + key + ": " + unchangeable}},
			"from set to unset is refused":     {value.one, none, []string{"spec." + key + ": " + unchangeable}},
			"from set to empty is refused":     {value.one, empty, []string{"spec." + key + ": " + unchangeable}},
			"from set to another is refused":   {value.one, value.other, []string{"spec." + key + ": " + unchangeable}},
			"from set to the same is accepted": {value.one, value.one, nil},
			"from unset to empty is accepted":  {none, empty, nil},
			"from empty to unset is accepted":  {empty, none, nil},
		}
		for name, tc := range changes {
			t.Run(key+" "+name, func(t *testing.T) {
				expect(t, change(t, session(t, tc.from), session(t, tc.to)), tc.want...)
			})
		}
	}
}

func TestSessionChanges(t *testing.T) {
	const three = "resources: [{name: a, file: {fileID: a, source: {artifact: {}}}}, {name: b, file: {fileID: b, source: {artifact: {}}}}, "
	tests := map[string]struct {
		from, to string
		want     []string
	}{
		"another environment is refused": {
			to:   "environmentRef: {name: other}",
			want: []string{"spec.environmentRef: " + unchangeable},
		},
		"another order of the resources is accepted": {
			from: "resources: [{name: a, file: {fileID: a, source: {artifact: {}}}}, {name: b, file: {fileID: b, source: {artifact: {}}}}]",
			to:   "resources: [{name: b, file: {fileID: b, source: {artifact: {}}}}, {name: a, file: {fileID: a, source: {artifact: {}}}}]",
		},
		"another order of the variables is accepted": {
			from: "env: [{name: A}, {name: B}]",
			to:   "env: [{name: B}, {name: A}]",
		},
		"one more resource is refused": {
			from: three + "]",
			to:   three + "{name: c, file: {fileID: c, source: {artifact: {}}}}]",
			want: []string{"spec.resources: " + unchangeable},
		},
		"an optional field inside a resource is refused": {
			from: "resources: [{name: a, gitRepository: {url: 'https://git.test/a'}}]",
			to:   "resources: [{name: a, gitRepository: {url: 'https://git.test/a', depth: 1}}]",
			want: []string{"spec.resources: " + unchangeable},
		},
		"a default that is written out is accepted": {
			from: "resources: [{name: a, gitRepository: {url: 'https://git.test/a'}}]",
			to:   "resources: [{name: a, gitRepository: {url: 'https://git.test/a', access: ReadOnly}}]",
		},
		"every field at once is refused for each": {
			from: "{command: [a], args: [a], env: [{name: A}]}",
			to:   "{environmentRef: {name: other}, command: [b], args: [b], env: [{name: B}]}",
			want: []string{
				"spec.environmentRef: " + unchangeable, "spec.command: " + unchangeable,
				"spec.args: " + unchangeable, "spec.env: " + unchangeable,
			},
		},
		"a time to live that is set is accepted":     {to: "ttlSecondsAfterEnded: 0"},
		"a time to live that is changed is accepted": {from: "ttlSecondsAfterEnded: 1", to: "ttlSecondsAfterEnded: 2"},
		"a time to live that is removed is accepted": {from: "ttlSecondsAfterEnded: 1"},
		"from Running to Idle is accepted":           {from: "desiredState: Running", to: "desiredState: Idle"},
		"from Idle to Running is accepted":           {from: "desiredState: Idle", to: "desiredState: Running"},
		"from Running to Ended is accepted":          {from: "desiredState: Running", to: "desiredState: Ended"},
		"from Idle to Ended is accepted":             {from: "desiredState: Idle", to: "desiredState: Ended"},
		"from Ended to Ended is accepted":            {from: "desiredState: Ended", to: "desiredState: Ended"},
		"from Ended to Running is refused": {
			from: "desiredState: Ended", to: "desiredState: Running",
			want: []string{"spec.desiredState: " + final},
		},
		"from Ended to Idle is refused": {
			from: "desiredState: Ended", to: "desiredState: Idle",
			want: []string{"spec.desiredState: " + final},
		},
		"from Ended to the default is refused": {
			from: "desiredState: Ended",
			want: []string{"spec.desiredState: " + final},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			expect(t, change(t, session(t, tc.from), session(t, tc.to)), tc.want...)
		})
	}
}

// change creates an object and updates its spec to that of another.
func change(t *testing.T, from, to *unstructured.Unstructured) error {
	t.Helper()
	mustCreate(t, from)
	from.Object["spec"] = to.Object["spec"]
	return api.Update(t.Context(), from)
}
