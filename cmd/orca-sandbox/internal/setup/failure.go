// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"errors"
	"fmt"
	"time"

	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/sealed"
	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

// failure is an error that the session's owner can do something about.
type failure struct{ result manifest.SetupResult }

func (f *failure) Error() string { return f.result.Cause }

// Result returns what an error of Run means for the session.
func Result(err error) manifest.SetupResult {
	if failed, ok := errors.AsType[*failure](err); ok {
		return failed.result
	}
	return manifest.SetupResult{Code: manifest.SetupInternal, Cause: err.Error()}
}

// internal is an error of the platform that came up at one resource. A conflict
// and a failure stay what they are.
func internal(resource string, err error) error {
	if failed, ok := errors.AsType[*failure](err); ok {
		return failed
	}
	if clash, ok := errors.AsType[*sealed.Conflict](err); ok {
		return conflict(clash.Resource, clash.Cause)
	}
	return &failure{manifest.SetupResult{Code: manifest.SetupInternal, Resource: resource, Cause: err.Error()}}
}

func timedOut(limit time.Duration) error {
	cause := fmt.Sprintf("setup did not finish within %s", limit)
	return &failure{manifest.SetupResult{Code: manifest.SetupTimeout, Cause: cause}}
}

// conflict says that a resource can't be at its path, because of something else
// that the cause names.
func conflict(resource, cause string) error {
	return &failure{manifest.SetupResult{Code: manifest.SetupMountConflict, Resource: resource, Cause: cause}}
}

// overlapping says that a resource and a path that the agent may write overlap.
func overlapping(resource, cause string) error {
	return &failure{manifest.SetupResult{Code: manifest.SetupOverlappingRoots, Resource: resource, Cause: cause}}
}

// unavailable names one file whose source isn't there and says how many more
// there are.
func unavailable(file manifest.File, more int) error {
	cause := fmt.Sprintf("key %q is not in ConfigMap %q, or the ConfigMap does not exist", file.Key, file.ConfigMap)
	if more > 0 {
		cause += fmt.Sprintf(" (and %d more files are unavailable)", more)
	}
	return &failure{manifest.SetupResult{Code: manifest.SetupFileUnavailable, Resource: file.Resource, Cause: cause}}
}
