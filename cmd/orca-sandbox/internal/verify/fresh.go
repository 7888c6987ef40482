// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"os"
	"path"
)

// Fresh returns nil if a directory has nothing in it yet.
func Fresh(directory string) *Failure {
	entries, err := os.ReadDir(directory)
	switch {
	case err != nil:
		return failure(directory, "can't be looked into: %v", err)
	case len(entries) > 0:
		return failure(path.Join(directory, entries[0].Name()), "is there already: each agent process must be given an empty %s", directory)
	}
	return nil
}
