// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
	"github.com/orca-agent-engine/orca-operator/controllers/sandbox"
)

// judgeSandbox is about a session whose sandbox is there, in whatever shape.
func (j *judgement) judgeSandbox(pod *corev1.Pod) {
	if !active(&j.status) {
		if j.stays() && j.unknown() {
			j.remove = []corev1.Pod{*pod}
			j.wait(orcav1alpha1.SessionStatePending, orcav1alpha1.ReasonWaitingForTermination, messageTerminating)
			return
		}
		j.begin(pod)
	}
	end, lost := agentEnd(pod), disrupted(pod)
	switch {
	case !pod.DeletionTimestamp.IsZero():
		j.stopping(pod)
	case j.status.State == orcav1alpha1.SessionStateEnding, !j.stays() && (end == nil || lost != ""):
		j.stop(pod, j.pods)
	case lost != "":
		j.lose(pod, lost)
	case end != nil:
		j.judgeEnd(pod, end)
	case setupFailed(pod):
		j.judgeSetupFailure(pod)
	case refusedByNode(pod):
		j.failSetup(orcav1alpha1.ReasonPodRejected, withoutAmounts(pod.Status.Reason+": "+pod.Status.Message))
	case ended(pod):
		j.lose(pod, "the sandbox's pod ended and doesn't say how")
	case j.ran(), agentStarted(pod):
		j.run(pod)
	default:
		j.judgeStarting(pod)
	}
}

// unknown reports whether the pod of the next attempt, which was made just before
// the operator stopped, isn't one that it would make now. Nobody has looked at
// what became of it on its way.
func (j *judgement) unknown() bool {
	built, err := sandbox.Build(j.input(j.status.Attempt + 1))
	return err != nil || j.unrecorded == nil || sandbox.Altered(built, j.unrecorded) != ""
}

// begin records the sandbox of a new attempt.
func (j *judgement) begin(pod *corev1.Pod) {
	j.status.Attempt++
	j.status.LastHandledResume = resumeValue(j.session)
	j.status.PodName, j.status.PodUID = pod.Name, pod.UID
	j.status.StartTime, j.status.EndTime = metav1.NewTime(j.now), metav1.Time{}
	j.status.ExitCode = nil
	j.status.Resources = j.places()
	j.prepare()
	j.wait(orcav1alpha1.SessionStateStarting, orcav1alpha1.ReasonStarting, messageStarting)
}

// stop removes pods of a session that is asked to have none.
func (j *judgement) stop(pod *corev1.Pod, pods []corev1.Pod) {
	j.remove = pods
	j.stopping(pod)
}

func (j *judgement) stopping(pod *corev1.Pod) {
	j.countRun(pod)
	if !j.stays() {
		j.discard()
	}
	j.wait(orcav1alpha1.SessionStateEnding, orcav1alpha1.ReasonEnding, "the sandbox is being stopped")
}

func (j *judgement) run(pod *corev1.Pod) {
	j.prepared(pod)
	j.status.State = orcav1alpha1.SessionStateRunning
	j.conditions().Reached(orcav1alpha1.ReasonRunning, j.runningMessage())
}

// judgeStarting is about a sandbox whose agent hasn't been executed yet. A
// status is written for what holds it up, not for each step that it takes.
func (j *judgement) judgeStarting(pod *corev1.Pod) {
	j.prepare()
	reason, message, recheck := j.holdup(pod)
	left := max(j.deadline().Sub(j.now), j.setupLeft(pod))
	if left > 0 {
		j.wait(orcav1alpha1.SessionStateStarting, reason, message)
		j.after = min(recheck, left)
		return
	}
	if reason == orcav1alpha1.ReasonStarting {
		reason, message = orcav1alpha1.ReasonSetupTimeout, fmt.Sprintf("the agent was not started in time (%s)", message)
	}
	j.remove = []corev1.Pod{*pod}
	j.failSetup(reason, message)
}

const (
	// reasonOOMKilled is the kubelet's word for a container out of memory.
	reasonOOMKilled = "OOMKilled"
	// reasonUnknown is its word for one that it lost track of, as after a
	// restart of the node.
	reasonUnknown = "ContainerStatusUnknown"
	// reasonStartError is its word for one that could not be started.
	reasonStartError = "StartError"
	// exitKilled is the exit code of a process that SIGKILL ended.
	exitKilled = 137
	// exitTerminated is that of one that SIGTERM ended.
	exitTerminated = 143

	messageLifetime = "the agent ran for as long as the deployment lets it"
)

