// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/layout"
)

func addressesValid(s *subject) []finding {
	return s.each(func(p *place) *field.Error {
		if p.address == nil {
			return nil
		}
		return invalidURL(p, p.address)
	})
}

func refsValid(s *subject) []finding {
	var out []finding
	for p := range s.of(orcav1alpha1.ResourceKindGitRepository) {
		if p.GitRepository.Ref == nil {
			continue
		}
		for _, cause := range invalidRefs(p.member().Child("ref"), p.GitRepository.Ref) {
			out = append(out, finding{resource: p.Name, cause: cause})
		}
	}
	return out
}

func invalidRefs(at *field.Path, ref *orcav1alpha1.GitReference) field.ErrorList {
	var out field.ErrorList
	judge := func(name, value string, rule func(string) error) {
		if value == "" {
			return
		}
		if err := rule(value); err != nil {
			out = append(out, field.Invalid(at.Child(name), value, err.Error()))
		}
	}
	judge("branch", ref.Branch, layout.BranchName)
	judge("tag", ref.Tag, layout.TagName)
	judge("commit", ref.Commit, layout.CommitID)
	return out
}

func pathsValid(s *subject) []finding {
	return s.each(func(p *place) *field.Error { return p.broken })
}

func skillsReserved(s *subject) []finding {
	return s.each(func(p *place) *field.Error {
		if p.root == "" || !layout.Overlap(p.root, layout.Skills) {
			return nil
		}
		return field.Invalid(p.from(), p.root, "must not overlap '"+layout.Skills+"', which is reserved")
	})
}

// fixedRootsApart is about the paths that the agent can write in every sandbox.
func fixedRootsApart(s *subject) []finding {
	return s.each(func(p *place) *field.Error {
		for _, root := range s.fixed {
			if p.root != "" && layout.Overlap(p.root, root) {
				return field.Invalid(p.from(), p.root, "must not overlap '"+root+"', which is writable")
			}
		}
		return nil
	})
}

// filesAreNoDirectories refuses files where every sandbox has a directory: setup
// could not make both.
func filesAreNoDirectories(s *subject) []finding {
	directories := layout.SealedDirectories(sharedMemory(s.deployment))
	return s.each(func(p *place) *field.Error {
		if p.kind != orcav1alpha1.ResourceKindFile || p.path == "" {
			return nil
		}
		for _, directory := range directories {
			if layout.Contains(p.path, directory) {
				return field.Invalid(p.from(), p.path, "must not be at or above '"+directory+"', which is a directory")
			}
		}
		return nil
	})
}
