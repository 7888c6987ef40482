// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/repository"
	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

func TestWhatAnErrorOfCloningMeans(t *testing.T) {
	over, cancel := context.WithTimeoutCause(t.Context(), 0, timedOut(time.Minute))
	defer cancel()
	late := &repository.Error{Resource: "app", Cause: "git.test did not answer"}
	for name, tc := range map[string]struct {
		ctx  context.Context
		err  error
		want manifest.SetupResult
	}{
		"a repository failed": {
			t.Context(), late, manifest.SetupResult{Code: manifest.SetupRepositoryFailed, Resource: "app", Cause: "git.test did not answer"},
		},
		"a credential may appear later": {
			t.Context(), &repository.Error{Resource: "app", Missing: true, Cause: "no key"},
			manifest.SetupResult{Code: manifest.SetupCredentialUnavailable, Resource: "app", Cause: "no key"},
		},
		"a repository was why time is over": {
			over, late, manifest.SetupResult{Code: manifest.SetupRepositoryFailed, Resource: "app", Cause: "git.test did not answer"},
		},
		"something else was": {
			over, context.DeadlineExceeded, manifest.SetupResult{Code: manifest.SetupTimeout, Cause: "setup did not finish within 1m0s"},
		},
		"the platform failed": {
			t.Context(), errors.New("disk full"), manifest.SetupResult{Code: manifest.SetupInternal, Cause: "cloning the repositories: disk full"},
		},
		"a repository failed and the work folder could not be emptied": {
			t.Context(), errors.Join(late, errors.New("disk full")),
			manifest.SetupResult{Code: manifest.SetupRepositoryFailed, Resource: "app", Cause: "git.test did not answer"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Result(repositoryFailure(tc.ctx, tc.err))); diff != "" {
				t.Errorf("the result differs (-want +got):\n%s", diff)
			}
		})
	}
}

// A result has 512 bytes for its cause: the other resource must be in them.
func TestTheLongestNamesFitIntoACause(t *testing.T) {
	name := strings.Repeat("n", 63)
	outer := strings.Repeat("/"+strings.Repeat("d", 254), 4)
	inner := outer + "/x"
	writable := manifest.Repository{Resource: name, Path: outer, Volume: "/volume"}
	for what, document := range map[string]manifest.Setup{
		"an overlap":         {Repositories: []manifest.Repository{writable}, Files: []manifest.File{{Resource: "x", Path: inner}}},
		"a needed directory": {Files: []manifest.File{{Resource: "x", Path: outer}, {Resource: name, Path: inner}}},
		"two repositories":   {Repositories: []manifest.Repository{{Resource: name, Path: inner}, {Resource: "z", Path: inner}}},
	} {
		t.Run(what, func(t *testing.T) {
			_, err := newPlan(document)
			cause := Result(err).Cause
			if len(cause) > 512 || !strings.Contains(cause, `resource "`+name+`"`) {
				t.Errorf("the cause has %d bytes: %s", len(cause), cause)
			}
		})
	}
}
