// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/sandbox"
)

// warning is an Event of type Warning.
type warning struct{ reason, note string }

// judgement is what follows from an observation.
type judgement struct {
	observation
	// status is the session's status as it should be.
	status orcav1alpha1.OrcaSessionStatus
	// warning is the Event that tells of what happened; nil for none.
	warning *warning
	// remove lists pods to delete.
	remove []corev1.Pod
	// start is the attempt to make a pod for; 0 for none.
	start int32
	// after is when to judge again if nothing happens before; 0 for never.
	after time.Duration
}

func judge(o observation) *judgement {
	j := &judgement{observation: o, status: *o.session.Status.DeepCopy()}
	j.status.ObservedGeneration = o.session.Generation
	if meta.FindStatusCondition(j.status.Conditions, orcav1alpha1.ConditionPrepared) == nil {
		j.pend()
	}
	j.judge()
	j.conditions().Observe()
	return j
}

func (j *judgement) judge() {
	pod := j.current()
	switch {
	case j.status.State == orcav1alpha1.SessionStateEnded:
	case !j.session.DeletionTimestamp.IsZero():
		j.deleting()
	case pod == nil && j.failed() && !j.resumes():
		j.recheck()
	case j.stays() && twins(j.pods):
		j.conflict("one attempt has two pods; delete the one that should not be there")
	case pod != nil:
		j.judgeSandbox(pod)
	case active(&j.status):
		j.judgeAbsence()
	case !j.stays():
		j.judgeRest()
	default:
		j.judgeStart()
	}
	if !j.stays() && j.failed() {
		j.reach() // Who asked for no sandbox has none, whatever went wrong.
	}
}

// stays reports whether the session is asked to have a sandbox.
func (j *judgement) stays() bool {
	return j.session.Spec.DesiredState == orcav1alpha1.DesiredStateRunning
}

// active reports whether a sandbox belongs to a session in this status.
func active(status *orcav1alpha1.OrcaSessionStatus) bool {
	switch status.State {
	case orcav1alpha1.SessionStateStarting, orcav1alpha1.SessionStateRunning, orcav1alpha1.SessionStateEnding:
		return status.PodName != ""
	default:
		return status.PodName != "" && conflicted(status)
	}
}

// conflicted reports whether a session in this status waits for somebody to
// remove a pod. What it was before comes back with that.
func conflicted(status *orcav1alpha1.OrcaSessionStatus) bool {
	ready := meta.FindStatusCondition(status.Conditions, orcav1alpha1.ConditionReady)
	return status.State == orcav1alpha1.SessionStatePending && ready != nil && ready.Reason == orcav1alpha1.ReasonSandboxConflict
}

// current returns the pod of the session's attempt or, where none is recorded,
// the one that was made for the next attempt just before the operator stopped.
func (j *judgement) current() *corev1.Pod {
	if !active(&j.status) {
		return find(j.pods, sandbox.PodName(j.session, j.status.Attempt+1))
	}
	if pod := find(j.pods, j.status.PodName); pod != nil && pod.UID == j.status.PodUID {
		return pod
	}
	return nil
}

func find(pods []corev1.Pod, name string) *corev1.Pod {
	for i := range pods {
		if pods[i].Name == name {
			return &pods[i]
		}
	}
	return nil
}

// judgeAbsence is about a session whose sandbox is gone. One that was stopped
// as asked is no loss, whatever is asked by now.
func (j *judgement) judgeAbsence() {
	switch {
	case !j.stays():
		j.judgeRest()
	case j.discarded():
		j.judgeStart()
	default:
		j.remove = j.pods
		j.lose(nil, "the sandbox's pod is gone")
	}
}

// judgeRest is about a session that has no sandbox and should have none. Pods
// of it that haven't ended yet must go first.
func (j *judgement) judgeRest() {
	rest := slices.DeleteFunc(slices.Clone(j.pods), func(pod corev1.Pod) bool {
		return ended(&pod) && pod.DeletionTimestamp.IsZero()
	})
	if len(rest) > 0 {
		j.stop(nil, rest)
		return
	}
	j.countRun(nil)
	j.reach()
}

// deleting stops the sandbox of a session that is being deleted.
func (j *judgement) deleting() {
	j.countRun(j.current())
	j.remove = j.pods
	j.wait(orcav1alpha1.SessionStateEnding, orcav1alpha1.ReasonDeleting, "the session is being deleted")
}

// reach says that the session is as asked: without a sandbox.
func (j *judgement) reach() {
	j.finish()
	if j.session.Spec.DesiredState == orcav1alpha1.DesiredStateEnded {
		j.status.State = orcav1alpha1.SessionStateEnded
		j.conditions().Reached(orcav1alpha1.ReasonEnded, "the session ended as asked")
	} else {
		j.status.State = orcav1alpha1.SessionStateIdle
		j.conditions().Reached(orcav1alpha1.ReasonIdle, "the session is idle as asked")
	}
	j.discard()
}
