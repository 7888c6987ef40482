// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package layout is the sandbox contract's filesystem as pure functions: the
// paths an agent can rely on, where each kind of resource lands, which paths
// may be written, and how paths are compared. Admission, the pod builder and
// the in-sandbox program all call it, so that they can't disagree.
//
// It knows neither Kubernetes nor the file system: every function here is a
// statement about strings.
package layout