// judgeEnd is about a sandbox whose agent's container has ended by itself.
func (j *judgement) judgeEnd(pod *corev1.Pod, end *corev1.ContainerStateTerminated) {
	switch {
	case !j.ran():
		j.judgeQuickEnd(pod, end)
	case j.separate():
		j.endSeparate(pod, end)
	default:
		j.endAgent(end)
	}
}

// judgeQuickEnd is about a container that ended before its agent was seen
// running. Only then is the launcher's word asked for, and only for which of
// the known things happened: afterwards the agent could have written it.
func (j *judgement) judgeQuickEnd(pod *corev1.Pod, end *corev1.ContainerStateTerminated) {
	result, err := manifest.DecodeResult[manifest.RunResult](end.Message)
	switch {
	case unmountable(end) != "":
		j.failSetup(orcav1alpha1.ReasonMountConflict,
			fmt.Sprintf("the sandbox's image has something at %q that keeps the runtime from mounting there", unmountable(end)))
	case err != nil:
		j.failSetup(orcav1alpha1.ReasonWritePolicyUnverified,
			fmt.Sprintf("the launcher ended with exit code %d and left no result", end.ExitCode))
	default:
		j.judgeResult(pod, end, result)
	}
}

func (j *judgement) judgeResult(pod *corev1.Pod, end *corev1.ContainerStateTerminated, result manifest.RunResult) {
	switch result.Code {
	case manifest.RunStarted, manifest.RunAgentExited, manifest.RunLifetimeExceeded:
		j.prepared(pod)
		j.endAgent(end)
	case manifest.RunStopped:
		j.judgeStop(pod, end)
	case manifest.RunCommandNotFound:
		j.failSetup(orcav1alpha1.ReasonInvalidSpec, fmt.Sprintf("command: %q was not found in the sandbox's image", result.Path))
	case manifest.RunCommandNotExecutable:
		j.failSetup(orcav1alpha1.ReasonInvalidSpec, fmt.Sprintf("command: %q can't be executed in the sandbox's image", result.Path))
	case manifest.RunStoreReadOnly, manifest.RunStoreForbidden:
		j.judgeStore(result)
	default:
		j.unestablished(result.Path)
	}
}

// judgeStop is about an agent that was asked to stop. Whoever asked may have
// been the agent: where it ended in another way than a stop ends a program,
// that is how it ended.
func (j *judgement) judgeStop(pod *corev1.Pod, end *corev1.ContainerStateTerminated) {
	switch end.ExitCode {
	case 0, exitKilled, exitTerminated:
		j.lose(pod, "the sandbox was stopped from outside")
	default:
		j.prepared(pod)
		j.endAgent(end)
	}
}

// unestablished is about a sandbox that something at a path kept from being
// what the session was promised.
func (j *judgement) unestablished(path string) {
	j.failSetup(orcav1alpha1.ReasonWritePolicyUnverified, fmt.Sprintf("the write policy could not be established: %q", path))
}

// endAgent is about an agent that ran and ended.
func (j *judgement) endAgent(end *corev1.ContainerStateTerminated) {
	ran := max(end.FinishedAt.Sub(end.StartedAt.Time), 0)
	exceeded := ran >= j.remaining()
	j.status.RunSeconds += int32(ran.Seconds())
	j.status.ExitCode = j.exitCode(end)
	j.status.EndTime = end.FinishedAt
	switch {
	case end.Reason == reasonOOMKilled && end.ExitCode == exitKilled:
		j.end(orcav1alpha1.ErrorAgentFailed, orcav1alpha1.ReasonOutOfMemory, "the agent ran out of memory")
	case exceeded:
		j.end(orcav1alpha1.ErrorLifetimeExceeded, orcav1alpha1.ReasonLifetimeExceeded, messageLifetime)
	case end.ExitCode != 0:
		j.end(orcav1alpha1.ErrorAgentFailed, orcav1alpha1.ReasonAgentFailed, fmt.Sprintf("the agent exited with code %d", end.ExitCode))
	default:
		j.status.State = orcav1alpha1.SessionStateEnded
		j.conditions().Reached(orcav1alpha1.ReasonCompleted, "the agent exited with code 0")
	}
}
