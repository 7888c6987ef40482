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
	"strings"

	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/sealed"
	"github.com/orca-agent-engine/orca-operator/controllers/layout"
	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

// plan is what the sandbox is assembled from, as far as the manifest tells. The
// order of the manifest's lists means nothing.
type plan struct {
	// directories are those that the sealed tree needs.
	directories needs
	// reserved are those of them that stay empty, and why.
	reserved needs
	// sealed are the repositories of the sealed tree, those nearer to its root
	// first; volumes are those that have a volume of their own.
	sealed, volumes []manifest.Repository
	// files are sorted by path, then by resource.
	files []manifest.File
}

// needs says for directories of the tree why they are there.
type needs map[string]string

// newPlan refuses a manifest in which things are where they may not be, or in
// which something would have to be a file and a directory.
func newPlan(document manifest.Setup) (plan, error) {
	if err := checkPaths(document); err != nil {
		return plan{}, err
	}
	p := plan{directories: needs{}, reserved: reserved(document.Directories)}
	p.files = slices.SortedFunc(slices.Values(document.Files), func(a, b manifest.File) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Resource, b.Resource))
	})
	for _, repository := range slices.SortedFunc(slices.Values(document.Repositories), shallowFirst) {
		if repository.Volume == "" {
			p.sealed = append(p.sealed, repository)
		} else {
			p.volumes = append(p.volumes, repository)
		}
	}
	if err := p.check(document); err != nil {
		return plan{}, err
	}
	p.addDirectories(document.Directories)
	if err := p.checkFiles(); err != nil {
		return plan{}, err
	}
	return p, nil
}

func shallowFirst(a, b manifest.Repository) int {
	return cmp.Or(
		cmp.Compare(strings.Count(a.Path, "/"), strings.Count(b.Path, "/")),
		cmp.Compare(a.Path, b.Path), cmp.Compare(a.Resource, b.Resource))
}

func (p *plan) addDirectories(fixed []string) {
	for _, directory := range append(slices.Clone(fixed), path.Dir(layout.Hosts)) {
		p.directories.add(directory, "where every sandbox has a directory")
	}
	for _, repository := range p.sealed {
		p.directories.add(repository.Path, fmt.Sprintf("where resource %q puts a repository", repository.Resource))
	}
	for _, file := range p.files {
		reason := fmt.Sprintf("where resource %q needs a directory for %s", file.Resource, sealed.Shown(file.Path))
		p.directories.add(path.Dir(file.Path), reason)
	}
}

// checkFiles refuses a file where a directory is needed.
func (p *plan) checkFiles() error {
	for _, file := range p.files {
		if reason, found := p.directories[file.Path]; found {
			return conflict(file.Resource, fmt.Sprintf("a file is put at %s, %s", sealed.Shown(file.Path), reason))
		}
	}
	return nil
}

// add demands a directory and those above it. The first reason stays.
func (n needs) add(directory, reason string) {
	for ; directory != "/"; directory = path.Dir(directory) {
		if _, found := n[directory]; !found {
			n[directory] = reason
		}
	}
}

// sorted returns the directories, each after its parent.
func (n needs) sorted() []string { return slices.Sorted(maps.Keys(n)) }

// reserved returns the directories that nothing may be put into: but for those
// in which resources lie, they are mounted over, or the contract has them empty.
func reserved(directories []string) needs {
	found := needs{}
	for _, directory := range directories {
		switch {
		case slices.Contains(layout.SealedRoots(), directory):
		case layout.Contains(layout.Memory, directory):
			found[directory] = "where a memory store is mounted"
		default:
			found[directory] = "where every sandbox has an empty directory"
		}
	}
	return found
}

// checkPaths refuses paths that aren't the one name of a place in the tree.
func checkPaths(document manifest.Setup) error {
	for _, directory := range document.Directories {
		if path.Clean(directory) != directory || !path.IsAbs(directory) || !filepath.IsLocal(directory[1:]) {
			return fmt.Errorf("the path %q in the manifest must be absolute and in its shortest form", directory)
		}
	}
	for _, resource := range resources(document) {
		if _, err := layout.MountFile(resource.path); err != nil {
			return internal(resource.name, fmt.Errorf("the path %q in the manifest %w", resource.path, err))
		}
	}
	return nil
}
