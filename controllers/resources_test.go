// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
)

func newStore(name, claim string) orcav1alpha1.SessionResource {
	return orcav1alpha1.SessionResource{Name: name, MemoryStore: orcav1alpha1.MemoryStoreResource{
		StoreID: name, Access: orcav1alpha1.AccessReadWrite,
		Source: orcav1alpha1.MemoryStoreSource{PersistentVolumeClaim: orcav1alpha1.ClaimReference{ClaimName: claim}},
	}}
}

func newRepository(name string) orcav1alpha1.SessionResource {
	return orcav1alpha1.SessionResource{Name: name, GitRepository: orcav1alpha1.GitRepositoryResource{
		URL: "https://git.test/org/" + name + ".git",
	}}
}

func newClaim(namespace, name string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Annotations: map[string]string{"team.test/owner": "research"}},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Mi")}},
		},
	}
}

// resourcesSession makes a session with the given resources, and an
// environment.
func resourcesSession(t *testing.T, resources ...orcav1alpha1.SessionResource) *orcav1alpha1.OrcaSession {
	t.Helper()
	namespace := newNamespace(t)
	session := newSession(namespace, "report", "env")
	session.Spec.Resources = resources
	create(t, newEnvironment(namespace, "env"), session)
	return session
}

func TestASessionStartsOnceItsClaimIsThere(t *testing.T) {
	session := resourcesSession(t, newStore("notes", "notes-claim"))
	other := newSession(session.Namespace, "other", "env")
	other.Spec.Resources = []orcav1alpha1.SessionResource{newStore("facts", "facts-claim")}
	create(t, other)
	m := start(t, session.Namespace, nil)
	awaitState(t, session, "Pending", orcav1alpha1.ReasonMemoryStoreUnavailable)
	awaitState(t, other, "Pending", orcav1alpha1.ReasonMemoryStoreUnavailable)
	if got, want := readyMessage(session), `resource "notes": claim "notes-claim" does not exist`; got != want {
		t.Errorf("message = %q, want %q", got, want)
	}
	before := len(m.writes.seen(0))
	claim := newClaim(session.Namespace, "notes-claim")
	create(t, claim)
	awaitState(t, session, "Starting", orcav1alpha1.ReasonStarting)
	if diff := cmp.Diff([]string{"POST pods", "PATCH orcasessions/status"}, m.writes.seen(before)); diff != "" {
		t.Errorf("writes once the claim is there (-want +got):\n%s", diff)
	}
	if got := podOf(t, session).Spec.Volumes; !usesClaim(got, claim.Name) {
		t.Errorf("the pod has no volume of the claim: %v", got)
	}
	want := other.ResourceVersion
	if get(t, other); other.ResourceVersion != want {
		t.Errorf("the session that waits for another claim was written: %+v", other.Status)
	}
}

func usesClaim(volumes []corev1.Volume, claim string) bool {
	for _, volume := range volumes {
		if volume.PersistentVolumeClaim != nil && volume.PersistentVolumeClaim.ClaimName == claim {
			return true
		}
	}
	return false
}

func TestAClaimThatIsBeingDeletedIsNotThere(t *testing.T) {
	session := resourcesSession(t, newStore("notes", "notes-claim"))
	claim := newClaim(session.Namespace, "notes-claim")
	create(t, claim)
	remove(t, claim) // The API server keeps it until nothing uses it.
	start(t, session.Namespace, nil)
	awaitState(t, session, "Pending", orcav1alpha1.ReasonMemoryStoreUnavailable)
	if got, want := readyMessage(session), `resource "notes": claim "notes-claim" is being deleted`; got != want {
		t.Errorf("message = %q, want %q", got, want)
	}
	release(t, claim)
	await(t, "the claim to be told gone", func() bool {
		get(t, session)
		return strings.HasSuffix(readyMessage(session), "does not exist")
	})
	create(t, newClaim(session.Namespace, "notes-claim"))
	awaitState(t, session, "Starting", orcav1alpha1.ReasonStarting)
}

// release lets a claim go that was deleted while it might have been in use.
func release(t *testing.T, claim *corev1.PersistentVolumeClaim) {
	t.Helper()
	change(t, claim, func(c *corev1.PersistentVolumeClaim) { c.Finalizers = nil })
}

