// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/utils/ptr"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/layout"
	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
	"github.com/orca-agent-engine/orca-operator/controllers/settings"
)

// ErrTooLarge is about a session whose manifest is larger than a pod can carry.
var ErrTooLarge = errors.New("the session's manifest is too large")

// documents are what the containers of one sandbox are told, encoded.
type documents struct {
	setup, sandbox []byte
}

func encodeDocuments(in Input, files []manifest.File) (documents, error) {
	setup, err := manifest.Encode(setupDocument(in.Settings, files))
	if err != nil {
		return documents{}, err
	}
	sandbox, err := manifest.Encode(sandboxDocument(in))
	if err != nil {
		return documents{}, err
	}
	if size := len(setup) + len(sandbox); size > manifest.MaxBytes {
		return documents{}, fmt.Errorf("%w: it has %d bytes, at most %d are allowed", ErrTooLarge, size, manifest.MaxBytes)
	}
	return documents{setup: setup, sandbox: sandbox}, nil
}

func setupDocument(settings settings.Effective, files []manifest.File) manifest.Setup {
	return manifest.Setup{
		Directories:    layout.SealedDirectories(hasSharedMemory(settings)),
		Files:          files,
		TimeoutSeconds: wholeSeconds(settings.Setup.Timeout.Duration),
	}
}

func sandboxDocument(in Input) manifest.Sandbox {
	command, args := agentCommand(in.Session, in.Settings)
	return manifest.Sandbox{
		WritableRoots:      layout.WritableRoots(hasSharedMemory(in.Settings)),
		Command:            command,
		Args:               args,
		Env:                agentEnv(in.Session.Spec.Env),
		LifetimeSeconds:    wholeSeconds(in.Lifetime),
		GracePeriodSeconds: wholeSeconds(in.Settings.Sandbox.AgentGracePeriod.Duration),
	}
}

// agentCommand returns the session's command or, where it has none, the
// deployment's. Args belong to either.
func agentCommand(session *orcav1alpha1.OrcaSession, settings settings.Effective) (command, args []string) {
	if len(session.Spec.Command) > 0 {
		return session.Spec.Command, session.Spec.Args
	}
	return settings.Sandbox.Command, session.Spec.Args
}

// agentEnv sorts by name: the list is a map, its order means nothing.
func agentEnv(vars []orcav1alpha1.EnvVar) []manifest.EnvVar {
	out := make([]manifest.EnvVar, 0, len(vars))
	for _, v := range vars {
		out = append(out, manifest.EnvVar{Name: v.Name, Value: ptr.Deref(v.Value, "")})
	}
	slices.SortFunc(out, func(a, b manifest.EnvVar) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// wholeSeconds rounds up, so that a positive duration stays positive.
func wholeSeconds(d time.Duration) int64 {
	return int64((d + time.Second - 1) / time.Second)
}
