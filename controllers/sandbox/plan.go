// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"cmp"
	"fmt"
	"slices"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/layout"
)

// plan is where each resource of a session lands, each list by name.
type plan struct {
	files        []placed[orcav1alpha1.FileResource]
	repositories []placed[orcav1alpha1.GitRepositoryResource]
	stores       []placed[orcav1alpha1.MemoryStoreResource]
}

// placed is a resource and its path in the sandbox.
type placed[R any] struct {
	name string
	path string
	spec R
}

// newPlan derives the path of every resource. It fails only for a session that
// the policy refuses.
func newPlan(session *orcav1alpha1.OrcaSession) (plan, error) {
	var p plan
	resources := slices.SortedFunc(slices.Values(session.Spec.Resources), func(a, b orcav1alpha1.SessionResource) int {
		return cmp.Compare(a.Name, b.Name)
	})
	for _, resource := range resources {
		if err := p.add(resource); err != nil {
			return plan{}, fmt.Errorf("placing resource %q: %w", resource.Name, err)
		}
	}
	return p, nil
}

func (p *plan) add(resource orcav1alpha1.SessionResource) error {
	switch resource.Kind() {
	case orcav1alpha1.ResourceKindFile:
		file := resource.File
		path, err := layout.File(file.FileID, file.Filename, file.Source.ConfigMapKeyRef.Key, file.MountPath)
		p.files = append(p.files, placed[orcav1alpha1.FileResource]{resource.Name, path, file})
		return err
	case orcav1alpha1.ResourceKindGitRepository:
		path, err := repositoryPath(resource.GitRepository)
		p.repositories = append(p.repositories, placed[orcav1alpha1.GitRepositoryResource]{resource.Name, path, resource.GitRepository})
		return err
	case orcav1alpha1.ResourceKindMemoryStore:
		store := resource.MemoryStore
		path := layout.MemoryStore(store.StoreID, store.StoreName)
		p.stores = append(p.stores, placed[orcav1alpha1.MemoryStoreResource]{resource.Name, path, store})
		return nil
	default:
		return fmt.Errorf("it is of no known kind")
	}
}

// repositoryPath takes http:// addresses as well: whether the deployment allows
// them is for the policy.
func repositoryPath(repository orcav1alpha1.GitRepositoryResource) (string, error) {
	remote, err := layout.ParseRemote(repository.URL, true)
	if err != nil {
		return "", fmt.Errorf("url: %w", err)
	}
	return layout.Repository(remote, repository.MountPath)
}

// writable returns the directories that the agent may write because a resource
// is ReadWrite.
func (p *plan) writable() []string {
	var paths []string
	for _, repository := range p.repositories {
		if repository.spec.Access == orcav1alpha1.AccessReadWrite {
			paths = append(paths, repository.path)
		}
	}
	for _, store := range p.stores {
		if store.spec.Access == orcav1alpha1.AccessReadWrite {
			paths = append(paths, store.path)
		}
	}
	return paths
}

// sealed returns the paths that the sealed tree holds for resources.
func (p *plan) sealed() []string {
	var paths []string
	for _, file := range p.files {
		paths = append(paths, file.path)
	}
	for _, repository := range p.repositories {
		if repository.spec.Access != orcav1alpha1.AccessReadWrite {
			paths = append(paths, repository.path)
		}
	}
	return paths
}

// mountPoints returns the directories that the sealed tree must have because a
// volume of its own is mounted there: below a read-only mount the runtime can't
// make them.
func (p *plan) mountPoints() []string {
	var paths []string
	for _, store := range p.stores {
		paths = append(paths, store.path)
	}
	for _, repository := range p.repositories {
		if repository.spec.Access == orcav1alpha1.AccessReadWrite && layout.InSealedRoot(repository.path) {
			paths = append(paths, repository.path)
		}
	}
	return paths
}

// Resources returns what the status says of a session's resources, by name.
func Resources(session *orcav1alpha1.OrcaSession) ([]orcav1alpha1.ResourceStatus, error) {
	p, err := newPlan(session)
	if err != nil {
		return nil, err
	}
	var out []orcav1alpha1.ResourceStatus
	for _, file := range p.files {
		out = append(out, resourceStatus(file, orcav1alpha1.AccessReadOnly))
	}
	for _, repository := range p.repositories {
		out = append(out, resourceStatus(repository, repository.spec.Access))
	}
	for _, store := range p.stores {
		out = append(out, resourceStatus(store, store.spec.Access))
	}
	slices.SortFunc(out, func(a, b orcav1alpha1.ResourceStatus) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// resourceStatus takes a missing access for the narrower one.
func resourceStatus[R any](resource placed[R], access orcav1alpha1.Access) orcav1alpha1.ResourceStatus {
	return orcav1alpha1.ResourceStatus{
		Name: resource.name, MountPath: resource.path,
		Access: cmp.Or(access, orcav1alpha1.AccessReadOnly),
	}
}

// ConfigMaps returns the names of the ConfigMaps that a session reads, sorted.
func ConfigMaps(session *orcav1alpha1.OrcaSession) []string {
	var names []string
	for _, resource := range session.Spec.Resources {
		if name := resource.File.Source.ConfigMapKeyRef.Name; name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Claims returns the names of the claims of a session's memory stores, sorted.
func Claims(session *orcav1alpha1.OrcaSession) []string {
	var names []string
	for _, resource := range session.Spec.Resources {
		if name := resource.MemoryStore.Source.PersistentVolumeClaim.ClaimName; name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
