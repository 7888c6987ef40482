// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package testing holds what the tests of several packages need.
package testing

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
)

// CheckConditions reports what kstatus, or whoever waits for a condition,
// would misread.
func CheckConditions(t *testing.T, conditions []metav1.Condition, generation int64) {
	t.Helper()
	seen := map[string]bool{}
	for _, condition := range conditions {
		if seen[condition.Type] {
			t.Errorf("condition %s is there twice", condition.Type)
		}
		seen[condition.Type] = true
		if condition.ObservedGeneration != generation {
			t.Errorf("condition %s is about generation %d, want %d", condition.Type, condition.ObservedGeneration, generation)
		}
		if condition.LastTransitionTime.IsZero() || condition.Reason == "" {
			t.Errorf("condition %s lacks a time or a reason: %+v", condition.Type, condition)
		}
	}
	checkReady(t, conditions)
}

// checkReady: Ready is always there; Reconciling and Stalled exist only while
// they are True, never both, and only beside a Ready that is False for the same
// reason.
func checkReady(t *testing.T, conditions []metav1.Condition) {
	t.Helper()
	ready := meta.FindStatusCondition(conditions, orcav1alpha1.ConditionReady)
	if ready == nil {
		t.Errorf("there is no condition Ready: %+v", conditions)
		return
	}
	reconciling := meta.FindStatusCondition(conditions, orcav1alpha1.ConditionReconciling)
	stalled := meta.FindStatusCondition(conditions, orcav1alpha1.ConditionStalled)
	if (ready.Status == metav1.ConditionTrue) != (reconciling == nil && stalled == nil) || (reconciling != nil && stalled != nil) {
		t.Errorf("conditions must be a true Ready, or a false one with Reconciling or Stalled: %+v", conditions)
	}
	for _, beside := range []*metav1.Condition{reconciling, stalled} {
		if beside != nil && (beside.Status != metav1.ConditionTrue || beside.Reason != ready.Reason || beside.Message != ready.Message) {
			t.Errorf("condition %+v is not as Ready is: %+v", *beside, *ready)
		}
	}
}

// Verdict returns what kstatus makes of an object.
func Verdict(t *testing.T, object runtime.Object) status.Status {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		t.Fatal(err)
	}
	result, err := status.Compute(&unstructured.Unstructured{Object: content})
	if err != nil {
		t.Fatal(err)
	}
	return result.Status
}
