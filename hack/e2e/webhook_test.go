// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os/exec"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
)

// withoutManager scales the operator to nothing until the test ends. Such a
// test isn't parallel to any other.
func withoutManager(t *testing.T) {
	t.Helper()
	manager := &appsv1.Deployment{}
	if err := cluster.Get(t.Context(), client.ObjectKey{Namespace: "orca-system", Name: "orca-manager"}, manager); err != nil {
		t.Fatal(err)
	}
	scale := func(ctx context.Context, replicas int32) {
		for _, args := range [][]string{
			{"scale", "--namespace", "orca-system", "deployment/orca-manager", fmt.Sprintf("--replicas=%d", replicas)},
			{"rollout", "status", "--namespace", "orca-system", "deployment/orca-manager", "--timeout", "3m"},
		} {
			if out, err := exec.CommandContext(ctx, "kubectl", args...).CombinedOutput(); err != nil {
				t.Fatalf("kubectl %s: %v: %s", args[0], err, out)
			}
		}
	}
	t.Cleanup(func() { scale(context.WithoutCancel(t.Context()), *manager.Spec.Replicas) })
	scale(t.Context(), 0)
	if err := awaitManagers(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
}

// awaitManagers waits until there are so many replicas of the operator, and none
// that still stops: one that does goes on by its own settings.
func awaitManagers(ctx context.Context, replicas int) error {
	err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		var pods corev1.PodList
		err := cluster.List(ctx, &pods, client.InNamespace("orca-system"), client.MatchingLabels{"app.kubernetes.io/component": "manager"})
		return err == nil && len(pods.Items) == replicas, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for %d replicas of the operator: %w", replicas, err)
	}
	return nil
}

// awaitThat waits until something holds.
func awaitThat(t *testing.T, what string, holds func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 200*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		return holds(), nil
	})
	if err != nil {
		t.Fatalf("waiting for %s: %v", what, err)
	}
}

// F37: without the operator nothing can be made, and everything deleted.
func TestDeletingNeedsNoManager(t *testing.T) {
	s := start(t, "exit 0")
	awaitReason(t, s, orcav1alpha1.ReasonCompleted)
	withoutManager(t)
	if err := cluster.Create(t.Context(), session(s.Namespace, "exit 0")); !apierrors.IsInternalError(err) {
		t.Errorf("making a session: %v, want that it is refused", err)
	}
	if err := cluster.Create(t.Context(), environment(s.Namespace, "another")); !apierrors.IsInternalError(err) {
		t.Errorf("making an environment: %v, want that it is refused", err)
	}
	for _, object := range []client.Object{s, environment(s.Namespace, "env")} {
		if err := cluster.Delete(t.Context(), object); err != nil {
			t.Errorf("deleting %T: %v", object, err)
		}
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace}}
	if err := cluster.Delete(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	awaitThat(t, "the namespace to be gone", func() bool {
		return apierrors.IsNotFound(cluster.Get(t.Context(), client.ObjectKeyFromObject(namespace), namespace))
	})
}
