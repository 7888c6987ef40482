// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"path"
	"slices"
	"strings"

	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

// union is what there should be, by path: "dir", or the content of a file or
// link. It is worked out from all paths at once, in no order.
type union struct {
	entries map[string]string
	clash   bool
}

// put adds something and the directories above it.
func (u *union) put(name, entry string) {
	had, found := u.entries[name]
	isLink := strings.HasPrefix(had, "-> ") // Not even one like the other.
	if found && (had != entry || isLink) {
		u.clash = true
	}
	u.entries[name] = entry
	if above := path.Dir(name); above != "/" {
		u.put(above, "dir")
	}
}

// judge returns the tree that a scene should give, or that something clashes or
// overlaps.
func judge(s scene) (tree map[string]string, refused bool) {
	u := union{entries: map[string]string{}}
	for _, directory := range append(slices.Clone(s.document.Directories), "/etc") {
		u.put(directory, "dir")
	}
	for _, file := range s.document.Files {
		u.put(file.Path, s.contents[file.Resource])
	}
	for _, repository := range s.document.Repositories {
		if repository.Volume != "" {
			continue
		}
		u.put(repository.Path, "dir")
		for name, content := range s.trees[repository.Resource] {
			u.put(repository.Path+"/"+name, content)
		}
	}
	return u.entries, u.clash || anyPair(s.document, meet) || anyEmpty(s, u)
}

// meet tells of two resources that they may not be where they are, whatever
// they contain.
func meet(a, b manifest.Repository) bool {
	in := strings.HasPrefix(b.Path+"/", a.Path+"/")
	twins := a.URL == "" && b.URL == "" && a.Path == b.Path
	inGit := a.URL == "" && a.Volume == "" && strings.HasPrefix(b.Path+"/", a.Path+"/.git/")
	return twins || inGit || in && (a.Volume != "" || b.Volume != "")
}

// anyPair tries all pairs of resources and writable places. What isn't a
// repository has an address here.
func anyPair(document manifest.Setup, bad func(a, b manifest.Repository) bool) bool {
	all := slices.Clone(document.Repositories)
	for _, file := range document.Files {
		all = append(all, manifest.Repository{Resource: file.Resource, Path: file.Path, URL: "file"})
	}
	for _, place := range []string{"/mnt/session/outputs", "/tmp", "/dev/shm"} {
		all = append(all, manifest.Repository{Resource: place, Path: place, URL: "place", Volume: "place"})
	}
	for _, a := range all {
		for _, b := range all {
			if a.Resource != b.Resource && bad(a, b) {
				return true
			}
		}
	}
	return false
}

// anyEmpty tells whether there is something in a directory that stays empty, or
// a writable repository around it.
func anyEmpty(s scene, u union) bool {
	for _, directory := range s.document.Directories {
		if directory == "/workspace" || directory == "/mnt/memory" {
			continue
		}
		for name := range u.entries {
			if strings.HasPrefix(name, directory+"/") {
				return true
			}
		}
		if s.has(directory) {
			return true
		}
	}
	return false
}

// has tells whether a resource brings the very directory, or mounts over it.
func (s scene) has(directory string) bool {
	for _, repository := range s.document.Repositories {
		if repository.Path == directory && repository.Volume == "" {
			return true
		}
		if repository.Volume != "" && repository.Path != directory {
			if strings.HasPrefix(directory, repository.Path+"/") || strings.HasPrefix(repository.Path, directory+"/") {
				return true
			}
		}
		for name := range s.trees[repository.Resource] {
			if repository.Volume == "" && strings.HasPrefix(repository.Path+"/"+name+"/", directory+"/") {
				return true
			}
		}
	}
	return false
}
