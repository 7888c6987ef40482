// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
	"github.com/orca-agent-engine/orca-operator/controllers/policy"
	"github.com/orca-agent-engine/orca-operator/controllers/sandbox"
)

const (
	// recheckInputs is how often missing inputs are looked for: nothing tells
	// the operator when they come, since it may not watch ConfigMaps.
	recheckInputs = 5 * time.Second
	// recheckFailed is the same once the session has failed for want of them,
	// and how often a stranger's pod is looked for.
	recheckFailed = time.Minute

	messageTerminating = "an earlier sandbox of the session is not gone yet"
)

// failed reports whether the session is idle because something went wrong, and
// not because it was asked to be.
func (j *judgement) failed() bool {
	return j.status.State == orcav1alpha1.SessionStateIdle &&
		meta.IsStatusConditionTrue(j.status.Conditions, orcav1alpha1.ConditionStalled)
}

// resumes reports whether a failed session is to be tried again.
func (j *judgement) resumes() bool {
	return j.session.Generation > j.status.Error.ObservedGeneration ||
		resumeValue(j.session) != j.status.LastHandledResume ||
		j.causeGone()
}

// maxResume is how many bytes of a value the status takes.
const maxResume = 1024

// resumeValue returns the value of the resume annotation as the status records
// it: one that is too long for it, by its digest.
func resumeValue(session *orcav1alpha1.OrcaSession) string {
	value := session.Annotations[orcav1alpha1.ResumeAnnotation]
	if len(value) > maxResume {
		return manifest.Digest([]byte(value))
	}
	return value
}

// causeGone reports whether what a session failed for has changed.
func (j *judgement) causeGone() bool {
	switch j.status.Error.Reason {
	case orcav1alpha1.ReasonPackagesUnsupported, orcav1alpha1.ReasonImageRejected:
		if j.environment == nil {
			return true
		}
		violations := policy.Environment(j.environment, j.settings)
		return len(violations) == 0 || violations.Reason() != j.status.Error.Reason
	case orcav1alpha1.ReasonFileUnavailable:
		return len(j.inputs.missing) == 0 && j.inputsChanged(find(j.pods, j.status.PodName)) &&
			len(policy.Session(j.session, j.settings)) == 0
	case orcav1alpha1.ReasonMemoryStoreUnavailable:
		return len(j.inputs.lost) == 0 && j.claimsChanged() && len(policy.Session(j.session, j.settings)) == 0
	default:
		return false
	}
}

// inputsChanged reports whether the inputs are others than when a pod was made.
func (j *judgement) inputsChanged(pod *corev1.Pod) bool {
	return pod == nil || pod.Annotations[sandbox.AnnotationInputs] != j.inputs.versions
}

// recheck keeps looking for what a failed session lacked, where nothing would
// tell, and removes a sandbox that goes on although its session has failed.
func (j *judgement) recheck() {
	j.remove = slices.DeleteFunc(slices.Clone(j.pods), func(pod corev1.Pod) bool {
		return ended(&pod) || setupFailed(&pod) || agentEnd(&pod) != nil
	})
	if j.status.Error.Reason == orcav1alpha1.ReasonFileUnavailable {
		j.after = recheckFailed
	}
}

// judgeStart is about a session that has no sandbox and should have one.
func (j *judgement) judgeStart() {
	j.status.LastHandledResume = resumeValue(j.session)
	switch {
	case j.environment == nil:
		j.pend()
		j.wait(orcav1alpha1.SessionStatePending, orcav1alpha1.ReasonEnvironmentNotFound,
			fmt.Sprintf("environment %q does not exist", j.session.Spec.EnvironmentRef.Name))
	case j.violates():
	case len(j.leftovers()) > 0:
		j.remove = j.leftovers()
		j.wait(orcav1alpha1.SessionStatePending, orcav1alpha1.ReasonWaitingForTermination, messageTerminating)
	case len(j.inputs.missing) > 0:
		j.waitFor(orcav1alpha1.SessionStatePending, orcav1alpha1.ReasonFileUnavailable,
			fmt.Sprintf("ConfigMap %q does not exist", j.inputs.missing[0]), recheckInputs)
	case len(j.inputs.lost) > 0:
		j.waitForClaim(j.inputs.lost[0])
	case j.remaining() <= 0:
		j.end(orcav1alpha1.ErrorLifetimeExceeded, orcav1alpha1.ReasonLifetimeExceeded, messageLifetime)
	default:
		j.start = j.status.Attempt + 1
	}
}

// leftovers are the pods of the attempts so far. A later one isn't left over:
// it was just made, and the status doesn't show it yet.
func (j *judgement) leftovers() []corev1.Pod {
	return slices.DeleteFunc(slices.Clone(j.pods), func(pod corev1.Pod) bool {
		return sandbox.Attempt(&pod) > j.status.Attempt
	})
}

// violates ends the attempt if a rule is broken.
func (j *judgement) violates() bool {
	violations := policy.Environment(j.environment, j.settings)
	prefix := fmt.Sprintf("environment %q: ", j.environment.Name)
	if len(violations) == 0 {
		violations, prefix = policy.Session(j.session, j.settings), ""
	}
	if len(violations) == 0 {
		j.place()
		return j.tooLarge()
	}
	j.failSetup(violations.Reason(), prefix+violations.Message(maxMessage-len(prefix)))
	return true
}

// tooLarge ends the attempt if the session says more than a pod can carry. Any
// other reason that no pod can be built for is told when it is.
func (j *judgement) tooLarge() bool {
	err := sandbox.Check(j.input(j.status.Attempt + 1))
	if !errors.Is(err, sandbox.ErrTooLarge) {
		return false
	}
	j.failSetup(orcav1alpha1.ReasonLimitExceeded, err.Error())
	return true
}

// input is what the sandbox of an attempt is made from.
func (j *judgement) input(attempt int32) sandbox.Input {
	return sandbox.Input{
		Session: j.session, Settings: j.settings, Attempt: attempt,
		Lifetime: j.remaining(), InputVersions: j.inputs.versions,
	}
}

// place says where the session's resources are, as soon as that can be said.
func (j *judgement) place() {
	if j.status.Resources == nil {
		j.status.Resources = j.places()
	}
}

// places returns where the session's resources are. A session whose paths can't
// be derived has been refused before.
func (j *judgement) places() []orcav1alpha1.ResourceStatus {
	resources, err := sandbox.Resources(j.session)
	if err != nil {
		return nil
	}
	return resources
}

// waitFor waits until the deadline, then gives up. It looks again after some
// time, for what nothing tells of.
func (j *judgement) waitFor(state orcav1alpha1.SessionState, reason, message string, recheck time.Duration) {
	j.prepare()
	left := j.deadline().Sub(j.now)
	if left <= 0 {
		j.failSetup(reason, message)
		j.recheck()
		return
	}
	j.wait(state, reason, message)
	j.after = min(recheck, left)
}

// deadline is when setup must be over: setup.timeout after preparing began,
// however many sandboxes that took. Callers have called prepare.
func (j *judgement) deadline() time.Time {
	prepared := meta.FindStatusCondition(j.status.Conditions, orcav1alpha1.ConditionPrepared)
	return prepared.LastTransitionTime.Add(j.settings.Setup.Timeout.Duration)
}

// remaining is how long the agent may still run.
func (j *judgement) remaining() time.Duration {
	return j.settings.Sandbox.MaxLifetime.Duration - time.Duration(j.status.RunSeconds)*time.Second
}
