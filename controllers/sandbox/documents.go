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

// encodeDocuments fails with ErrTooLarge for a session that says too much. What
// the deployment adds for setup isn't counted: its settings bound it, and a
// pod's annotations have room for it besides.
func encodeDocuments(in Input, p *plan) (documents, error) {
	document := setupDocument(in.Settings, p)
	counted, err := manifest.Encode(document)
	if err != nil {
		return documents{}, err
	}
	sandbox, err := manifest.Encode(sandboxDocument(in, p))
	if err != nil {
		return documents{}, err
	}
	if size := len(counted) + len(sandbox); size > manifest.MaxBytes {
		return documents{}, fmt.Errorf("%w: it has %d bytes, at most %d are allowed", ErrTooLarge, size, manifest.MaxBytes)
	}
	document.ExtraCA, document.Proxy = in.Settings.Setup.ExtraCA, proxy(in.Settings.Setup.Proxy)
	setup, err := manifest.Encode(document)
	if err != nil {
		return documents{}, err
	}
	return documents{setup: setup, sandbox: sandbox}, nil
}

// setupDocument returns what setup is told without what the deployment adds.
func setupDocument(settings settings.Effective, p *plan) manifest.Setup {
	directories := append(layout.SealedDirectories(hasSharedMemory(settings)), p.mountPoints()...)
	slices.Sort(directories)
	document := manifest.Setup{
		Directories:    slices.Compact(directories),
		TimeoutSeconds: wholeSeconds(settings.Setup.Timeout.Duration),
	}
	for _, file := range p.files {
		document.Files = append(document.Files, fileDocument(file))
	}
	for _, repository := range p.repositories {
		document.Repositories = append(document.Repositories, repositoryDocument(repository))
	}
	return document
}

func proxy(settings settings.Proxy) *manifest.Proxy {
	document := manifest.Proxy{HTTP: settings.HTTPProxy, HTTPS: settings.HTTPSProxy, NoProxy: settings.NoProxy}
	if document == (manifest.Proxy{}) {
		return nil
	}
	return &document
}

func fileDocument(file placed[orcav1alpha1.FileResource]) manifest.File {
	source := file.spec.Source.ConfigMapKeyRef
	return manifest.File{
		Resource: file.name, Path: file.path,
		ConfigMap: source.Name, Key: source.Key,
		Source: file.name,
	}
}

func repositoryDocument(repository placed[orcav1alpha1.GitRepositoryResource]) manifest.Repository {
	spec := repository.spec
	document := manifest.Repository{
		Resource: repository.name, URL: spec.URL, Path: repository.path,
		Depth:      spec.Depth,
		Submodules: spec.Submodules == orcav1alpha1.SubmodulesRecursive,
		LFS:        spec.LFS == orcav1alpha1.LFSFetch,
		Secret:     spec.Credentials.SecretRef.Name,
	}
	if spec.Ref != nil {
		document.Branch, document.Tag, document.Commit = spec.Ref.Branch, spec.Ref.Tag, spec.Ref.Commit
	}
	if spec.Access == orcav1alpha1.AccessReadWrite {
		document.Volume = repositoriesDir + "/" + repository.name
	}
	if document.Secret != "" {
		document.Credential = credentialsDir + "/" + repository.name
	}
	return document
}

func sandboxDocument(in Input, p *plan) manifest.Sandbox {
	command, args := agentCommand(in.Session, in.Settings)
	return manifest.Sandbox{
		WritableRoots:      layout.WritableRoots(hasSharedMemory(in.Settings), p.writable()...),
		Command:            command,
		Args:               args,
		Env:                agentEnv(in.Session.Spec.Env),
		LifetimeSeconds:    wholeSeconds(in.Lifetime),
		GracePeriodSeconds: wholeSeconds(in.Settings.Sandbox.AgentGracePeriod.Duration),
	}
}

// agentCommand returns the session's command or, where it has none, the
// deployment's. Args belong to either. In Separate mode no agent runs in the
// sandbox.
func agentCommand(session *orcav1alpha1.OrcaSession, deployment settings.Effective) (command, args []string) {
	switch {
	case deployment.Mode == settings.ModeSeparate:
		return nil, nil
	case len(session.Spec.Command) > 0:
		return session.Spec.Command, session.Spec.Args
	default:
		return deployment.Sandbox.Command, session.Spec.Args
	}
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
