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

// SessionValidator judges a session when it is made. Nothing that it judges can
// change later.
type SessionValidator struct {
	Settings *settings.Settings
}

var _ admission.Validator[*orcav1alpha1.OrcaSession] = &SessionValidator{}

// ValidateCreate refuses a session that breaks a rule.
func (v *SessionValidator) ValidateCreate(_ context.Context, session *orcav1alpha1.OrcaSession) (admission.Warnings, error) {
	violations, warnings := policy.SessionAdmission(session, v.Settings.ForNamespace(session.Namespace))
	return warnings, refusal("OrcaSession", session, violations)
}

// ValidateUpdate allows everything: settings that became stricter must not keep
// anybody from ending a session.
func (v *SessionValidator) ValidateUpdate(context.Context, *orcav1alpha1.OrcaSession, *orcav1alpha1.OrcaSession) (admission.Warnings, error) {
	return nil, nil
}

// ValidateDelete allows everything.
func (v *SessionValidator) ValidateDelete(context.Context, *orcav1alpha1.OrcaSession) (admission.Warnings, error) {
	return nil, nil
}
