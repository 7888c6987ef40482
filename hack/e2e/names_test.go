// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
)

// F38, P16: names may have 253 characters, labels and host names 63.
func TestSessionsOfEveryNameRunInPodsOfTheirOwn(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	create(t, environment(namespace, "env"))
	names := map[string]string{
		"63 characters":                        strings.Repeat("a", 63),
		"64 characters":                        strings.Repeat("a", 64),
		"253 characters":                       strings.Repeat("a", 253),
		"agrees with another in 63 characters": strings.Repeat("a", 63) + "-b",
		"dots":                                 "v1.2.report",
		"dots where it would be cut":           strings.Repeat("a", 45) + "." + strings.Repeat("b", 30),
		"a hyphen where it would be cut":       strings.Repeat("a", 45) + "-" + strings.Repeat("b", 30),
		"made by the API server":               "",
	}
	sessions := map[string]*orcav1alpha1.OrcaSession{}
	for what, name := range names {
		s := session(namespace, "hostname")
		if s.Name = name; name != "" {
			s.GenerateName = ""
		}
		create(t, s)
		sessions[what] = s
	}
	pods := map[string]string{}
	for what, s := range sessions {
		awaitReason(t, s, orcav1alpha1.ReasonCompleted)
		if other, taken := pods[s.Status.PodName]; taken {
			t.Errorf("%s and %s have one pod, %s", what, other, s.Status.PodName)
		}
		pods[s.Status.PodName] = what
		if got := strings.TrimSpace(logs(t, s)); got != s.Status.PodName {
			t.Errorf("%s: the host name is %q, want the pod's name %q uncut", what, got, s.Status.PodName)
		}
	}
}

func TestADeletedNameCanBeTakenAgain(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	create(t, environment(namespace, "env"))
	first, second := session(namespace, "sleep infinity"), session(namespace, "exit 0")
	first.Name, second.Name = "again", "again"
	create(t, first)
	awaitState(t, first, orcav1alpha1.SessionStateRunning)
	if err := cluster.Delete(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	create(t, second)
	awaitReason(t, second, orcav1alpha1.ReasonCompleted)
	if second.Status.PodName == first.Status.PodName {
		t.Errorf("both have the pod %s", first.Status.PodName)
	}
}

// P04: what a user writes under the operator's prefix has no effect.
func TestTheOperatorsOwnLabelsWinOverAUsers(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	create(t, environment(namespace, "env"))
	s := session(namespace, "exit 0")
	s.Labels = map[string]string{"orca.dev/session-uid": "another", "orca.dev/attempt": "7"}
	create(t, s)
	awaitReason(t, s, orcav1alpha1.ReasonCompleted)
	var pod corev1.Pod
	if err := cluster.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: s.Status.PodName}, &pod); err != nil {
		t.Fatal(err)
	}
	if pod.Labels["orca.dev/session-uid"] != string(s.UID) || pod.Labels["orca.dev/attempt"] != "1" {
		t.Errorf("labels of the pod: %v", pod.Labels)
	}
	if !metav1.IsControlledBy(&pod, s) {
		t.Error("the pod doesn't belong to the session")
	}
}
