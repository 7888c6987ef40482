// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package admission refuses, when they are made or changed, sessions and
// environments that break a rule, and warns about what is legal and odd. The
// rules are the policy's: what slips past a webhook is judged by the same ones
// before a sandbox is made. Nothing is ever changed here.
package admission

import (
	"cmp"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/policy"
	"github.com/orca-agent-engine/orca-operator/controllers/settings"
)

// Setup registers the webhooks of both kinds with a manager's webhook server,
// which serves them on every replica.
func Setup(mgr ctrl.Manager, settings *settings.Settings) error {
	err := ctrl.NewWebhookManagedBy(mgr, &orcav1alpha1.OrcaSession{}).
		WithValidator(&SessionValidator{Settings: settings}).
		Complete()
	if err != nil {
		return fmt.Errorf("registering the webhook of sessions: %w", err)
	}
	err = ctrl.NewWebhookManagedBy(mgr, &orcav1alpha1.OrcaEnvironment{}).
		WithValidator(&EnvironmentValidator{Settings: settings}).
		Complete()
	if err != nil {
		return fmt.Errorf("registering the webhook of environments: %w", err)
	}
	return nil
}

// refusal answers 422 and names the field of each broken rule. It is nil where
// none is broken.
func refusal(kind string, object metav1.Object, violations policy.Violations) error {
	if len(violations) == 0 {
		return nil
	}
	name := cmp.Or(object.GetName(), object.GetGenerateName())
	return apierrors.NewInvalid(orcav1alpha1.SchemeGroupVersion.WithKind(kind).GroupKind(), name, violations.Causes())
}
