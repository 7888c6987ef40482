// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/settings"
)

// environmentRules are what an environment must keep. How soon one that doesn't
// is refused is the deployment's to say.
func environmentRules(deployment settings.Effective) []rule[*orcav1alpha1.OrcaEnvironmentSpec] {
	packages, image := atAdmission, atAdmission
	if deployment.Packages == settings.PackagesStore {
		packages = atStart
	}
	if deployment.Mode == settings.ModeSeparate {
		image = never
	}
	return []rule[*orcav1alpha1.OrcaEnvironmentSpec]{
		{
			judge: noPackages, reason: orcav1alpha1.ReasonPackagesUnsupported, stage: packages,
			warning: "packages are stored and never installed: no session starts on this environment (PackagesUnsupported)",
		},
		{
			judge: noImage, reason: orcav1alpha1.ReasonImageRejected, stage: image,
			warning: "image is ignored: sessions run in the operator's image",
		},
		{
			judge: noNetworking, stage: never,
			warning: "networking is stored, not enforced: treat whatever a sandbox can reach as reachable",
		},
	}
}

// Environment returns what keeps sessions from starting on an environment. It
// comes before what Session returns.
func Environment(environment *orcav1alpha1.OrcaEnvironment, deployment settings.Effective) Violations {
	return refusals(environmentRules(deployment), atStart, &environment.Spec)
}

// EnvironmentAdmission returns what keeps an environment from being stored, and
// warnings about the rest, each of at most 256 bytes. Only what differs from the
// old one is judged; old is nil for a new environment.
func EnvironmentAdmission(old, environment *orcav1alpha1.OrcaEnvironment, deployment settings.Effective) (Violations, []string) {
	rules, spec := environmentRules(deployment), environment.Spec
	if old != nil {
		spec = changed(old.Spec, environment.Spec)
	}
	return refusals(rules, atAdmission, &spec), warnings(rules, &spec)
}

// changed returns a spec without the fields that an old one has too.
func changed(old, spec orcav1alpha1.OrcaEnvironmentSpec) orcav1alpha1.OrcaEnvironmentSpec {
	if spec.Image == old.Image {
		spec.Image = ""
	}
	if slices.Equal(spec.Config.Packages, old.Config.Packages) {
		spec.Config.Packages = nil
	}
	hosts, oldHosts := spec.Config.Networking.AllowedHosts, old.Config.Networking.AllowedHosts
	if spec.Config.Networking.Type == old.Config.Networking.Type && slices.Equal(hosts, oldHosts) {
		spec.Config.Networking = orcav1alpha1.EnvironmentNetworking{}
	}
	return spec
}

// noPackages: nothing is ever installed, so a session that needs packages must
// not run without them.
func noPackages(spec *orcav1alpha1.OrcaEnvironmentSpec) []finding {
	if len(spec.Config.Packages) == 0 {
		return nil
	}
	return []finding{{cause: field.Forbidden(field.NewPath("spec", "config", "packages"),
		"packages are not installed in any sandbox; remove them and use what the operator's image has")}}
}

// noImage: the sandbox runs in the operator's image, and in Colocated mode the
// agent does too.
func noImage(spec *orcav1alpha1.OrcaEnvironmentSpec) []finding {
	if spec.Image == "" {
		return nil
	}
	return []finding{{cause: field.Forbidden(field.NewPath("spec", "image"), "sessions run in the operator's image; remove the field")}}
}

func noNetworking(spec *orcav1alpha1.OrcaEnvironmentSpec) []finding {
	if spec.Config.Networking.Type == "" {
		return nil
	}
	return []finding{{}}
}
