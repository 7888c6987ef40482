// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/policy"
	"github.com/orca-agent-engine/orca-operator/controllers/settings"
)

// EnvironmentValidator judges an environment when it is made and when its spec
// changes.
type EnvironmentValidator struct {
	Settings *settings.Settings
}

var _ admission.Validator[*orcav1alpha1.OrcaEnvironment] = &EnvironmentValidator{}

// ValidateCreate refuses an environment that breaks a rule.
func (v *EnvironmentValidator) ValidateCreate(_ context.Context, environment *orcav1alpha1.OrcaEnvironment) (admission.Warnings, error) {
	return v.validate(nil, environment)
}

// ValidateUpdate refuses a change that breaks a rule. A field that stays as it
// was may break it as before.
func (v *EnvironmentValidator) ValidateUpdate(_ context.Context, old, environment *orcav1alpha1.OrcaEnvironment) (admission.Warnings, error) {
	return v.validate(old, environment)
}

// ValidateDelete allows everything.
func (v *EnvironmentValidator) ValidateDelete(context.Context, *orcav1alpha1.OrcaEnvironment) (admission.Warnings, error) {
	return nil, nil
}

func (v *EnvironmentValidator) validate(old, environment *orcav1alpha1.OrcaEnvironment) (admission.Warnings, error) {
	violations, warnings := policy.EnvironmentAdmission(old, environment, v.Settings.ForNamespace(environment.Namespace))
	return warnings, refusal("OrcaEnvironment", environment, violations)
}
