// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

func storesDistinct(s *subject) []finding {
	return s.related(oneStorePath, func(o overlap) string {
		return fmt.Sprintf("must not have the path of resource '%s'", o.outer.Name)
	})
}

func writableRootsApart(s *subject) []finding {
	return s.related(writableOverlap, func(o overlap) string {
		why := "which is writable"
		if !o.outer.writable {
			why = "since the agent can write here"
		}
		return fmt.Sprintf("must not overlap %s, %s", o.outer.shown(), why)
	})
}

func filesDistinct(s *subject) []finding {
	return s.related(oneFilePath, func(o overlap) string {
		return fmt.Sprintf("must not have the path of resource '%s'", o.outer.Name)
	})
}

func repositoriesDistinct(s *subject) []finding {
	return s.related(oneRepositoryDirectory, func(o overlap) string {
		return fmt.Sprintf("must not have the directory of resource '%s'; set mountPath", o.outer.Name)
	})
}

// storesUndisturbed: another session may be changing what is in a store.
func storesUndisturbed(s *subject) []finding {
	return s.related(insideStore, func(o overlap) string {
		return fmt.Sprintf("must not lie in %s, which is a memory store", o.outer.shown())
	})
}

func readOnlyRootsApart(s *subject) []finding {
	return s.related(readOnlyOverlap, func(o overlap) string {
		return fmt.Sprintf("overlaps %s", o.outer.shown())
	})
}

// shown returns where a resource lands, and its name.
func (p *place) shown() string {
	return fmt.Sprintf("'%s' of resource '%s'", truncate(p.root, maxValue), p.Name)
}

// related returns a finding for each resource that has the given relation to
// one that it lies in.
func (s *subject) related(relation relation, rule func(overlap) string) []finding {
	var out []finding
	for _, o := range s.overlaps {
		if o.relation != relation {
			continue
		}
		value := o.inner.root
		if relation == oneFilePath {
			value = o.inner.path // Below the root, if that is a directory of its own.
		}
		cause := field.Invalid(o.inner.from(), value, rule(o))
		out = append(out, finding{resource: o.inner.Name, other: o.outer.Name, cause: cause})
	}
	return out
}
