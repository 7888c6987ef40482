// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"iter"

	"k8s.io/apimachinery/pkg/util/validation/field"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/layout"
	"github.com/orca-agent-engine/orca-operator/controllers/settings"
)

// sessionRules are what a session must keep. The first one that is broken gives
// the session its reason.
var sessionRules = []rule[*subject]{
	{judge: filesWithinLimit, reason: orcav1alpha1.ReasonLimitExceeded},
	{judge: storesWithinLimit, reason: orcav1alpha1.ReasonLimitExceeded},
	{judge: repositoriesWithinLimit, reason: orcav1alpha1.ReasonLimitExceeded},
	{judge: commandPresent, reason: orcav1alpha1.ReasonInvalidSpec},
	{judge: noAgentInSeparateMode, reason: orcav1alpha1.ReasonInvalidSpec},
	{judge: artifactsUnsupported, reason: orcav1alpha1.ReasonFileUnavailable},
	{judge: addressesValid, reason: orcav1alpha1.ReasonInvalidSpec},
	{judge: refsValid, reason: orcav1alpha1.ReasonInvalidSpec},
	{judge: pathsValid, reason: orcav1alpha1.ReasonInvalidSpec},
	{judge: skillsReserved, reason: orcav1alpha1.ReasonReservedRoot},
	{judge: storesDistinct, reason: orcav1alpha1.ReasonDuplicateMountPath},
	{judge: fixedRootsApart, reason: orcav1alpha1.ReasonOverlappingRoots},
	{judge: writableRootsApart, reason: orcav1alpha1.ReasonOverlappingRoots},
	{judge: writtenClaimsApart, reason: orcav1alpha1.ReasonOverlappingRoots},
	{
		judge: filesAreNoDirectories, reason: orcav1alpha1.ReasonMountConflict, stage: atStart,
		warning: "the session will not start (MountConflict): a file where every sandbox has a directory:",
	},
	{
		judge: filesDistinct, reason: orcav1alpha1.ReasonMountConflict, stage: atStart,
		warning: "the session will not start (MountConflict): files on one path:",
	},
	{
		judge: repositoriesDistinct, reason: orcav1alpha1.ReasonMountConflict, stage: atStart,
		warning: "the session will not start (MountConflict): repositories in one directory:",
	},
	{
		judge: storesUndisturbed, reason: orcav1alpha1.ReasonMountConflict, stage: atStart,
		warning: "the session will not start (MountConflict): a resource inside a memory store:",
	},
	{
		judge: readOnlyRootsApart, stage: never,
		warning: "read-only paths overlap; if their contents clash, setup fails:",
	},
	{
		judge: claimsOnce, stage: never,
		warning: "memory stores, all ReadOnly, have one claim:",
	},
	{
		judge: repositoriesKept, stage: never,
		warning: "what is not pushed from a ReadWrite repository is lost when the session goes idle:",
	},
}

// Session returns what keeps a session from starting.
func Session(session *orcav1alpha1.OrcaSession, deployment settings.Effective) Violations {
	return refusals(sessionRules, atStart, newSubject(session, deployment))
}

// SessionAdmission returns what keeps a session from being stored, and warnings
// about the rest, each of at most 256 bytes. All that it refuses Session refuses
// too.
func SessionAdmission(session *orcav1alpha1.OrcaSession, deployment settings.Effective) (Violations, []string) {
	subject := newSubject(session, deployment)
	return refusals(sessionRules, atAdmission, subject), warnings(sessionRules, subject)
}

// subject is what the rules for sessions judge.
type subject struct {
	spec       *orcav1alpha1.OrcaSessionSpec
	deployment settings.Effective
	// places are where the resources land, in their order.
	places []place
	// overlaps are the resources that lie in others.
	overlaps []overlap
	// fixed are the paths that the agent can write whatever the session is given.
	fixed []string
}

func newSubject(session *orcav1alpha1.OrcaSession, deployment settings.Effective) *subject {
	s := &subject{
		spec: &session.Spec, deployment: deployment,
		places: make([]place, 0, len(session.Spec.Resources)),
		fixed:  layout.WritableRoots(sharedMemory(deployment)),
	}
	for i := range session.Spec.Resources {
		s.places = append(s.places, newPlace(i, &session.Spec.Resources[i], deployment.Setup.AllowHTTP))
	}
	s.overlaps = findOverlaps(s.places)
	return s
}

// sharedMemory reports whether a sandbox has /dev/shm to write to.
func sharedMemory(deployment settings.Effective) bool {
	return !deployment.Sandbox.SharedMemory.IsZero()
}

// of returns the resources of a kind.
func (s *subject) of(kind orcav1alpha1.ResourceKind) iter.Seq[*place] {
	return func(yield func(*place) bool) {
		for i := range s.places {
			if s.places[i].kind == kind && !yield(&s.places[i]) {
				return
			}
		}
	}
}

// each returns a finding for every resource that a rule has a cause against.
func (s *subject) each(judge func(*place) *field.Error) []finding {
	var out []finding
	for i := range s.places {
		if cause := judge(&s.places[i]); cause != nil {
			out = append(out, finding{resource: s.places[i].Name, cause: cause})
		}
	}
	return out
}
