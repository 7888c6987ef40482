// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import "testing"

func TestKind(t *testing.T) {
	tests := map[string]struct {
		resource SessionResource
		want     ResourceKind
	}{
		"a file":         {SessionResource{File: FileResource{FileID: "a"}}, ResourceKindFile},
		"a memory store": {SessionResource{MemoryStore: MemoryStoreResource{StoreID: "a"}}, ResourceKindMemoryStore},
		"a repository":   {SessionResource{GitRepository: GitRepositoryResource{URL: "a"}}, ResourceKindGitRepository},
		"a name alone":   {SessionResource{Name: "a"}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.resource.Kind(); got != tc.want {
				t.Errorf("want %q, got %q", tc.want, got)
			}
		})
	}
}
