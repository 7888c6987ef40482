// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"fmt"
	"regexp"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
	"github.com/orca-agent-engine/orca-operator/controllers/sandbox"
)

// How long after a sandbox that lacked something the next one is made. The
// operator may not look for Secrets, so setup must; and a ConfigMap that changes
// may still lack its key.
const (
	minBackOff = 5 * time.Second
	maxBackOff = time.Minute
)

// judgeSetupFailure is about a sandbox that could not be assembled. What isn't
// there may still come: then another sandbox is made.
func (j *judgement) judgeSetupFailure(pod *corev1.Pod) {
	end := setupEnd(pod)
	reason, message, missing := setupFailure(end)
	switch {
	case !missing:
		j.failSetup(reason, message)
	case j.triesAgain(pod, reason) && j.now.Before(j.deadline()):
		j.remove = []corev1.Pod{*pod}
		j.wait(orcav1alpha1.SessionStatePending, orcav1alpha1.ReasonWaitingForTermination, messageTerminating)
	case reason == orcav1alpha1.ReasonRepositoryFailed:
		j.waitFor(orcav1alpha1.SessionStateStarting, reason, message, j.nextTry(end).Sub(j.now))
	default:
		j.waitFor(orcav1alpha1.SessionStateStarting, reason, message, recheckInputs)
	}
}

// triesAgain reports whether another sandbox may find what this one lacked.
func (j *judgement) triesAgain(pod *corev1.Pod, reason string) bool {
	if j.now.Before(j.nextTry(setupEnd(pod))) {
		return false
	}
	return reason == orcav1alpha1.ReasonRepositoryFailed || j.inputsChanged(pod)
}

// nextTry returns when the next sandbox may be made. Each wait is as
// long as all that passed since preparing began, so it about doubles with each
// sandbox, and needs no count of them. A node whose clock is behind makes it no
// sooner.
func (j *judgement) nextTry(end *corev1.ContainerStateTerminated) time.Time {
	ended := end.FinishedAt.Time
	if ended.Before(j.status.StartTime.Time) {
		ended = j.status.StartTime.Time
	}
	prepared := meta.FindStatusCondition(j.status.Conditions, orcav1alpha1.ConditionPrepared)
	passed := ended.Sub(prepared.LastTransitionTime.Time)
	return ended.Add(min(max(passed, minBackOff), maxBackOff))
}

// setupFailure returns why setup failed, as a condition reason and a message,
// and whether that is for want of something that may still come.
func setupFailure(end *corev1.ContainerStateTerminated) (reason, message string, missing bool) {
	if end.Reason == reasonOOMKilled {
		return orcav1alpha1.ReasonSetupOutOfMemory, "setup ran out of memory", false
	}
	result, err := manifest.DecodeResult[manifest.SetupResult](end.Message)
	if err != nil {
		return orcav1alpha1.ReasonWritePolicyUnverified, fmt.Sprintf("setup ended with exit code %d and left no result", end.ExitCode), false
	}
	if result.Resource != "" {
		result.Cause = fmt.Sprintf("resource %q: %s", result.Resource, result.Cause)
	}
	switch result.Code {
	case manifest.SetupFileUnavailable:
		return orcav1alpha1.ReasonFileUnavailable, result.Cause, true
	case manifest.SetupCredentialUnavailable:
		return orcav1alpha1.ReasonRepositoryFailed, result.Cause, true
	case manifest.SetupRepositoryFailed:
		return orcav1alpha1.ReasonRepositoryFailed, result.Cause, false
	case manifest.SetupMountConflict:
		return orcav1alpha1.ReasonMountConflict, result.Cause, false
	case manifest.SetupOverlappingRoots:
		return orcav1alpha1.ReasonOverlappingRoots, result.Cause, false
	case manifest.SetupTimeout:
		return orcav1alpha1.ReasonSetupTimeout, result.Cause, false
	default:
		return orcav1alpha1.ReasonWritePolicyUnverified, "setup could not assemble the sandbox: " + result.Cause, false
	}
}

// reportTime is how long setup has, once its time is over, to say what took it.
const reportTime = 15 * time.Second

// setupLeft is how long to wait for setup while it runs. It has as long as the
// session, counted from its own start, which is later, and knows why it isn't
// done. Zero or less: it doesn't run, or not any more.
func (j *judgement) setupLeft(pod *corev1.Pod) time.Duration {
	status := container(pod.Status.InitContainerStatuses, sandbox.SetupContainer)
	if status == nil || status.State.Running == nil {
		return 0
	}
	started := status.State.Running.StartedAt.Time
	return started.Add(j.settings.Setup.Timeout.Duration + reportTime).Sub(j.now)
}

// commitID is the full id of a commit, by SHA-1 or SHA-256.
var commitID = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// recordCommits says what was checked out of each repository. Setup may name
// the session's repositories and nothing else.
func (j *judgement) recordCommits(commits map[string]string) {
	repositories := map[string]bool{}
	for _, resource := range j.session.Spec.Resources {
		repositories[resource.Name] = resource.Kind() == orcav1alpha1.ResourceKindGitRepository
	}
	for i := range j.status.Resources {
		resource := &j.status.Resources[i]
		if commit := commits[resource.Name]; repositories[resource.Name] && commitID.MatchString(commit) {
			resource.Commit = commit
		}
	}
}
