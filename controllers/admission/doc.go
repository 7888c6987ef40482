// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package admission refuses, when they are made or changed, sessions and
// environments that break a rule, and warns about what is legal and odd. The
// rules are the policy's: what slips past a webhook is judged by the same ones
// before a sandbox is made. Nothing is ever changed here.
package admission

import (
	"cmp"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/policy"
	"github.com/orca-agent-engine/orca-operator/controllers/settings"
)

// Where the API server asks.
const (
	pathSessions     = "/validate-orca-dev-v1alpha1-orcasession"
	pathEnvironments = "/validate-orca-dev-v1alpha1-orcaenvironment"
)

// Setup registers the webhooks of both kinds with a manager's webhook server,
// which serves them on every replica.
func Setup(mgr ctrl.Manager, settings *settings.Settings) {
	server := mgr.GetWebhookServer()
	server.Register(pathSessions, Handler(&SessionValidator{Settings: settings}))
	server.Register(pathEnvironments, Handler(&EnvironmentValidator{Settings: settings}))
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
