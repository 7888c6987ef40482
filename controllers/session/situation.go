// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"cmp"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/conditions"
	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

// maxMessage leaves an Event's note, which may have 1,024 bytes, room for its
// prefix.
const maxMessage = 896

// The situations of the session. Each sets the state and Ready, with
// Reconciling or Stalled beside it.

func (j *judgement) wait(state orcav1alpha1.SessionState, reason, message string) {
	j.status.State = state
	j.conditions().Waiting(reason, manifest.Truncate(message, maxMessage))
}

// failSetup leaves the session idle and resumable.
func (j *judgement) failSetup(reason, message string) {
	j.finish()
	j.status.State = orcav1alpha1.SessionStateIdle
	j.fail(orcav1alpha1.ErrorSetupFailed, reason, message)
	j.conditions().Set(orcav1alpha1.ConditionPrepared, metav1.ConditionFalse, reason, j.status.Error.Message)
	if reason == orcav1alpha1.ReasonWritePolicyUnverified {
		j.conditions().Set(orcav1alpha1.ConditionWritePolicyEstablished, metav1.ConditionFalse, reason, j.status.Error.Message)
	}
}

// lose leaves the session idle and resumable. The pod is nil where it is gone.
func (j *judgement) lose(pod *corev1.Pod, message string) {
	j.countRun(pod)
	j.finish()
	j.discard()
	j.status.State = orcav1alpha1.SessionStateIdle
	j.fail(orcav1alpha1.ErrorSandboxLost, orcav1alpha1.ReasonSandboxLost, message)
}

// end is final.
func (j *judgement) end(kind orcav1alpha1.SessionErrorType, reason, message string) {
	j.finish()
	j.status.State = orcav1alpha1.SessionStateEnded
	j.fail(kind, reason, message)
}

func (j *judgement) fail(kind orcav1alpha1.SessionErrorType, reason, message string) {
	message = manifest.Truncate(cmp.Or(message, reason), maxMessage)
	j.status.Error = orcav1alpha1.SessionError{
		Type: kind, Reason: reason, Message: message,
		Time: metav1.NewTime(j.now), Attempt: j.status.Attempt, ObservedGeneration: j.session.Generation,
	}
	j.conditions().Stalled(reason, message)
	j.warning = &warning{reason, fmt.Sprintf("session.error %s: %s", kind, message)}
}

// conflict is about a pod that keeps the session from having its one sandbox.
// Somebody else must remove it: the operator doesn't choose.
func (j *judgement) conflict(message string) {
	if !conflicted(&j.status) {
		j.warning = &warning{orcav1alpha1.ReasonSandboxConflict, message}
	}
	j.status.State = orcav1alpha1.SessionStatePending
	j.conditions().Stalled(orcav1alpha1.ReasonSandboxConflict, message)
	j.after = recheckFailed
}

// finish closes the attempt.
func (j *judgement) finish() {
	if j.status.Attempt > 0 && j.status.EndTime.IsZero() {
		j.status.EndTime = metav1.NewTime(j.now)
	}
}

// countRun adds the time that the agent of a sandbox has run, once: when the
// sandbox begins to stop, or is found gone.
func (j *judgement) countRun(pod *corev1.Pod) {
	if !j.ran() || j.status.State == orcav1alpha1.SessionStateEnding {
		return
	}
	since, until := agentTimes(pod, j.now)
	if since.IsZero() {
		since = meta.FindStatusCondition(j.status.Conditions, orcav1alpha1.ConditionPrepared).LastTransitionTime.Time
	}
	j.status.RunSeconds += int32(max(until.Sub(since), 0) / time.Second)
}

// ran reports whether this attempt's agent was seen running.
func (j *judgement) ran() bool {
	return meta.IsStatusConditionTrue(j.status.Conditions, orcav1alpha1.ConditionPrepared)
}

// discarded reports whether nothing is prepared, or being prepared.
func (j *judgement) discarded() bool {
	return meta.IsStatusConditionFalse(j.status.Conditions, orcav1alpha1.ConditionPrepared)
}

// discard says that what was prepared is gone or going. Why a setup failed
// stays.
func (j *judgement) discard() {
	if !j.discarded() {
		j.pend()
	}
}

// pend says that nothing is being prepared.
func (j *judgement) pend() {
	j.conditions().Set(orcav1alpha1.ConditionPrepared, metav1.ConditionFalse, orcav1alpha1.ReasonPending, "no sandbox is being prepared")
	j.unverified()
}

func (j *judgement) prepare() {
	j.conditions().Set(orcav1alpha1.ConditionPrepared, metav1.ConditionUnknown, orcav1alpha1.ReasonPreparing, "the sandbox is being prepared")
	j.unverified()
}

// prepared says that the sandbox is as it should be: the launcher executes an
// agent only once it has verified the write policy.
func (j *judgement) prepared(pod *corev1.Pod) {
	j.conditions().Set(orcav1alpha1.ConditionPrepared, metav1.ConditionTrue, orcav1alpha1.ReasonPrepared, "the sandbox is prepared")
	setup := setupResult(pod)
	j.recordCommits(setup.Commits)
	reason, message := orcav1alpha1.ReasonVerified, "the mounts were verified in the agent's container, and Landlock holds the agent to them"
	// Setup ran on the node before anything of the agent did.
	if !setup.Landlock {
		reason, message = orcav1alpha1.ReasonVerifiedMountsOnly, "the mounts were verified in the agent's container; the node's kernel has no Landlock"
	}
	j.conditions().Set(orcav1alpha1.ConditionWritePolicyEstablished, metav1.ConditionTrue, reason, message)
}

// unverified says that the write policy was not verified yet.
func (j *judgement) unverified() {
	j.conditions().Set(orcav1alpha1.ConditionWritePolicyEstablished, metav1.ConditionUnknown, orcav1alpha1.ReasonPending, "no sandbox was verified yet")
}

func (j *judgement) conditions() conditions.Writer {
	return conditions.Writer{List: &j.status.Conditions, Generation: j.session.Generation, Now: j.now}
}
