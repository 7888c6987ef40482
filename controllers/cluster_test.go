// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	orcatesting "github.com/orca-agent-engine/orca-operator/controllers/internal/testing"
	"github.com/orca-agent-engine/orca-operator/controllers/sandbox"
)

const (
	// patience is for a slow machine.
	patience = 30 * time.Second
	interval = 10 * time.Millisecond
)

// await polls until something holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(interval) {
		if time.Now().After(deadline) {
			t.Fatalf("waited %s for %s", patience, what)
		}
	}
}

// awaitState waits until a session is in a state for a reason, and checks what
// its status says then.
func awaitState(t *testing.T, session *orcav1alpha1.OrcaSession, state orcav1alpha1.SessionState, reason string) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(interval) {
		get(t, session)
		ready := meta.FindStatusCondition(session.Status.Conditions, orcav1alpha1.ConditionReady)
		if session.Status.State == state && ready != nil && ready.Reason == reason {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("waited %s for %s %s, the status is %+v", patience, state, reason, session.Status)
		}
	}
	orcatesting.CheckConditions(t, session.Status.Conditions, session.Status.ObservedGeneration)
}

func create(t *testing.T, objects ...client.Object) {
	t.Helper()
	for _, object := range objects {
		if err := user.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
}

func get(t *testing.T, object client.Object) {
	t.Helper()
	if err := user.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		t.Fatal(err)
	}
}

// change edits an object as it is now.
func change[O client.Object](t *testing.T, object O, edit func(O)) {
	t.Helper()
	get(t, object)
	before := object.DeepCopyObject().(client.Object)
	edit(object)
	if err := user.Patch(t.Context(), object, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
}

// newNamespace makes a namespace that holds pods to the restricted standard.
func newNamespace(t *testing.T) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "team-",
		Labels:       map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	create(t, namespace)
	return namespace.Name
}

func newEnvironment(namespace, name string) *orcav1alpha1.OrcaEnvironment {
	return &orcav1alpha1.OrcaEnvironment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

func newSession(namespace, name, environment string) *orcav1alpha1.OrcaSession {
	return &orcav1alpha1.OrcaSession{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       orcav1alpha1.OrcaSessionSpec{EnvironmentRef: orcav1alpha1.EnvironmentReference{Name: environment}},
	}
}

func newFile(name, configMap string) orcav1alpha1.SessionResource {
	return orcav1alpha1.SessionResource{Name: name, File: orcav1alpha1.FileResource{
		FileID: "file_" + name,
		Source: orcav1alpha1.FileSource{ConfigMapKeyRef: orcav1alpha1.ConfigMapKeyReference{Name: configMap, Key: name}},
	}}
}

// pods returns the pods of a namespace.
func pods(t *testing.T, namespace string) []corev1.Pod {
	t.Helper()
	var list corev1.PodList
	if err := user.List(t.Context(), &list, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// podOf returns the session's pod, of which there must be no other.
func podOf(t *testing.T, session *orcav1alpha1.OrcaSession) *corev1.Pod {
	t.Helper()
	var own []corev1.Pod
	for _, pod := range pods(t, session.Namespace) {
		if metav1.IsControlledBy(&pod, session) {
			own = append(own, pod)
		}
	}
	if len(own) != 1 || own[0].Name != session.Status.PodName || own[0].UID != session.Status.PodUID {
		t.Fatalf("session %s (pod %q) has the pods %v", session.Name, session.Status.PodName, own)
	}
	return &own[0]
}

// eventsOf returns the Events about a session.
func eventsOf(t *testing.T, session *orcav1alpha1.OrcaSession) []eventsv1.Event {
	t.Helper()
	var list eventsv1.EventList
	if err := user.List(t.Context(), &list, client.InNamespace(session.Namespace)); err != nil {
		t.Fatal(err)
	}
	var out []eventsv1.Event
	for _, event := range list.Items {
		if event.Regarding.UID == session.UID {
			out = append(out, event)
		}
	}
	return out
}

// schedule puts a pod on a node, from where it doesn't go at once.
func schedule(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	binding := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: "node"}}
	if err := user.SubResource("binding").Create(t.Context(), pod, binding); err != nil {
		t.Fatal(err)
	}
}

// report writes a pod's status as the kubelet does.
func report(t *testing.T, pod *corev1.Pod, phase corev1.PodPhase, setup, agent corev1.ContainerStatus) {
	t.Helper()
	get(t, pod)
	before := pod.DeepCopy()
	setup.Name, agent.Name = sandbox.SetupContainer, sandbox.AgentContainer
	pod.Status.Phase = phase
	pod.Status.InitContainerStatuses = []corev1.ContainerStatus{setup}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{agent}
	if err := user.Status().Patch(t.Context(), pod, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
}

func terminated(code int32, message string) corev1.ContainerStatus {
	reason := "Completed"
	if code != 0 {
		reason = "Error"
	}
	return corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: code, Reason: reason, Message: message,
		StartedAt: metav1.NewTime(metav1.Now().Add(-time.Minute)), FinishedAt: metav1.Now(),
	}}}
}

// runAgent lets setup succeed and the agent start.
func runAgent(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	report(t, pod, corev1.PodRunning, terminated(0, ""), corev1.ContainerStatus{
		Started: new(true), State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}},
	})
}

func endAgent(t *testing.T, pod *corev1.Pod, code int32) {
	t.Helper()
	phase := corev1.PodSucceeded
	if code != 0 {
		phase = corev1.PodFailed
	}
	report(t, pod, phase, terminated(0, ""), terminated(code, ""))
}

// remove deletes an object at once, as the kubelet does when all has stopped.
func remove(t *testing.T, object client.Object) {
	t.Helper()
	err := user.Delete(t.Context(), object, client.GracePeriodSeconds(0))
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
}
