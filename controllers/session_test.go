// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/controller-runtime/pkg/client"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	orcatesting "github.com/orca-agent-engine/orca-operator/controllers/internal/testing"
)

func TestASessionRunsToItsEnd(t *testing.T) {
	namespace := newNamespace(t)
	session := newSession(namespace, "report", "env")
	create(t, newEnvironment(namespace, "env"), session)
	if got := orcatesting.Verdict(t, session); got != status.InProgressStatus {
		t.Errorf("kstatus reads %s before anybody looked, want InProgress", got)
	}
	m := start(t, namespace, nil)

	awaitState(t, session, "Starting", orcav1alpha1.ReasonStarting)
	pod := podOf(t, session)
	want := []metav1.OwnerReference{{
		APIVersion: "orca.dev/v1alpha1", Kind: "OrcaSession", Name: session.Name, UID: session.UID,
		Controller: new(true), BlockOwnerDeletion: new(true),
	}}
	if diff := cmp.Diff(want, pod.OwnerReferences); diff != "" {
		t.Errorf("owners of the pod (-want +got):\n%s", diff)
	}
	runAgent(t, pod)
	awaitState(t, session, "Running", orcav1alpha1.ReasonRunning)
	if diff := cmp.Diff([]string{"POST pods", "PATCH orcasessions/status", "PATCH orcasessions/status"}, ofSessions(m)); diff != "" {
		t.Errorf("writes from create to Running (-want +got):\n%s", diff)
	}
	endAgent(t, pod, 0)
	awaitState(t, session, "Ended", orcav1alpha1.ReasonCompleted)
	if got := session.Status.ExitCode; got == nil || *got != 0 {
		t.Errorf("exitCode = %v, want 0", got)
	}
	podOf(t, session) // It stays for its logs.
	if events := eventsOf(t, session); len(events) > 0 {
		t.Errorf("nothing went wrong, but there are the events %v", events)
	}
}

// ofSessions returns the operator's writes that aren't about environments.
func ofSessions(m *manager) []string {
	var out []string
	for _, write := range m.writes.seen(0) {
		if write != "PATCH orcaenvironments/status" {
			out = append(out, write)
		}
	}
	return out
}

// awaitObserved waits until an environment's status is about its spec.
func awaitObserved(t *testing.T, environment *orcav1alpha1.OrcaEnvironment) {
	t.Helper()
	await(t, "the environment's status", func() bool {
		get(t, environment)
		return environment.Status.ObservedGeneration == environment.Generation
	})
	orcatesting.CheckConditions(t, environment.Status.Conditions, environment.Generation)
}

func TestNothingIsWrittenWhileNothingChanges(t *testing.T) {
	namespace := newNamespace(t)
	environment, session := newEnvironment(namespace, "env"), newSession(namespace, "report", "env")
	create(t, environment, session)
	m := start(t, namespace, nil)
	awaitState(t, session, "Starting", orcav1alpha1.ReasonStarting)
	pod := podOf(t, session)
	runAgent(t, pod)
	awaitState(t, session, "Running", orcav1alpha1.ReasonRunning)
	awaitObserved(t, environment)
	touch := func(o metav1.Object) { metav1.SetMetaDataLabel(objectMeta(o), "touched", "by-"+o.GetResourceVersion()) }
	before := len(m.writes.seen(0))
	for range 5 {
		awaitReconcile(t, "session", func() { change(t, pod, func(p *corev1.Pod) { touch(p) }) })
		awaitReconcile(t, "session", func() {
			change(t, session, func(s *orcav1alpha1.OrcaSession) {
				metav1.SetMetaDataAnnotation(&s.ObjectMeta, "touched", s.ResourceVersion)
			})
		})
	}
	change(t, session, func(s *orcav1alpha1.OrcaSession) { touch(s) })
	change(t, environment, func(e *orcav1alpha1.OrcaEnvironment) { touch(e) })
	if got := m.writes.seen(before); len(got) > 0 {
		t.Errorf("writes while nothing changed: %v", got)
	}
	want := session.ResourceVersion
	if get(t, session); session.ResourceVersion != want {
		t.Errorf("somebody wrote the session")
	}
}

func objectMeta(object metav1.Object) *metav1.ObjectMeta {
	switch o := object.(type) {
	case *corev1.Pod:
		return &o.ObjectMeta
	case *orcav1alpha1.OrcaSession:
		return &o.ObjectMeta
	case *orcav1alpha1.OrcaEnvironment:
		return &o.ObjectMeta
	default:
		panic("an object of another kind")
	}
}

