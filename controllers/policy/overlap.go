// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"cmp"
	"slices"
	"strings"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/layout"
)

// relation is how two resources that overlap go together.
type relation int

const (
	// oneStorePath: two memory stores on one path.
	oneStorePath relation = iota
	// writableOverlap: one of the two is writable.
	writableOverlap
	// oneFilePath: two files on one path.
	oneFilePath
	// oneRepositoryDirectory: two repositories on one path.
	oneRepositoryDirectory
	// insideStore: the inner one lies in a memory store.
	insideStore
	// readOnlyOverlap is any other overlap. The contents decide.
	readOnlyOverlap
)

// overlap is a pair of resources of which the root of one is that of the other
// or lies below it.
type overlap struct {
	outer, inner *place
	relation     relation
}

// relate names the first thing that is wrong with a pair: the stricter ones
// come first, so that nobody is told of one pair twice.
func relate(outer, inner *place) relation {
	one := outer.path == inner.path && outer.kind == inner.kind
	switch {
	case one && inner.kind == orcav1alpha1.ResourceKindMemoryStore:
		return oneStorePath
	case outer.writable || inner.writable:
		return writableOverlap
	case one && inner.kind == orcav1alpha1.ResourceKindFile && inner.path != "":
		return oneFilePath
	case one && inner.kind == orcav1alpha1.ResourceKindGitRepository:
		return oneRepositoryDirectory
	case outer.kind == orcav1alpha1.ResourceKindMemoryStore:
		return insideStore
	default:
		return readOnlyOverlap
	}
}

// findOverlaps returns, by the inner resource's field, each relation that a
// resource has to one that it lies in, once: with the outermost.
func findOverlaps(places []place) []overlap {
	var out []overlap
	// What the last one lies in, and itself, from outside in. Of several that are
	// alike the first says it all.
	var around []*place
	for _, inner := range sortByRoot(places) {
		for len(around) > 0 && !layout.Contains(around[len(around)-1].root, inner.root) {
			around = around[:len(around)-1]
		}
		var told [readOnlyOverlap + 1]bool
		repeats := false
		for _, outer := range around {
			repeats = repeats || alike(outer, inner)
			if relation := relate(outer, inner); !told[relation] {
				told[relation] = true
				out = append(out, overlap{outer, inner, relation})
			}
		}
		if !repeats {
			around = append(around, inner)
		}
	}
	slices.SortStableFunc(out, func(a, b overlap) int { return cmp.Compare(a.inner.index, b.inner.index) })
	return out
}

// alike reports whether two resources are the same to whatever lies in them.
func alike(a, b *place) bool {
	return a.kind == b.kind && a.writable == b.writable && a.root == b.root && a.path == b.path
}

// sortByRoot returns the resources whose root is known, each right before those
// that lie in it. Of those with one root, memory stores come first, since the
// others lie in them; then names decide, not the order of the list.
func sortByRoot(places []place) []*place {
	type keyed struct {
		key string
		*place
	}
	sorted := make([]keyed, 0, len(places))
	for i := range places {
		if p := &places[i]; p.root != "" {
			// No other byte of a path is smaller: what is below comes next.
			sorted = append(sorted, keyed{strings.ReplaceAll(p.root, "/", "\x00"), p})
		}
	}
	slices.SortStableFunc(sorted, func(a, b keyed) int {
		return cmp.Or(strings.Compare(a.key, b.key), rank(a.place)-rank(b.place), strings.Compare(a.Name, b.Name))
	})
	out := make([]*place, len(sorted))
	for i, k := range sorted {
		out[i] = k.place
	}
	return out
}

func rank(p *place) int {
	if p.kind == orcav1alpha1.ResourceKindMemoryStore {
		return 0
	}
	return 1
}
