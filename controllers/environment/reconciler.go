// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package environment keeps the status of OrcaEnvironments: whether sessions
// can start on one, and which of its fields have no effect.
package environment

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/settings"
)

// +kubebuilder:rbac:groups=orca.dev,resources=orcaenvironments,verbs=get;list;watch
// +kubebuilder:rbac:groups=orca.dev,resources=orcaenvironments/status,verbs=patch

// Reconciler keeps the status of OrcaEnvironments.
type Reconciler struct {
	Client   client.Client
	Settings *settings.Settings
	Clock    clock.PassiveClock
}

// SetupWithManager registers the reconciler.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("environment").
		For(&orcav1alpha1.OrcaEnvironment{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Complete(reconcile.AsReconciler(r.Client, r))
}

// Reconcile writes the status of one environment if it changed.
func (r *Reconciler) Reconcile(ctx context.Context, environment *orcav1alpha1.OrcaEnvironment) (reconcile.Result, error) {
	status := judge(environment, r.Settings.ForNamespace(environment.Namespace), r.Clock.Now())
	if equality.Semantic.DeepEqual(status, environment.Status) {
		return reconcile.Result{}, nil
	}
	before := environment.DeepCopy()
	environment.Status = status
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := client.IgnoreNotFound(r.Client.Status().Patch(ctx, environment, patch)); err != nil {
		return reconcile.Result{}, fmt.Errorf("writing the environment's status: %w", err)
	}
	return reconcile.Result{}, nil
}
