// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package policy holds the rules that a session and an environment must keep
// before a sandbox is made, as ordered lists of pure functions. A broken rule
// is data, not an error: whoever asks decides what follows from it.
package policy
