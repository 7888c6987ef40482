// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package conditions writes status conditions as kstatus reads them.
package conditions

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
)

// Writer sets the conditions of one object at one generation. A condition's
// transition time moves only when its status does.
type Writer struct {
	List       *[]metav1.Condition
	Generation int64
	Now        time.Time
}

// Set sets one condition.
func (w Writer) Set(kind string, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(w.List, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: message,
		ObservedGeneration: w.Generation, LastTransitionTime: metav1.NewTime(w.Now),
	})
}

// SetWhile sets a condition that exists only while it has something to say.
func (w Writer) SetWhile(holds bool, kind string, status metav1.ConditionStatus, reason, message string) {
	if !holds {
		meta.RemoveStatusCondition(w.List, kind)
		return
	}
	w.Set(kind, status, reason, message)
}

// Reached says that what the spec asks for has been reached.
func (w Writer) Reached(reason, message string) {
	w.ready(metav1.ConditionTrue, "", reason, message)
}

// Waiting says that the operator is still at work, or waits for something that
// may yet come.
func (w Writer) Waiting(reason, message string) {
	w.ready(metav1.ConditionFalse, orcav1alpha1.ConditionReconciling, reason, message)
}

// Stalled says that nothing more will happen without a change from outside.
func (w Writer) Stalled(reason, message string) {
	w.ready(metav1.ConditionFalse, orcav1alpha1.ConditionStalled, reason, message)
}

// ready sets Ready and, of Reconciling and Stalled, the one that is beside it.
func (w Writer) ready(status metav1.ConditionStatus, beside, reason, message string) {
	w.Set(orcav1alpha1.ConditionReady, status, reason, message)
	for _, kind := range []string{orcav1alpha1.ConditionReconciling, orcav1alpha1.ConditionStalled} {
		w.SetWhile(kind == beside, kind, metav1.ConditionTrue, reason, message)
	}
}

// Observe says that every condition still holds at the writer's generation.
func (w Writer) Observe() {
	for i := range *w.List {
		(*w.List)[i].ObservedGeneration = w.Generation
	}
}
