// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
)

// writtenClaimsApart is about claims that two stores have, of which one writes.
func writtenClaimsApart(s *subject) []finding {
	return s.shared(true, func(p, first *place) *field.Error {
		return field.Invalid(p.member().Child("source", "persistentVolumeClaim", "claimName"), p.claim(),
			fmt.Sprintf("must not be the claim of resource '%s' as well, unless all its stores are ReadOnly", first.Name))
	})
}

// claimsOnce is about claims that two stores have, all of them ReadOnly.
func claimsOnce(s *subject) []finding {
	return s.shared(false, func(*place, *place) *field.Error { return nil })
}

// shared returns a finding for each store whose claim another one has too that
// comes before it by name: of the claims that a store writes, or of the others.
func (s *subject) shared(written bool, cause func(p, first *place) *field.Error) []finding {
	first, writes := map[string]*place{}, map[string]bool{}
	for p := range s.of(orcav1alpha1.ResourceKindMemoryStore) {
		claim := p.claim()
		if first[claim] == nil || p.Name < first[claim].Name {
			first[claim] = p
		}
		writes[claim] = writes[claim] || p.writable
	}
	var out []finding
	for p := range s.of(orcav1alpha1.ResourceKindMemoryStore) {
		if f := first[p.claim()]; f != p && writes[p.claim()] == written {
			out = append(out, finding{resource: p.Name, other: f.Name, cause: cause(p, f)})
		}
	}
	return out
}

// claim returns the name of the claim that holds a store.
func (p *place) claim() string { return p.MemoryStore.Source.PersistentVolumeClaim.ClaimName }

// repositoriesKept is about repositories that lose what is written to them.
func repositoriesKept(s *subject) []finding {
	var out []finding
	for p := range s.of(orcav1alpha1.ResourceKindGitRepository) {
		if p.writable {
			out = append(out, finding{resource: p.Name})
		}
	}
	return out
}
