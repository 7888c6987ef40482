// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/sandbox"
)

const (
	indexEnvironment = "spec.environmentRef.name"
	indexClaim       = "spec.resources.memoryStore.source.persistentVolumeClaim.claimName"
	indexSessionUID  = "metadata.labels.session-uid"
)

func addIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	for _, index := range []struct {
		object client.Object
		field  string
		values client.IndexerFunc
	}{
		{&orcav1alpha1.OrcaSession{}, indexEnvironment, func(object client.Object) []string {
			return []string{object.(*orcav1alpha1.OrcaSession).Spec.EnvironmentRef.Name}
		}},
		{&orcav1alpha1.OrcaSession{}, indexClaim, func(object client.Object) []string {
			return sandbox.Claims(object.(*orcav1alpha1.OrcaSession))
		}},
		{&corev1.Pod{}, indexSessionUID, func(object client.Object) []string {
			return []string{object.GetLabels()[sandbox.LabelSessionUID]}
		}},
	} {
		if err := indexer.IndexField(ctx, index.object, index.field, index.values); err != nil {
			return fmt.Errorf("indexing by %s: %w", index.field, err)
		}
	}
	return nil
}

// claimComesOrGoes holds for what may let a session start, or keep it from
// that. Most news of a claim are neither.
var claimComesOrGoes = predicate.Funcs{
	UpdateFunc: func(e event.UpdateEvent) bool {
		return e.ObjectOld.GetUID() != e.ObjectNew.GetUID() ||
			e.ObjectOld.GetDeletionTimestamp().IsZero() != e.ObjectNew.GetDeletionTimestamp().IsZero()
	},
}

// sessionsOf returns the sessions on an environment.
func (r *Reconciler) sessionsOf(ctx context.Context, environment client.Object) []reconcile.Request {
	return requests(r.sessionsBy(ctx, indexEnvironment, environment))
}

// waitersFor returns the sessions that use a claim and may wait for it.
func (r *Reconciler) waitersFor(ctx context.Context, claim client.Object) []reconcile.Request {
	var waiting []orcav1alpha1.OrcaSession
	for _, session := range r.sessionsBy(ctx, indexClaim, claim) {
		if mayWait(&session) {
			waiting = append(waiting, session)
		}
	}
	return requests(waiting)
}

// mayWait leaves out only those that no claim can bring any further, for the
// status may be older than what is just being judged.
func mayWait(session *orcav1alpha1.OrcaSession) bool {
	return session.Spec.DesiredState == orcav1alpha1.DesiredStateRunning &&
		session.Status.State != orcav1alpha1.SessionStateRunning &&
		session.Status.State != orcav1alpha1.SessionStateEnded
}

// sessionsBy returns the sessions that refer to an object.
func (r *Reconciler) sessionsBy(ctx context.Context, index string, object client.Object) []orcav1alpha1.OrcaSession {
	var sessions orcav1alpha1.OrcaSessionList
	err := r.Client.List(ctx, &sessions, client.InNamespace(object.GetNamespace()), client.MatchingFields{index: object.GetName()})
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Listing the sessions that refer to an object failed", "index", index, "object", client.ObjectKeyFromObject(object))
		return nil
	}
	return sessions.Items
}

func requests(sessions []orcav1alpha1.OrcaSession) []reconcile.Request {
	out := make([]reconcile.Request, 0, len(sessions))
	for i := range sessions {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&sessions[i])})
	}
	return out
}
