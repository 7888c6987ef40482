// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
	"github.com/orca-agent-engine/orca-operator/controllers/sandbox"
)

// setupEnd returns how setup ended, and nil while it hasn't.
func setupEnd(pod *corev1.Pod) *corev1.ContainerStateTerminated {
	if status := container(pod.Status.InitContainerStatuses, sandbox.SetupContainer); status != nil {
		return status.State.Terminated
	}
	return nil
}

// setupFailed reports whether setup ended without having assembled the
// sandbox.
func setupFailed(pod *corev1.Pod) bool {
	end := setupEnd(pod)
	return end != nil && end.ExitCode != 0
}

// setupResult returns what setup left behind once it had assembled the sandbox,
// and the zero result where it didn't say.
func setupResult(pod *corev1.Pod) manifest.SetupResult {
	end := setupEnd(pod)
	if end == nil {
		return manifest.SetupResult{}
	}
	result, err := manifest.DecodeResult[manifest.SetupResult](end.Message)
	if err != nil || result.Code != manifest.SetupPrepared {
		return manifest.SetupResult{}
	}
	return result
}

// agentEnd returns how the agent's container ended, and nil while it hasn't.
func agentEnd(pod *corev1.Pod) *corev1.ContainerStateTerminated {
	if status := container(pod.Status.ContainerStatuses, sandbox.AgentContainer); status != nil {
		return status.State.Terminated
	}
	return nil
}

// agentStarted reports whether the launcher has executed the agent: the
// startup probe says so, and nothing else does.
func agentStarted(pod *corev1.Pod) bool {
	status := container(pod.Status.ContainerStatuses, sandbox.AgentContainer)
	return status != nil && status.Started != nil && *status.Started
}

func containers(pod *corev1.Pod) []corev1.ContainerStatus {
	return slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)
}

func container(statuses []corev1.ContainerStatus, name string) *corev1.ContainerStatus {
	for i := range statuses {
		if statuses[i].Name == name {
			return &statuses[i]
		}
	}
	return nil
}

func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

// disrupted returns why the platform took a pod away, and "" if it didn't. An
// agent that the platform stops may well exit with 0.
func disrupted(pod *corev1.Pod) string {
	if !ended(pod) || refusedByNode(pod) {
		return ""
	}
	if condition := disruption(pod); condition != nil {
		return "the sandbox's pod was disrupted: " + condition.Reason
	}
	if pod.Status.Reason != "" {
		return "the sandbox's pod failed: " + pod.Status.Reason
	}
	for _, status := range containers(pod) {
		if end := status.State.Terminated; end != nil && end.Reason == reasonUnknown {
			return fmt.Sprintf("container %q was gone when its node looked for it", status.Name)
		}
	}
	return ""
}

func disruption(pod *corev1.Pod) *corev1.PodCondition {
	for i, condition := range pod.Status.Conditions {
		if condition.Type == corev1.DisruptionTarget && condition.Status == corev1.ConditionTrue {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

// refusedByNode reports whether the node didn't take a pod that was scheduled
// to it. Only then does a pod end without a word on any of its containers.
func refusedByNode(pod *corev1.Pod) bool {
	return ended(pod) && pod.Status.Reason != "" && len(containers(pod)) == 0 && disruption(pod) == nil
}

// agentTimes returns since when and until when the agent's container has run:
// until now while nothing says that it ended, since the zero time where nothing
// says when it began. The pod may be nil.
func agentTimes(pod *corev1.Pod, now time.Time) (since, until time.Time) {
	if pod == nil {
		return time.Time{}, now
	}
	status := container(pod.Status.ContainerStatuses, sandbox.AgentContainer)
	switch {
	case status == nil:
		return time.Time{}, now
	case status.State.Running != nil:
		return status.State.Running.StartedAt.Time, now
	case status.State.Terminated != nil && !status.State.Terminated.FinishedAt.IsZero():
		return status.State.Terminated.StartedAt.Time, status.State.Terminated.FinishedAt.Time
	default:
		return time.Time{}, now
	}
}

// twins reports whether two pods are of one attempt.
func twins(pods []corev1.Pod) bool {
	seen := map[int32]bool{}
	for i := range pods {
		attempt := sandbox.Attempt(&pods[i])
		if attempt > 0 && seen[attempt] {
			return true
		}
		seen[attempt] = true
	}
	return false
}

// mountError is how a runtime says that a mount has no place in the image.
var mountError = regexp.MustCompile(`error mounting .* to rootfs at "([^"]+)"`)

// unmountable returns the path at which the runtime could not mount what
// belongs there, and "" if the container ended for another reason.
func unmountable(end *corev1.ContainerStateTerminated) string {
	if match := mountError.FindStringSubmatch(end.Message); match != nil && end.Reason == reasonStartError {
		return match[1]
	}
	return ""
}

// The kubelet's words for a container that isn't there yet.
var (
	imageReasons = []string{
		"ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName",
		"ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed",
	}
	usualReasons = []string{"", "ContainerCreating", "PodInitializing"}
)

const messageStarting = "the sandbox is being made"

// holdup returns why a sandbox isn't there yet, as a condition reason and a
// message.
func holdup(pod *corev1.Pod) (reason, message string) {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Reason == corev1.PodReasonUnschedulable {
			return orcav1alpha1.ReasonUnschedulable, condition.Message
		}
	}
	for _, status := range containers(pod) {
		waiting := status.State.Waiting
		if waiting == nil || slices.Contains(usualReasons, waiting.Reason) {
			continue
		}
		reason = orcav1alpha1.ReasonStarting
		if slices.Contains(imageReasons, waiting.Reason) {
			reason = orcav1alpha1.ReasonImagePullFailed
		}
		return reason, fmt.Sprintf("container %q: %s: %s", status.Name, waiting.Reason, waiting.Message)
	}
	return orcav1alpha1.ReasonStarting, messageStarting
}
