// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/orca-agent-engine/orca-operator/controllers/sandbox"
)

// What the scheduler and the kubelet write into a pod.

func unschedulable(pod *corev1.Pod, message string) {
	pod.Status.Phase = corev1.PodPending
	pod.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: message,
	}}
}

// scheduled is about a pod that has a node, which hasn't made it ready for its
// containers.
func scheduled(pod *corev1.Pod, since time.Time) {
	pod.Status.Phase = corev1.PodPending
	pod.Status.Conditions = []corev1.PodCondition{
		{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(since)},
		{Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionFalse},
	}
	pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: sandbox.SetupContainer, State: waits("PodInitializing", "")}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: sandbox.AgentContainer, State: waits("PodInitializing", "")}}
}

// waits is about a container that isn't there yet.
func waits(reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
}

func setupIs(pod *corev1.Pod, state corev1.ContainerState) {
	pod.Status.Phase = corev1.PodPending
	pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: sandbox.SetupContainer, State: state}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: sandbox.AgentContainer, State: waits("PodInitializing", "")}}
}

func setupEnds(pod *corev1.Pod, reason string, code int32, message string) {
	setupIs(pod, corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: reason, ExitCode: code, Message: message}})
	if code != 0 {
		pod.Status.Phase = corev1.PodFailed
	}
}

func agentIs(pod *corev1.Pod, state corev1.ContainerState, started bool) {
	setupEnds(pod, "Completed", 0, "")
	pod.Status.Phase = corev1.PodRunning
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: sandbox.AgentContainer, State: state, Started: &started}}
}

// agentRuns is about a pod whose startup probe has succeeded.
func agentRuns(pod *corev1.Pod, since time.Time) {
	agentIs(pod, corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(since)}}, true)
}

// agentEnds is about an agent's container that ran for some time until now.
func (s *scene) agentEnds(reason string, code int32, message string, ran time.Duration) {
	s.t.Helper()
	pod := s.pod()
	agentIs(pod, corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		Reason: reason, ExitCode: code, Message: message,
		StartedAt: metav1.NewTime(s.now.Add(-ran)), FinishedAt: metav1.NewTime(s.now),
	}}, false)
	pod.Status.Phase = corev1.PodSucceeded
	if code != 0 {
		pod.Status.Phase = corev1.PodFailed
	}
}

// disrupts is about a pod that the platform takes away.
func disrupts(pod *corev1.Pod, reason string) {
	pod.Status.Phase = corev1.PodFailed
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: reason,
	})
}

// setupIsRunning has setup running since a time.
func setupIsRunning(pod *corev1.Pod, since time.Time) {
	pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{
		Name:  sandbox.SetupContainer,
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(since)}},
	}}
}
