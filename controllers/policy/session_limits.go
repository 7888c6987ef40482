// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/settings"
)

// The contract's limits, which no setting raises.
const (
	maxStores       = 8
	maxRepositories = 8
)

func filesWithinLimit(s *subject) []finding {
	return s.atMost(int(s.deployment.Limits.Files), orcav1alpha1.ResourceKindFile, "files")
}

func storesWithinLimit(s *subject) []finding {
	return s.atMost(maxStores, orcav1alpha1.ResourceKindMemoryStore, "memory stores")
}

func repositoriesWithinLimit(s *subject) []finding {
	return s.atMost(maxRepositories, orcav1alpha1.ResourceKindGitRepository, "repositories")
}

func (s *subject) atMost(limit int, kind orcav1alpha1.ResourceKind, things string) []finding {
	count := 0
	for range s.of(kind) {
		count++
	}
	if count <= limit {
		return nil
	}
	cause := field.TooMany(field.NewPath("spec", "resources"), count, limit)
	cause.Detail = fmt.Sprintf("must have at most %d %s", limit, things)
	return []finding{{cause: cause}}
}

func commandPresent(s *subject) []finding {
	if len(s.spec.Command)+len(s.deployment.Sandbox.Command) > 0 || s.deployment.Mode != settings.ModeColocated {
		return nil
	}
	return []finding{{cause: field.Required(field.NewPath("spec", "command"), "the deployment has no command of its own")}}
}

// noAgentInSeparateMode refuses what would have no effect: the agent runs
// elsewhere.
func noAgentInSeparateMode(s *subject) []finding {
	if s.deployment.Mode != settings.ModeSeparate {
		return nil
	}
	var out []finding
	refuse := func(name string, items int) {
		if items > 0 {
			cause := field.Forbidden(field.NewPath("spec", name), "no agent runs in the sandbox in Separate mode; remove the field")
			out = append(out, finding{cause: cause})
		}
	}
	refuse("command", len(s.spec.Command))
	refuse("args", len(s.spec.Args))
	refuse("env", len(s.spec.Env))
	return out
}

// artifactsUnsupported refuses, rather than ignores, what no sandbox gives yet.
func artifactsUnsupported(s *subject) []finding {
	return s.each(func(p *place) *field.Error {
		if p.File.Source.Artifact == nil {
			return nil
		}
		return field.Forbidden(p.member().Child("source", "artifact"), "files from the artifact store are not supported by this version")
	})
}
