// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/sandbox"
)

func TestWhoMayWaitForAClaim(t *testing.T) {
	session := func(desired orcav1alpha1.DesiredState, state orcav1alpha1.SessionState) *orcav1alpha1.OrcaSession {
		return &orcav1alpha1.OrcaSession{
			Spec:   orcav1alpha1.OrcaSessionSpec{DesiredState: desired},
			Status: orcav1alpha1.OrcaSessionStatus{State: state},
		}
	}
	for name, tc := range map[string]struct {
		session *orcav1alpha1.OrcaSession
		want    bool
	}{
		"one that nobody looked at yet":  {session(runs, ""), true},
		"one that waits":                 {session(runs, "Pending"), true},
		"one whose sandbox is made":      {session(runs, "Starting"), true},
		"one that failed":                {session(runs, "Idle"), true},
		"one whose sandbox is stopping":  {session(runs, "Ending"), true},
		"one whose agent runs":           {session(runs, "Running"), false},
		"one that ended":                 {session(runs, "Ended"), false},
		"one that is asked for no agent": {session(idle, "Idle"), false},
	} {
		if got := mayWait(tc.session); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

func TestWhichNewsOfAClaimCount(t *testing.T) {
	claim := func(uid types.UID, deleted bool) *metav1.PartialObjectMetadata {
		object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{UID: uid}}
		if deleted {
			object.DeletionTimestamp = new(metav1.Now())
		}
		return object
	}
	for name, tc := range map[string]struct {
		before, after *metav1.PartialObjectMetadata
		want          bool
	}{
		"it was bound, or resized":          {claim("1", false), claim("1", false), false},
		"it is being deleted":               {claim("1", false), claim("1", true), true},
		"it is still being deleted":         {claim("1", true), claim("1", true), false},
		"another has come in its place":     {claim("1", true), claim("2", false), true},
		"another, and nobody saw it go":     {claim("1", false), claim("2", false), true},
		"another, which is being deleted":   {claim("1", true), claim("2", true), true},
		"it isn't being deleted any longer": {claim("1", true), claim("1", false), true},
	} {
		if got := claimComesOrGoes.Update(event.UpdateEvent{ObjectOld: tc.before, ObjectNew: tc.after}); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
	if !claimComesOrGoes.Create(event.CreateEvent{}) || !claimComesOrGoes.Delete(event.DeleteEvent{}) {
		t.Error("a claim that comes or goes doesn't count")
	}
}

func TestTheClaimsOfASession(t *testing.T) {
	twice := notes()
	twice.Name = "notes-again"
	another := notes()
	another.Name, another.MemoryStore.Source.PersistentVolumeClaim.ClaimName = "facts", "facts-claim"
	session := &orcav1alpha1.OrcaSession{Spec: orcav1alpha1.OrcaSessionSpec{
		Resources: []orcav1alpha1.SessionResource{notes(), twice, another, app(), file("table", "")},
	}}
	if diff := cmp.Diff([]string{"facts-claim", "notes-claim"}, sandbox.Claims(session)); diff != "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
}
