// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/sandbox"
	"github.com/orca-agent-engine/orca-operator/controllers/settings"
)

// observation is everything that a judgement depends on.
type observation struct {
	session  *orcav1alpha1.OrcaSession
	settings settings.Effective
	now      time.Time
	// environment is nil where there is none of that name.
	environment *orcav1alpha1.OrcaEnvironment
	// pods are those that the session controls, of all attempts.
	pods []corev1.Pod
	// unrecorded is the pod of an attempt that the status doesn't know of, as it
	// is at the API server; nil if there is none.
	unrecorded *corev1.Pod
	// inputs are read only while they may decide something.
	inputs inputs
}

func (r *Reconciler) observe(ctx context.Context, session *orcav1alpha1.OrcaSession) (observation, error) {
	o := observation{
		session:  session,
		settings: r.Settings.ForNamespace(session.Namespace),
		// Times in a status are whole seconds.
		now: r.Clock.Now().Truncate(time.Second),
	}
	var err error
	if o.environment, err = r.environment(ctx, session); err != nil {
		return o, err
	}
	if o.pods, err = r.pods(ctx, session); err != nil {
		return o, err
	}
	if o.session, err = r.latest(ctx, session, o.pods); err != nil {
		return o, err
	}
	if next := sandbox.PodName(o.session, o.session.Status.Attempt+1); !active(&o.session.Status) && find(o.pods, next) != nil {
		if o.unrecorded, err = r.livePod(ctx, o.session, next); err != nil {
			return o, err
		}
	}
	if waitsForInputs(&o) {
		o.inputs, err = r.readInputs(ctx, session)
	}
	return o, err
}

// latest reads a session past the cache where there is a pod that its status
// doesn't know of. So it looks right after each start, since the news of the
// pod are faster than those of the status, and a judgement on the old status
// would end in a write that is refused.
func (r *Reconciler) latest(ctx context.Context, session *orcav1alpha1.OrcaSession, pods []corev1.Pod) (*orcav1alpha1.OrcaSession, error) {
	if find(pods, sandbox.PodName(session, session.Status.Attempt+1)) == nil {
		return session, nil
	}
	live := &orcav1alpha1.OrcaSession{}
	if err := r.Reader.Get(ctx, client.ObjectKeyFromObject(session), live); err != nil {
		return nil, fmt.Errorf("reading the session: %w", err)
	}
	if live.UID != session.UID {
		return session, nil
	}
	return live, nil
}

func (r *Reconciler) environment(ctx context.Context, session *orcav1alpha1.OrcaSession) (*orcav1alpha1.OrcaEnvironment, error) {
	environment := &orcav1alpha1.OrcaEnvironment{}
	key := client.ObjectKey{Namespace: session.Namespace, Name: session.Spec.EnvironmentRef.Name}
	err := r.Client.Get(ctx, key, environment)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the environment: %w", err)
	}
	return environment, nil
}

// pods lists the session's pods. One that should be there and isn't is looked
// up once more at the API server: the cache may lag behind its creation, and
// taking it for lost can't be undone.
func (r *Reconciler) pods(ctx context.Context, session *orcav1alpha1.OrcaSession) ([]corev1.Pod, error) {
	var list corev1.PodList
	err := r.Client.List(ctx, &list, client.InNamespace(session.Namespace), client.MatchingFields{indexSessionUID: string(session.UID)})
	if err != nil {
		return nil, fmt.Errorf("listing the session's pods: %w", err)
	}
	var pods []corev1.Pod
	for _, pod := range list.Items {
		if metav1.IsControlledBy(&pod, session) {
			pods = append(pods, pod)
		}
	}
	if !active(&session.Status) || find(pods, session.Status.PodName) != nil {
		return pods, nil
	}
	pod, err := r.livePod(ctx, session, session.Status.PodName)
	if pod != nil && metav1.IsControlledBy(pod, session) {
		pods = append(pods, *pod)
	}
	return pods, err
}

// livePod reads a pod past the cache. It is nil where there is none.
func (r *Reconciler) livePod(ctx context.Context, session *orcav1alpha1.OrcaSession, name string) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	err := r.Reader.Get(ctx, client.ObjectKey{Namespace: session.Namespace, Name: name}, pod)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading pod %q: %w", name, err)
	}
	return pod, nil
}
