// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
)

func TestTheCacheHoldsOnlyWhatIsRead(t *testing.T) {
	namespace := newNamespace(t)
	report := newSession(namespace, "report", "env")
	create(t, newEnvironment(namespace, "env"), report, restrictedPod(namespace, "stranger"))
	m := start(t, namespace, nil)
	awaitState(t, report, "Starting", orcav1alpha1.ReasonStarting)
	own := podOf(t, report)

	var cached corev1.PodList
	await(t, "the pod to be in the cache", func() bool {
		if err := m.client.List(t.Context(), &cached, client.InNamespace(namespace)); err != nil {
			t.Fatal(err)
		}
		return len(cached.Items) > 0
	})
	if len(cached.Items) != 1 || cached.Items[0].Name != own.Name {
		t.Fatalf("the cache has the pods %v, want the session's alone", cached.Items)
	}
	pod := cached.Items[0]
	if diff := cmp.Diff(corev1.PodSpec{}, pod.Spec); diff != "" {
		t.Errorf("spec of the cached pod (-want +got):\n%s", diff)
	}
	want := map[string]string{"orca.dev/inputs": own.Annotations["orca.dev/inputs"]}
	if diff := cmp.Diff(want, pod.Annotations); diff != "" {
		t.Errorf("annotations of the cached pod (-want +got):\n%s", diff)
	}
	var session orcav1alpha1.OrcaSession
	if err := m.client.Get(t.Context(), client.ObjectKeyFromObject(report), &session); err != nil {
		t.Fatal(err)
	}
	if len(pod.ManagedFields)+len(session.ManagedFields) > 0 {
		t.Error("the cache holds managedFields")
	}
}
