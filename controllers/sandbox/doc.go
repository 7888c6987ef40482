// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sandbox builds the pod that implements the contract for one attempt
// of a session. It is pure: the same session, settings and attempt give the
// same pod, whatever the order of lists and maps.
//
// The pod has a setup container, which holds everything that is needed to
// assemble the sandbox, and the sandbox container, in which the agent runs and
// which holds nothing but the result. All read-only content lies in one
// volume, the sealed tree, which mirrors the sandbox's root: what shall appear
// at /workspace/skills lies at workspace/skills in it.
package sandbox
