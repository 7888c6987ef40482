// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/session"
)

// forgetful sees no claim in its cache.
func forgetful(t *testing.T) *session.Reconciler {
	t.Helper()
	reconciler := staleReconciler(t)
	reconciler.Client = interceptor.NewClient(reconciler.Client.(client.WithWatch), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if object.GetObjectKind().GroupVersionKind().Kind == "PersistentVolumeClaim" {
				return apierrors.NewNotFound(schema.GroupResource{Resource: "persistentvolumeclaims"}, key.Name)
			}
			return c.Get(ctx, key, object, options...)
		},
	})
	return reconciler
}

func TestAClaimThatTheCacheLacksIsThere(t *testing.T) {
	report := resourcesSession(t, newStore("notes", "notes-claim"))
	create(t, newClaim(report.Namespace, "notes-claim"))
	if _, err := forgetful(t).Reconcile(t.Context(), report.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	get(t, report)
	if podOf(t, report); report.Status.State != orcav1alpha1.SessionStateStarting {
		t.Errorf("state %s, want Starting", report.Status.State)
	}
}
