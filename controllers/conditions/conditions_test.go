// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package conditions_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/orca-agent-engine/orca-operator/controllers/conditions"
)

var (
	start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	later = start.Add(time.Hour)
)

func condition(kind string, status metav1.ConditionStatus, reason string, generation int64, since time.Time) metav1.Condition {
	return metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: "because of " + reason,
		ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(since),
	}
}

func TestReadyAndWhatIsBesideIt(t *testing.T) {
	waiting := []metav1.Condition{
		condition("Ready", metav1.ConditionFalse, "Old", 1, start),
		condition("Reconciling", metav1.ConditionTrue, "Old", 1, start),
	}
	stalled := []metav1.Condition{
		condition("Ready", metav1.ConditionFalse, "Old", 1, start),
		condition("Stalled", metav1.ConditionTrue, "Old", 1, start),
	}
	reached := []metav1.Condition{condition("Ready", metav1.ConditionTrue, "Old", 1, start)}
	cases := map[string]struct {
		before []metav1.Condition
		write  func(conditions.Writer)
		want   []metav1.Condition
	}{
		"what is reached stands alone": {
			write: func(w conditions.Writer) { w.Reached("New", "because of New") },
			want:  []metav1.Condition{condition("Ready", metav1.ConditionTrue, "New", 2, later)},
		},
		"reaching ends the wait": {
			before: waiting,
			write:  func(w conditions.Writer) { w.Reached("New", "because of New") },
			want:   []metav1.Condition{condition("Ready", metav1.ConditionTrue, "New", 2, later)},
		},
		"reaching ends a failure": {
			before: stalled,
			write:  func(w conditions.Writer) { w.Reached("New", "because of New") },
			want:   []metav1.Condition{condition("Ready", metav1.ConditionTrue, "New", 2, later)},
		},
		"waiting takes what was reached back": {
			before: reached,
			write:  func(w conditions.Writer) { w.Waiting("New", "because of New") },
			want: []metav1.Condition{
				condition("Ready", metav1.ConditionFalse, "New", 2, later),
				condition("Reconciling", metav1.ConditionTrue, "New", 2, later),
			},
		},
		"waiting for something else moves no time": {
			before: waiting,
			write:  func(w conditions.Writer) { w.Waiting("New", "because of New") },
			want: []metav1.Condition{
				condition("Ready", metav1.ConditionFalse, "New", 2, start),
				condition("Reconciling", metav1.ConditionTrue, "New", 2, start),
			},
		},
		"a wait that ends in failure stalls": {
			before: waiting,
			write:  func(w conditions.Writer) { w.Stalled("New", "because of New") },
			want: []metav1.Condition{
				condition("Ready", metav1.ConditionFalse, "New", 2, start),
				condition("Stalled", metav1.ConditionTrue, "New", 2, later),
			},
		},
		"a failure that is tried again waits": {
			before: stalled,
			write:  func(w conditions.Writer) { w.Waiting("New", "because of New") },
			want: []metav1.Condition{
				condition("Ready", metav1.ConditionFalse, "New", 2, start),
				condition("Reconciling", metav1.ConditionTrue, "New", 2, later),
			},
		},
		"what holds still holds at the new generation": {
			before: stalled,
			write:  conditions.Writer.Observe,
			want: []metav1.Condition{
				condition("Ready", metav1.ConditionFalse, "Old", 2, start),
				condition("Stalled", metav1.ConditionTrue, "Old", 2, start),
			},
		},
		"a condition that no longer holds goes": {
			before: waiting,
			write: func(w conditions.Writer) {
				w.SetWhile(false, "Reconciling", metav1.ConditionTrue, "New", "because of New")
			},
			want: waiting[:1],
		},
		"a condition that begins to hold comes": {
			before: reached,
			write: func(w conditions.Writer) {
				w.SetWhile(true, "Other", metav1.ConditionFalse, "New", "because of New")
			},
			want: append(reached[:1:1], condition("Other", metav1.ConditionFalse, "New", 2, later)),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			list := append([]metav1.Condition(nil), tc.before...)
			tc.write(conditions.Writer{List: &list, Generation: 2, Now: later})
			if diff := cmp.Diff(tc.want, list); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWritingTheSameAgainChangesNothing(t *testing.T) {
	var list []metav1.Condition
	conditions.Writer{List: &list, Generation: 1, Now: start}.Stalled("Reason", "message")
	want := append([]metav1.Condition(nil), list...)
	conditions.Writer{List: &list, Generation: 1, Now: later}.Stalled("Reason", "message")
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
}