func TestASessionWaitsForWhatIsMissing(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	session := newSession(namespace, "report", "env")
	session.Spec.Resources = []orcav1alpha1.SessionResource{newFile("table", "inputs")}
	create(t, session)
	start(t, namespace, nil)
	awaitState(t, session, "Pending", orcav1alpha1.ReasonEnvironmentNotFound)
	create(t, newEnvironment(namespace, "env"))
	awaitState(t, session, "Pending", orcav1alpha1.ReasonFileUnavailable)
	create(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "inputs"}})
	awaitState(t, session, "Starting", orcav1alpha1.ReasonStarting)

	pod := podOf(t, session)
	report(t, pod, corev1.PodFailed, terminated(1, `{"code":"FileUnavailable","resource":"table","cause":"no key"}`), corev1.ContainerStatus{})
	awaitState(t, session, "Starting", orcav1alpha1.ReasonFileUnavailable)
	change(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "inputs"}}, func(c *corev1.ConfigMap) {
		c.Data = map[string]string{"table": "1,2"}
	})
	awaitState(t, session, "Starting", orcav1alpha1.ReasonStarting)
	if session.Status.Attempt != 2 || podOf(t, session).UID == pod.UID {
		t.Errorf("attempt %d in pod %s, want a second one in another pod", session.Status.Attempt, session.Status.PodUID)
	}
}

func TestAnErrorIsToldInOneEvent(t *testing.T) {
	namespace := newNamespace(t)
	environment, session := newEnvironment(namespace, "env"), newSession(namespace, "report", "env")
	environment.Spec.Config.Packages = []string{"numpy"}
	create(t, environment, session)
	start(t, namespace, nil)
	awaitState(t, session, "Idle", orcav1alpha1.ReasonPackagesUnsupported)
	if got := orcatesting.Verdict(t, session); got != status.FailedStatus {
		t.Errorf("kstatus reads %s, want Failed", got)
	}
	awaitReconcile(t, "session", func() {
		change(t, environment, func(e *orcav1alpha1.OrcaEnvironment) { e.Spec.Config.Packages = []string{"scipy"} })
	})
	await(t, "an event", func() bool { return len(eventsOf(t, session)) > 0 })
	events := eventsOf(t, session)
	if len(events) != 1 || events[0].Series != nil {
		t.Fatalf("events = %+v, want one", events)
	}
	event := events[0]
	if event.Type != corev1.EventTypeWarning || event.Reason != orcav1alpha1.ReasonPackagesUnsupported ||
		event.Note != "session.error setup_failed: "+session.Status.Error.Message {
		t.Errorf("event = %s %s %q, error %q", event.Type, event.Reason, event.Note, session.Status.Error.Message)
	}
}

func TestAnEnvironmentWakesItsOwnSessions(t *testing.T) {
	namespace := newNamespace(t)
	mine, others := newEnvironment(namespace, "mine"), newEnvironment(namespace, "others")
	mine.Spec.Image, others.Spec.Image = "python:3", "python:3"
	create(t, mine, others)
	sessions := map[string]*orcav1alpha1.OrcaSession{}
	for _, name := range []string{"mine-1", "mine-2", "others-1"} {
		environment, _, _ := strings.Cut(name, "-")
		sessions[name] = newSession(namespace, name, environment)
		create(t, sessions[name])
	}
	start(t, namespace, nil)
	for _, session := range sessions {
		awaitState(t, session, "Idle", orcav1alpha1.ReasonImageRejected)
	}
	want := sessions["others-1"].ResourceVersion
	change(t, mine, func(e *orcav1alpha1.OrcaEnvironment) { e.Spec.Image = "" })
	awaitState(t, sessions["mine-1"], "Starting", orcav1alpha1.ReasonStarting)
	awaitState(t, sessions["mine-2"], "Starting", orcav1alpha1.ReasonStarting)
	if get(t, sessions["others-1"]); sessions["others-1"].ResourceVersion != want {
		t.Errorf("the session of the other environment was written: %+v", sessions["others-1"].Status)
	}
	if awaitObserved(t, mine); orcatesting.Verdict(t, mine) != status.CurrentStatus {
		t.Errorf("status of the environment: %+v", mine.Status)
	}
	if awaitObserved(t, others); orcatesting.Verdict(t, others) != status.FailedStatus {
		t.Errorf("status of the other environment: %+v", others.Status)
	}
}

