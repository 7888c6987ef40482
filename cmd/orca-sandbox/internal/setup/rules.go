// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/sealed"
	"github.com/orca-agent-engine/orca-operator/controllers/layout"
	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

// resource is what the rules look at. All that they refuse was to be refused
// before there was a sandbox.
type resource struct {
	name, path string
	// repository says that it isn't a file, writable that the agent may write it.
	repository, writable bool
}

// put says where the resource is, to begin a message with.
func (r resource) put() string {
	what := "a file"
	if r.repository {
		what = "a repository"
	}
	return fmt.Sprintf("%s is put at %s", what, sealed.Shown(r.path))
}

// resources returns those of a manifest by path, then by name.
func resources(document manifest.Setup) []resource {
	found := make([]resource, 0, len(document.Files)+len(document.Repositories))
	for _, file := range document.Files {
		found = append(found, resource{name: file.Resource, path: file.Path})
	}
	for _, repository := range document.Repositories {
		writable := repository.Volume != ""
		found = append(found, resource{repository.Resource, repository.Path, true, writable})
	}
	slices.SortFunc(found, func(a, b resource) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.name, b.name))
	})
	return found
}

// check applies the rules that need no content.
func (p *plan) check(document manifest.Setup) error {
	all := resources(document)
	sharedMemory := !slices.Contains(document.Directories, layout.SharedMemory)
	for _, resource := range all {
		if err := checkFixedRoots(resource, sharedMemory); err != nil {
			return err
		}
		if err := checkVolumes(resource, p.volumes); err != nil {
			return err
		}
		if err := checkReserved(resource, p.reserved); err != nil {
			return err
		}
		if err := checkRepositories(resource, p.sealed); err != nil {
			return err
		}
	}
	return nil
}

// checkFixedRoots refuses a resource that overlaps what the agent may write in
// every sandbox.
func checkFixedRoots(resource resource, sharedMemory bool) error {
	for _, root := range layout.WritableRoots(sharedMemory) {
		if layout.Overlap(root, resource.path) {
			return overlapping(resource.name, fmt.Sprintf("%s, which overlaps %s, where the agent may write", resource.put(), root))
		}
	}
	return nil
}

// checkVolumes refuses a resource that overlaps a ReadWrite repository.
func checkVolumes(resource resource, volumes []manifest.Repository) error {
	for _, volume := range volumes {
		if volume.Resource != resource.name && layout.Overlap(volume.Path, resource.path) {
			return overlapping(resource.name, fmt.Sprintf("%s, which overlaps %s, where the agent may write because of resource %q",
				resource.put(), sealed.Shown(volume.Path), volume.Resource))
		}
	}
	return nil
}

// checkReserved refuses a resource in a directory that stays empty, and one
// that would be mounted over it. The mount point of a ReadWrite repository is
// such a directory itself.
func checkReserved(resource resource, reserved needs) error {
	for _, directory := range reserved.sorted() {
		switch own := directory == resource.path; {
		case resource.writable && !own && layout.Overlap(directory, resource.path):
			return overlapping(resource.name, fmt.Sprintf("%s, where the agent may write, which overlaps %s, %s",
				resource.put(), sealed.Shown(directory), reserved[directory]))
		case !resource.writable && own:
			return conflict(resource.name, resource.put()+", "+reserved[directory])
		case !resource.writable && layout.Contains(directory, resource.path):
			return conflict(resource.name, fmt.Sprintf("%s, below %s, %s", resource.put(), sealed.Shown(directory), reserved[directory]))
		}
	}
	return nil
}

// checkRepositories refuses a second repository in one directory, and whatever
// would end up among what git keeps for a repository.
func checkRepositories(resource resource, repositories []manifest.Repository) error {
	for _, repository := range repositories {
		if repository.Resource == resource.name {
			continue
		}
		if resource.repository && repository.Path == resource.path && repository.Resource < resource.name {
			return conflict(resource.name, fmt.Sprintf("%s, where resource %q puts one too", resource.put(), repository.Resource))
		}
		if layout.Contains(repository.Path+"/.git", resource.path) {
			return conflict(resource.name, fmt.Sprintf("%s, inside what git keeps for the repository of resource %q",
				resource.put(), repository.Resource))
		}
	}
	return nil
}
