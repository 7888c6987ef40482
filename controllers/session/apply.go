// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/sandbox"
)

// retryRefused is how long a pod that the API server refuses isn't tried
// again.
const retryRefused = 10 * time.Second

// removePods deletes pods, each only if it is still the one that was seen.
func (r *Reconciler) removePods(ctx context.Context, pods []corev1.Pod) error {
	for i := range pods {
		if !pods[i].DeletionTimestamp.IsZero() {
			continue
		}
		err := r.Client.Delete(ctx, &pods[i], client.Preconditions{UID: &pods[i].UID})
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("deleting pod %q: %w", pods[i].Name, err)
		}
	}
	return nil
}

// startSandbox makes the pod of a new attempt and records what came of it.
func (r *Reconciler) startSandbox(ctx context.Context, j *judgement) error {
	pod, err := sandbox.Build(j.input(j.start))
	if err != nil {
		return fmt.Errorf("building the sandbox: %w", err)
	}
	made := pod.DeepCopy()
	err = r.Client.Create(ctx, made)
	switch {
	case err == nil:
		j.beginWith(pod, made)
	case apierrors.IsAlreadyExists(err):
		return r.takeExisting(ctx, j, pod)
	case apierrors.IsForbidden(err), apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		j.refused(err)
	default:
		return fmt.Errorf("creating the sandbox's pod: %w", err)
	}
	return nil
}

// beginWith records the sandbox of a new attempt, and ends it at once if the pod
// that was made is another than the one that was built: nothing in it could be
// believed.
func (j *judgement) beginWith(built, made *corev1.Pod) {
	j.begin(made)
	if altered := sandbox.Altered(built, made); altered != "" {
		j.remove = []corev1.Pod{*made}
		j.failSetup(orcav1alpha1.ReasonWritePolicyUnverified, messageAltered+altered)
	}
}

const messageAltered = "an admission webhook of the cluster changed the sandbox's pod, so that its write policy can't be verified: "

// takeExisting goes on with a pod that is there already: the session's own,
// which the cache doesn't show yet. A stranger's pod is left alone.
func (r *Reconciler) takeExisting(ctx context.Context, j *judgement, built *corev1.Pod) error {
	pod, err := r.livePod(ctx, j.session, built.Name)
	switch {
	case err != nil:
		return err
	case pod == nil:
		return fmt.Errorf("pod %q was there and is gone", built.Name)
	case metav1.IsControlledBy(pod, j.session):
		j.beginWith(built, pod)
	default:
		j.discard()
		j.status.PodName, j.status.PodUID = "", ""
		j.conflict(fmt.Sprintf("pod %q is there already and isn't this session's", built.Name))
	}
	return nil
}

// refused is about a pod that the API server doesn't take: it may take it
// later, when a quota is raised or a namespace's labels change.
func (j *judgement) refused(err error) {
	reason := orcav1alpha1.ReasonPodRejected
	if strings.Contains(err.Error(), "exceeded quota") {
		reason = orcav1alpha1.ReasonQuotaExceeded
	}
	message := withoutAmounts(err.Error())
	j.prepare()
	left := j.deadline().Sub(j.now)
	if left <= 0 {
		j.failSetup(reason, message)
		return
	}
	j.status.PodName, j.status.PodUID = "", ""
	j.wait(orcav1alpha1.SessionStateStarting, reason, message)
	j.after = min(retryRefused, left)
}

// amounts are where the API server and the kubelet say how much was asked for
// and how much there is. No status tells what the deployment gives a sandbox.
var amounts = regexp.MustCompile(`, requested: .*|, but (?:limit|request|provided ratio) is [^,\]]+|Invalid value: "[^"]*": `)

func withoutAmounts(message string) string {
	return amounts.ReplaceAllString(message, "")
}

// writeStatus writes the status if it changed, then tells what happened. It
// fails with a conflict if the session was written meanwhile: what was judged
// may not hold any more.
func (r *Reconciler) writeStatus(ctx context.Context, j *judgement) error {
	if equality.Semantic.DeepEqual(j.status, j.session.Status) {
		return nil
	}
	session := j.session.DeepCopy()
	session.Status = j.status
	patch := client.MergeFromWithOptions(j.session, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Status().Patch(ctx, session, patch); err != nil {
		return err
	}
	if w := j.warning; w != nil {
		r.Recorder.Eventf(session, nil, corev1.EventTypeWarning, w.reason, eventAction, "%s", w.note)
	}
	return nil
}