// A session whose claim and credential are there costs no more than one without
// either.
func TestAMemoryStoreCostsNoWrite(t *testing.T) {
	session := resourcesSession(t, newStore("notes", "notes-claim"), newRepository("app"))
	claim := newClaim(session.Namespace, "notes-claim")
	create(t, claim)
	m := start(t, session.Namespace, nil)
	awaitState(t, session, "Starting", orcav1alpha1.ReasonStarting)
	runAgent(t, podOf(t, session))
	awaitState(t, session, "Running", orcav1alpha1.ReasonRunning)
	change(t, claim, func(c *corev1.PersistentVolumeClaim) { c.Annotations["touched"] = "yes" })
	awaitReconcile(t, "session", func() {
		change(t, session, func(s *orcav1alpha1.OrcaSession) { s.Annotations = map[string]string{"touched": "yes"} })
	})
	if diff := cmp.Diff([]string{"POST pods", "PATCH orcasessions/status", "PATCH orcasessions/status"}, ofSessions(m)); diff != "" {
		t.Errorf("writes from create to Running (-want +got):\n%s", diff)
	}
	cached := &metav1.PartialObjectMetadata{}
	cached.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"))
	if err := m.client.Get(t.Context(), client.ObjectKeyFromObject(claim), cached); err != nil {
		t.Fatal(err)
	}
	if cached.UID != claim.UID || len(cached.Annotations) > 0 || len(cached.ManagedFields) > 0 {
		t.Errorf("the cache holds of the claim %+v", cached.ObjectMeta)
	}
}

func TestTheStatusNamesTheCommits(t *testing.T) {
	session := resourcesSession(t, newRepository("app"), newRepository("lib"))
	start(t, session.Namespace, nil)
	awaitState(t, session, "Starting", orcav1alpha1.ReasonStarting)
	app, lib := strings.Repeat("0a", 20), strings.Repeat("0b", 32)
	setup := terminated(0, `{"code":"Prepared","commits":{"app":"`+app+`","lib":"`+lib+`","other":"`+app+`"}}`)
	report(t, podOf(t, session), corev1.PodRunning, setup, corev1.ContainerStatus{
		Started: new(true), State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}},
	})
	awaitState(t, session, "Running", orcav1alpha1.ReasonRunning)
	want := []orcav1alpha1.ResourceStatus{
		{Name: "app", MountPath: "/workspace/app", Access: orcav1alpha1.AccessReadOnly, Commit: app},
		{Name: "lib", MountPath: "/workspace/lib", Access: orcav1alpha1.AccessReadOnly, Commit: lib},
	}
	if diff := cmp.Diff(want, session.Status.Resources); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}
}

func TestASandboxThatLackedACredentialIsReplaced(t *testing.T) {
	session := resourcesSession(t, newRepository("app"))
	m := start(t, session.Namespace, nil)
	awaitState(t, session, "Starting", orcav1alpha1.ReasonStarting)
	pod := podOf(t, session)
	report(t, pod, corev1.PodFailed, terminated(1, `{"code":"CredentialUnavailable","resource":"app","cause":"no Secret"}`), corev1.ContainerStatus{})
	awaitState(t, session, "Starting", orcav1alpha1.ReasonRepositoryFailed)
	before := len(m.writes.seen(0))
	awaitReconcile(t, "session", func() {
		change(t, session, func(s *orcav1alpha1.OrcaSession) { s.Annotations = map[string]string{"touched": "yes"} })
	})
	if got := m.writes.seen(before); len(got) > 0 {
		t.Errorf("writes while it waits: %v", got)
	}
	awaitState(t, session, "Starting", orcav1alpha1.ReasonStarting)
	if session.Status.Attempt != 2 || podOf(t, session).UID == pod.UID {
		t.Errorf("attempt %d in pod %s, want a second one in another pod", session.Status.Attempt, session.Status.PodUID)
	}
}

func TestAStoreThatCannotBeWrittenIsTheSessionsToMend(t *testing.T) {
	session := resourcesSession(t, newStore("notes", "notes-claim"))
	claim := newClaim(session.Namespace, "notes-claim")
	create(t, claim)
	start(t, session.Namespace, nil)
	awaitState(t, session, "Starting", orcav1alpha1.ReasonStarting)
	pod := podOf(t, session)
	report(t, pod, corev1.PodFailed, terminated(0, `{"code":"Prepared"}`), terminated(125, `{"code":"StoreReadOnly","path":"/mnt/memory/notes"}`))
	awaitState(t, session, "Idle", orcav1alpha1.ReasonMemoryStoreUnavailable)
	policy := meta.FindStatusCondition(session.Status.Conditions, orcav1alpha1.ConditionWritePolicyEstablished)
	if policy.Status != metav1.ConditionFalse || policy.Reason != orcav1alpha1.ReasonWritePolicyUnverified {
		t.Errorf("WritePolicyEstablished = %+v", policy)
	}
	remove(t, claim)
	release(t, claim)
	create(t, newClaim(session.Namespace, "notes-claim"))
	awaitState(t, session, "Starting", orcav1alpha1.ReasonStarting)
	if podOf(t, session).UID == pod.UID {
		t.Error("the sandbox is still the first one")
	}
}
