// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"errors"

	"k8s.io/apimachinery/pkg/util/validation/field"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/layout"
)

// place is a resource of a session and where it lands, or why it lands nowhere.
type place struct {
	*orcav1alpha1.SessionResource
	index int
	kind  orcav1alpha1.ResourceKind
	// path is where the resource appears; empty if that isn't known.
	path string
	// root is what it is compared with others by: its path or, for a file that is
	// given none, the directory of its own. Empty if that isn't known.
	root string
	// writable reports whether the agent may write at and below root.
	writable bool
	// address is what is wrong with the address of a repository.
	address error
	// broken is why there is no path although the address is sound.
	broken *field.Error
}

func newPlace(index int, resource *orcav1alpha1.SessionResource, allowHTTP bool) place {
	p := place{SessionResource: resource, index: index, kind: resource.Kind()}
	switch p.kind {
	case orcav1alpha1.ResourceKindFile:
		p.placeFile()
	case orcav1alpha1.ResourceKindMemoryStore:
		p.placeStore()
	case orcav1alpha1.ResourceKindGitRepository:
		p.placeRepository(allowHTTP)
	}
	return p
}

// placeFile leaves the path open where the artifact store alone knows the name.
func (p *place) placeFile() {
	path, err := layout.File(p.File.FileID, p.File.Filename, p.File.Source.ConfigMapKeyRef.Key, p.File.MountPath)
	broken, is := errors.AsType[*layout.FileError](err)
	switch {
	case is && broken.Part == layout.Key && broken.Value == "":
		p.root = layout.FileDirectory(p.File.FileID)
	case is:
		p.broken = field.Invalid(p.filePart(broken.Part), broken.Value, broken.Rule.Error())
	case p.File.MountPath == "":
		p.path, p.root = path, layout.FileDirectory(p.File.FileID)
	default:
		p.path, p.root = path, path
	}
}

// filePart returns where a session says a part of a file.
func (p *place) filePart(part layout.FilePart) *field.Path {
	if part == layout.Key {
		return p.member().Child("source", "configMapKeyRef", "key")
	}
	return p.member().Child(string(part))
}

// placeStore judges the id where it stands in for the name.
func (p *place) placeStore() {
	p.writable = p.MemoryStore.Access == orcav1alpha1.AccessReadWrite
	if layout.SafeSegment(p.MemoryStore.StoreName) != nil {
		if err := layout.SafeSegment(p.MemoryStore.StoreID); err != nil {
			p.broken = field.Invalid(p.member().Child("storeID"), p.MemoryStore.StoreID, err.Error())
			return
		}
	}
	p.path = layout.MemoryStore(p.MemoryStore.StoreID, p.MemoryStore.StoreName)
	p.root = p.path
}

func (p *place) placeRepository(allowHTTP bool) {
	p.writable = p.GitRepository.Access == orcav1alpha1.AccessReadWrite
	var remote layout.Remote
	remote, p.address = layout.ParseRemote(p.GitRepository.URL, allowHTTP)
	switch mountPath := p.GitRepository.MountPath; {
	case mountPath != "":
		path, err := layout.MountDirectory(mountPath)
		if err != nil {
			p.broken = field.Invalid(p.member().Child("mountPath"), mountPath, err.Error())
		}
		p.path = path
	case p.address == nil:
		path, err := layout.Repository(remote, "")
		if err != nil {
			p.broken = invalidURL(p, err)
		}
		p.path = path
	}
	p.root = p.path
}

// invalidURL doesn't repeat the URL, which may hold a secret.
func invalidURL(p *place, err error) *field.Error {
	return field.Invalid(p.member().Child("url"), field.OmitValueType{}, err.Error())
}

// member returns where the session says what the resource is.
func (p *place) member() *field.Path {
	return field.NewPath("spec", "resources").Index(p.index).Child(string(p.kind))
}

// from returns where the session says where the resource lands.
func (p *place) from() *field.Path {
	if p.File.MountPath+p.GitRepository.MountPath != "" {
		return p.member().Child("mountPath")
	}
	return p.member()
}
