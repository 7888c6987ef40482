// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !amd64

package supervisor

// canInject reports whether a caller can be made to write to its standard
// error: not on this architecture.
func canInject(task, stream, Mounts) bool { return false }

// injectLine is never called where canInject reports false.
func injectLine(_ task, _ stream, _ []byte, proceed func() bool) error {
	_ = proceed()
	return errUnreachable
}
