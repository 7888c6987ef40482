// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/settings"
)

// +kubebuilder:rbac:groups=orca.dev,resources=orcasessions,verbs=get;list;watch
// +kubebuilder:rbac:groups=orca.dev,resources=orcasessions/status,verbs=patch
// +kubebuilder:rbac:groups=orca.dev,resources=orcasessions/finalizers,verbs=update
// +kubebuilder:rbac:groups=orca.dev,resources=orcaenvironments,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get
// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

const (
	// eventAction says in an Event what the operator was doing.
	eventAction = "RunSession"
	// retryConflict is soon enough for a user and late enough for the cache to
	// have caught up.
	retryConflict = 100 * time.Millisecond
)

// Reconciler runs OrcaSessions.
type Reconciler struct {
	Client client.Client
	// Reader reads past the cache.
	Reader   client.Reader
	Settings *settings.Settings
	Recorder events.EventRecorder
	Clock    clock.PassiveClock
	// Workers is how many sessions are reconciled at the same time.
	Workers int
}

// SetupWithManager registers the reconciler and the indexes that it reads by.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager) error {
	if err := addIndexes(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named("session").
		For(&orcav1alpha1.OrcaSession{}, builder.WithPredicates(
			predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}))).
		Owns(&corev1.Pod{}).
		Watches(&orcav1alpha1.OrcaEnvironment{}, handler.EnqueueRequestsFromMapFunc(r.sessionsOf),
			builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesMetadata(&corev1.PersistentVolumeClaim{}, handler.EnqueueRequestsFromMapFunc(r.waitersFor),
			builder.WithPredicates(claimComesOrGoes)).
		WithOptions(controller.Options{MaxConcurrentReconciles: r.Workers}).
		Complete(reconcile.AsReconciler(r.Client, r))
}

// Reconcile brings one session a step further.
func (r *Reconciler) Reconcile(ctx context.Context, session *orcav1alpha1.OrcaSession) (reconcile.Result, error) {
	observation, err := r.observe(ctx, session)
	if err != nil {
		return reconcile.Result{}, err
	}
	j := judge(observation)
	err = r.carryOut(ctx, j)
	switch {
	case apierrors.IsConflict(err):
		return reconcile.Result{RequeueAfter: retryConflict}, nil
	case apierrors.IsNotFound(err):
		return reconcile.Result{}, nil
	case err != nil:
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: j.after}, nil
}

// carryOut makes a pod before the status says so, for its name is known before;
// and deletes pods after it, so that it is on record why they go. Either is
// repeated if the operator stops in between.
func (r *Reconciler) carryOut(ctx context.Context, j *judgement) error {
	if j.start > 0 {
		if err := r.startSandbox(ctx, j); err != nil {
			return err
		}
	}
	if err := r.writeStatus(ctx, j); err != nil {
		return fmt.Errorf("writing the session's status: %w", err)
	}
	return r.removePods(ctx, j.remove)
}
