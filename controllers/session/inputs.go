// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/sandbox"
)

// inputs are the objects that a sandbox is to be made from.
type inputs struct {
	// missing names the ConfigMaps that aren't there, sorted.
	missing []string
	// lost are the claims that aren't there or are being deleted, sorted.
	lost []lostClaim
	// newest is when the newest of the claims was made.
	newest metav1.Time
	// versions is the digest of the versions of all that are there.
	versions string
}

// lostClaim is a claim that no pod can use, and why.
type lostClaim struct{ name, why string }

// waitsForInputs reports whether the inputs may decide something: while there
// is no sandbox, or one that could not be assembled.
func waitsForInputs(o *observation) bool {
	status := &o.session.Status
	switch {
	case status.State == orcav1alpha1.SessionStateEnded || !o.session.DeletionTimestamp.IsZero():
		return false
	case o.session.Spec.DesiredState != orcav1alpha1.DesiredStateRunning:
		return false
	case !active(status):
		return true
	}
	pod := find(o.pods, status.PodName)
	return pod != nil && setupFailed(pod)
}

// readInputs looks at the metadata of the ConfigMaps that the session reads and
// of the claims that it uses. What is in them is for the sandbox alone.
func (r *Reconciler) readInputs(ctx context.Context, session *orcav1alpha1.OrcaSession) (inputs, error) {
	var out inputs
	digest := sha256.New()
	for _, name := range sandbox.ConfigMaps(session) {
		found, err := r.addConfigMap(ctx, digest, client.ObjectKey{Namespace: session.Namespace, Name: name})
		if err != nil {
			return inputs{}, err
		}
		if !found {
			out.missing = append(out.missing, name)
		}
	}
	for _, name := range sandbox.Claims(session) {
		if err := r.addClaim(ctx, digest, &out, client.ObjectKey{Namespace: session.Namespace, Name: name}); err != nil {
			return inputs{}, err
		}
	}
	out.versions = hex.EncodeToString(digest.Sum(nil))
	return out, nil
}

func (r *Reconciler) addConfigMap(ctx context.Context, digest hash.Hash, key client.ObjectKey) (found bool, err error) {
	configMap, err := metadata(ctx, r.Reader, "ConfigMap", key)
	if configMap == nil || err != nil {
		return false, err
	}
	fmt.Fprintf(digest, "%s/%s/%s\n", key.Name, configMap.UID, configMap.ResourceVersion)
	return true, nil
}

// addClaim counts a claim that is being deleted among those that aren't there:
// it stays only for as long as pods have it, and takes no new one. Nor does
// its version matter, which changes with each step of its life.
func (r *Reconciler) addClaim(ctx context.Context, digest hash.Hash, out *inputs, key client.ObjectKey) error {
	claim, err := r.claim(ctx, key)
	switch {
	case err != nil:
		return err
	case claim == nil:
		out.lost = append(out.lost, lostClaim{key.Name, "does not exist"})
	case !claim.DeletionTimestamp.IsZero():
		out.lost = append(out.lost, lostClaim{key.Name, "is being deleted"})
	default:
		fmt.Fprintf(digest, "claim %s/%s\n", key.Name, claim.UID)
		if out.newest.Before(&claim.CreationTimestamp) {
			out.newest = claim.CreationTimestamp
		}
	}
	return nil
}

// claim reads a claim's metadata. One that should be there and isn't is looked
// up once more at the API server: the cache may lag behind its creation.
func (r *Reconciler) claim(ctx context.Context, key client.ObjectKey) (*metav1.PartialObjectMetadata, error) {
	claim, err := metadata(ctx, r.Client, claimKind, key)
	if claim != nil || err != nil {
		return claim, err
	}
	return metadata(ctx, r.Reader, claimKind, key)
}

const claimKind = "PersistentVolumeClaim"

// metadata reads the metadata of an object of the core group. It is nil where
// there is none of that name.
func metadata(ctx context.Context, reader client.Reader, kind string, key client.ObjectKey) (*metav1.PartialObjectMetadata, error) {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
	err := reader.Get(ctx, key, object)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the metadata of %s %q: %w", kind, key.Name, err)
	}
	return object, nil
}
