// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
)

// What the operator's pods are known by.
const (
	// LabelSessionUID holds the uid of the session. Only pods that have it are
	// watched.
	LabelSessionUID = "orca.dev/session-uid"
	// LabelAttempt holds the number of the attempt.
	LabelAttempt = "orca.dev/attempt"
	// AnnotationSession holds the session's name, which may be too long for a
	// label.
	AnnotationSession = "orca.dev/session"
	// AnnotationInputs holds the digest of the versions of the session's
	// inputs when the pod was made.
	AnnotationInputs = "orca.dev/inputs"

	annotationSetup   = "orca.dev/setup"
	annotationSandbox = "orca.dev/sandbox"
)

// The containers of a sandbox.
const (
	SetupContainer = "setup"
	AgentContainer = "sandbox"
)

// maxPrefix keeps pod names within 63 bytes, so that they serve as host names
// as they stand: a hyphen and 16 characters of hash follow.
const maxPrefix = 63 - 17

// PodName returns the name of the pod of one attempt. It is a function of the
// session's name, uid and attempt alone, so that two reconciles can't make two
// pods of one attempt, and sessions whose names agree in their beginning never
// share one.
func PodName(session *orcav1alpha1.OrcaSession, attempt int32) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%s/%d", session.Name, session.UID, attempt))
	hash := strings.ToLower(base32.StdEncoding.EncodeToString(sum[:10]))
	prefix := strings.ReplaceAll(session.Name[:min(len(session.Name), maxPrefix)], ".", "-")
	return prefix + "-" + hash
}

// Attempt returns the attempt that a pod of the operator belongs to, and 0 for
// any other pod.
func Attempt(pod *corev1.Pod) int32 {
	attempt, err := strconv.ParseInt(pod.Labels[LabelAttempt], 10, 32)
	if err != nil {
		return 0
	}
	return int32(attempt)
}
