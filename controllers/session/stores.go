// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
	"github.com/orca-agent-engine/orca-operator/controllers/sandbox"
)

// volumePatience is how long the node may take for a pod's volumes before the
// claims are named. Most take a few seconds, some of a cloud half a minute.
const volumePatience = time.Minute

// waitForClaim is about a session one of whose claims isn't there. There is no
// sandbox then. A claim tells of itself when it comes.
func (j *judgement) waitForClaim(lost lostClaim) {
	j.status.PodName, j.status.PodUID = "", ""
	message := fmt.Sprintf("claim %q %s", lost.name, lost.why)
	for _, resource := range j.session.Spec.Resources {
		if resource.MemoryStore.Source.PersistentVolumeClaim.ClaimName == lost.name {
			message = fmt.Sprintf("resource %q: %s", resource.Name, message)
			break
		}
	}
	j.waitFor(orcav1alpha1.SessionStatePending, orcav1alpha1.ReasonMemoryStoreUnavailable, message, j.settings.Setup.Timeout.Duration)
}

// claimsChanged reports whether the claims are others than those that a session
// failed with. Without a pod to its name it failed for want of them; where that
// pod is gone, only a claim that was made since is surely another.
func (j *judgement) claimsChanged() bool {
	if j.status.PodName == "" {
		return true
	}
	if pod := find(j.pods, j.status.PodName); pod != nil {
		return j.inputsChanged(pod)
	}
	return j.inputs.newest.After(j.status.Error.Time.Time)
}

// holdup returns why a sandbox isn't there yet, as a condition reason and a
// message, and how long that can be said.
func (j *judgement) holdup(pod *corev1.Pod) (reason, message string, holds time.Duration) {
	holds = j.settings.Setup.Timeout.Duration
	reason, message = holdup(pod)
	since, waits := waitsForVolumes(pod)
	claims := sandbox.Claims(j.session)
	if !waits || len(claims) == 0 || reason != orcav1alpha1.ReasonStarting {
		return reason, message, holds
	}
	if patience := volumePatience - j.now.Sub(since); patience > 0 {
		return reason, message, patience
	}
	return orcav1alpha1.ReasonMemoryStoreUnavailable, unmounted(pod, claims), holds
}

// waitsForVolumes reports whether, and since when, a pod is on a node that
// hasn't made it ready for its containers: its volumes come first, and the news
// of what keeps them away are Events, which the operator doesn't read.
func waitsForVolumes(pod *corev1.Pod) (since time.Time, waits bool) {
	for _, status := range containers(pod) {
		if status.State.Running != nil || status.State.Terminated != nil {
			return time.Time{}, false
		}
	}
	for _, condition := range pod.Status.Conditions {
		switch {
		case condition.Type == corev1.PodReadyToStartContainers && condition.Status == corev1.ConditionTrue:
			return time.Time{}, false
		case condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionTrue:
			since, waits = condition.LastTransitionTime.Time, true
		}
	}
	return since, waits
}

func unmounted(pod *corev1.Pod, claims []string) string {
	quoted := make([]string, 0, len(claims))
	for _, claim := range claims {
		quoted = append(quoted, fmt.Sprintf("%q", claim))
	}
	return fmt.Sprintf("the node has not mounted the pod's volumes; 'kubectl describe pod %s' shows the cause; the memory stores' claims are %s",
		pod.Name, strings.Join(quoted, ", "))
}

// judgeStore is about a store that should be writable and isn't. The agent did
// not run, and the write policy doesn't hold, though for the session to mend.
func (j *judgement) judgeStore(result manifest.RunResult) {
	resource, found := j.storeAt(result.Path)
	if !found {
		j.unestablished(result.Path)
		return
	}
	claim := resource.MemoryStore.Source.PersistentVolumeClaim.ClaimName
	cause := "the volume is read-only, and the store is ReadWrite"
	if result.Code == manifest.RunStoreForbidden {
		cause = fmt.Sprintf("user and group %d may not write at the volume's root; its driver may not heed fsGroup", j.settings.Sandbox.RunAsUser)
	}
	j.failSetup(orcav1alpha1.ReasonMemoryStoreUnavailable, fmt.Sprintf("resource %q: claim %q: %s", resource.Name, claim, cause))
	j.conditions().Set(orcav1alpha1.ConditionWritePolicyEstablished, metav1.ConditionFalse,
		orcav1alpha1.ReasonWritePolicyUnverified, j.status.Error.Message)
}

// storeAt returns the memory store at a path.
func (j *judgement) storeAt(path string) (orcav1alpha1.SessionResource, bool) {
	at := map[string]string{}
	for _, resource := range j.status.Resources {
		at[resource.Name] = resource.MountPath
	}
	for _, resource := range j.session.Spec.Resources {
		if resource.Kind() == orcav1alpha1.ResourceKindMemoryStore && at[resource.Name] == path {
			return resource, true
		}
	}
	return orcav1alpha1.SessionResource{}, false
}
