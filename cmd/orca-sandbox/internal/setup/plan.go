// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"

	"github.com/orca-agent-engine/orca-operator/controllers/layout"
	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

// plan is what the sealed tree consists of.
type plan struct {
	// directories are sorted, so that a parent comes before what is in it.
	directories []string
	// files are sorted by path, then by resource.
	files []manifest.File
}

// needs says for each directory of the tree why it must be one.
type needs map[string]string

// newPlan works out the tree. It refuses one in which something would have to
// be a file and a directory.
func newPlan(document manifest.Setup) (plan, error) {
	files := slices.SortedFunc(slices.Values(document.Files), func(a, b manifest.File) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Resource, b.Resource))
	})
	if err := checkPaths(document.Directories, files); err != nil {
		return plan{}, err
	}
	directories := needs{}
	for _, directory := range append(document.Directories, path.Dir(layout.Hosts)) {
		directories.add(directory, "where every sandbox has a directory")
	}
	for _, file := range files {
		reason := fmt.Sprintf("where resource %q needs a directory for %s", file.Resource, file.Path)
		directories.add(path.Dir(file.Path), reason)
	}
	for _, file := range files {
		if reason, found := directories[file.Path]; found {
			return plan{}, conflict(file, reason)
		}
	}
	return plan{slices.Sorted(maps.Keys(directories)), files}, nil
}

// add demands a directory and those above it. The first reason stays.
func (n needs) add(directory, reason string) {
	for ; directory != "/"; directory = path.Dir(directory) {
		if _, found := n[directory]; !found {
			n[directory] = reason
		}
	}
}

// checkPaths refuses paths that aren't the one name of a place in the tree.
func checkPaths(directories []string, files []manifest.File) error {
	for _, directory := range directories {
		if err := checkPath(directory); err != nil {
			return err
		}
	}
	for _, file := range files {
		if err := checkPath(file.Path); err != nil {
			return internal(file.Resource, err)
		}
	}
	return nil
}

func checkPath(name string) error {
	if path.Clean(name) != name || !path.IsAbs(name) || !filepath.IsLocal(relative(name)) {
		return fmt.Errorf("the path %q in the manifest must be absolute and in its shortest form", name)
	}
	return nil
}

// relative returns the name inside the tree of what has the given absolute path
// in the sandbox.
func relative(name string) string { return name[1:] }
