// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/settings"
)

type environmentRule func(*orcav1alpha1.OrcaEnvironment, settings.Effective) Violations

var environmentRules = []environmentRule{
	packagesUnsupported,
	imageRejected,
}

// Environment returns what keeps sessions from starting on an environment.
func Environment(environment *orcav1alpha1.OrcaEnvironment, settings settings.Effective) Violations {
	var out Violations
	for _, rule := range environmentRules {
		out = append(out, rule(environment, settings)...)
	}
	return out
}

// packagesUnsupported: nothing is ever installed, so a session that needs
// packages must not run without them.
func packagesUnsupported(environment *orcav1alpha1.OrcaEnvironment, _ settings.Effective) Violations {
	if len(environment.Spec.Config.Packages) == 0 {
		return nil
	}
	return Violations{{
		Reason: orcav1alpha1.ReasonPackagesUnsupported,
		Cause: field.Forbidden(field.NewPath("spec", "config", "packages"),
			"packages are not installed in any sandbox; remove them and use what the operator's image has"),
	}}
}

// imageRejected: in Colocated mode the agent runs in the operator's image.
func imageRejected(environment *orcav1alpha1.OrcaEnvironment, deployment settings.Effective) Violations {
	if environment.Spec.Image == "" || deployment.Mode != settings.ModeColocated {
		return nil
	}
	return Violations{{
		Reason: orcav1alpha1.ReasonImageRejected,
		Cause: field.Forbidden(field.NewPath("spec", "image"),
			"sessions run in the operator's image; remove the field"),
	}}
}
