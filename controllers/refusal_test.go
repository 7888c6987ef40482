// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
)

// restrictedPod is a pod that has nothing to do with any session.
func restrictedPod(namespace, name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: corev1.PodSpec{
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot:   new(true),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name: "stranger", Image: "registry.test/stranger:v1",
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: new(false),
					Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
		},
	}
}

func TestAPodThatTheAPIServerRefusesIsMadeOnceItIsLet(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	report := newSession(namespace, "report", "env")
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "small"},
		Spec:       corev1.ResourceQuotaSpec{Hard: amounts("limits.cpu", "1")},
	}
	create(t, newEnvironment(namespace, "env"), quota)
	quota.Status = corev1.ResourceQuotaStatus{Hard: quota.Spec.Hard, Used: amounts("limits.cpu", "0")}
	if err := user.Status().Update(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	awaitRefusal(t, namespace)
	create(t, report)
	start(t, namespace, nil)
	awaitState(t, report, "Starting", orcav1alpha1.ReasonQuotaExceeded)
	message := readyMessage(report)
	if !strings.HasSuffix(message, "exceeded quota: small") {
		t.Errorf("message = %q, want one that ends with the quota's name", message)
	}
	if left := pods(t, namespace); len(left) > 0 {
		t.Fatalf("pods %v were made", left)
	}
	remove(t, quota)
	awaitState(t, report, "Starting", orcav1alpha1.ReasonStarting)
	podOf(t, report)
}

// awaitRefusal waits until the API server knows of the quota.
func awaitRefusal(t *testing.T, namespace string) {
	t.Helper()
	await(t, "the quota", func() bool {
		trial := restrictedPod(namespace, "trial")
		trial.Spec.Containers[0].Resources.Limits = amounts("cpu", "2")
		err := user.Create(t.Context(), trial, client.DryRunAll)
		return apierrors.IsForbidden(err)
	})
}

func amounts(name corev1.ResourceName, amount string) corev1.ResourceList {
	return corev1.ResourceList{name: resource.MustParse(amount)}
}

func readyMessage(session *orcav1alpha1.OrcaSession) string {
	return meta.FindStatusCondition(session.Status.Conditions, orcav1alpha1.ConditionReady).Message
}