func TestALostSandboxIsReplacedOnceSomebodyAsks(t *testing.T) {
	namespace := newNamespace(t)
	session := newSession(namespace, "report", "env")
	create(t, newEnvironment(namespace, "env"), session)
	start(t, namespace, nil)
	awaitState(t, session, "Starting", orcav1alpha1.ReasonStarting)
	pod := podOf(t, session)
	schedule(t, pod)
	runAgent(t, pod)
	awaitState(t, session, "Running", orcav1alpha1.ReasonRunning)
	if err := user.Delete(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	awaitState(t, session, "Ending", orcav1alpha1.ReasonEnding)
	remove(t, pod)
	awaitState(t, session, "Idle", orcav1alpha1.ReasonSandboxLost)
	change(t, session, func(s *orcav1alpha1.OrcaSession) {
		metav1.SetMetaDataAnnotation(&s.ObjectMeta, orcav1alpha1.ResumeAnnotation, "please")
	})
	awaitState(t, session, "Starting", orcav1alpha1.ReasonStarting)
	if podOf(t, session); session.Status.Attempt != 2 || session.Status.LastHandledResume != "please" {
		t.Errorf("attempt %d, resumed for %q", session.Status.Attempt, session.Status.LastHandledResume)
	}
}

func TestASessionIsIdleAndRunsAgain(t *testing.T) {
	namespace := newNamespace(t)
	session := newSession(namespace, strings.Repeat("long.", 50)+"one", "env")
	create(t, newEnvironment(namespace, "env"), session)
	start(t, namespace, nil)
	awaitState(t, session, "Starting", orcav1alpha1.ReasonStarting)
	pod := podOf(t, session)
	schedule(t, pod)
	ask := func(desired orcav1alpha1.DesiredState) {
		change(t, session, func(s *orcav1alpha1.OrcaSession) { s.Spec.DesiredState = desired })
	}
	ask(orcav1alpha1.DesiredStateIdle)
	awaitState(t, session, "Ending", orcav1alpha1.ReasonEnding)
	await(t, "the pod to be asked to stop", func() bool {
		get(t, pod)
		return pod.DeletionTimestamp != nil
	})
	remove(t, pod)
	awaitState(t, session, "Idle", orcav1alpha1.ReasonIdle)
	if got := orcatesting.Verdict(t, session); got != status.CurrentStatus {
		t.Errorf("kstatus reads %s, want Current", got)
	}
	ask(orcav1alpha1.DesiredStateRunning)
	awaitState(t, session, "Starting", orcav1alpha1.ReasonStarting)
	if got := podOf(t, session); session.Status.Attempt != 2 || got.UID == pod.UID {
		t.Errorf("attempt %d in pod %s", session.Status.Attempt, got.UID)
	}
	ask(orcav1alpha1.DesiredStateEnded)
	awaitState(t, session, "Ended", orcav1alpha1.ReasonEnded)
	if left := pods(t, namespace); len(left) > 0 {
		t.Errorf("pods %v are left", left)
	}
}

func TestADeletedSessionStopsItsSandbox(t *testing.T) {
	namespace := newNamespace(t)
	session := newSession(namespace, "report", "env")
	session.Finalizers = []string{"team.test/keep"}
	create(t, newEnvironment(namespace, "env"), session)
	start(t, namespace, nil)
	awaitState(t, session, "Starting", orcav1alpha1.ReasonStarting)
	pod := podOf(t, session)
	schedule(t, pod)
	if err := user.Delete(t.Context(), session); err != nil {
		t.Fatal(err)
	}
	awaitState(t, session, "Ending", orcav1alpha1.ReasonDeleting)
	await(t, "the pod to be asked to stop", func() bool {
		get(t, pod)
		return pod.DeletionTimestamp != nil
	})
	remove(t, pod)
	change(t, session, func(s *orcav1alpha1.OrcaSession) { s.Finalizers = nil })
	await(t, "the session to be gone", func() bool {
		return apierrors.IsNotFound(user.Get(t.Context(), client.ObjectKeyFromObject(session), session))
	})
	if left := pods(t, namespace); len(left) > 0 {
		t.Errorf("pods %v are left", left)
	}
}
