// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package policy holds the rules that a session and an environment must keep
// before a sandbox is made, as ordered lists of pure functions. A broken rule
// is data, not an error: whoever asks decides what follows from it. Each rule
// says from which stage on it refuses: as the object is created, or before a
// sandbox is made, or never, and what the creator is warned of meanwhile.
//
// The rules are listed in sessionRules and environmentRules, and for users in
// docs/admission.md.
package policy
