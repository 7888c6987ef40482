// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package setup prepares what the agent's container mounts: it installs this
// program, clones repositories, and makes the sealed tree, which holds
// everything of the sandbox that is read-only. It can run again over whatever an
// earlier run left.
package setup

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/sealed"
	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

// Options are what the command line says.
type Options struct {
	// Manifest is the file with the manifest.Setup.
	Manifest string
	// Digest is what it must have.
	Digest string
	// Inputs is the folder with the content of the files.
	Inputs string
	// Sealed is the folder in which the tree is made.
	Sealed string
	// Work is an empty folder in memory, for what cloning needs besides. It is
	// looked at only if there are repositories.
	Work string
	// Bin is the folder in which this program is installed.
	Bin string
}

// Run does all of it and returns the commits that were checked out, by resource.
// Result says what its error means for the session. The manifest's time limit
// is for the whole: when it is over that is SetupTimeout, unless a repository
// was why.
func Run(ctx context.Context, options Options, log *slog.Logger) (commits map[string]string, err error) {
	document, err := readManifest(options)
	if err != nil {
		return nil, err
	}
	limit := time.Duration(document.TimeoutSeconds) * time.Second
	ctx, cancel := context.WithTimeoutCause(ctx, limit, timedOut(limit))
	defer cancel()

	if err := installProgram(options.Bin); err != nil {
		return nil, err
	}
	log.Info("installed the launcher", "folder", options.Bin)
	return assemble(ctx, document, options, log)
}

// assemble makes the sealed tree and what has a volume of its own. What can be
// refused without the network is refused before it is used.
func assemble(ctx context.Context, document manifest.Setup, options Options, log *slog.Logger) (commits map[string]string, err error) {
	plan, err := newPlan(document)
	if err != nil {
		return nil, err
	}
	inputs, err := openInputs(options.Inputs, plan.files)
	if err != nil {
		return nil, err
	}
	defer inputs.close()
	tree, err := sealed.Open(options.Sealed)
	if err != nil {
		return nil, err
	}
	defer tree.Close()
	commits, err = clone(ctx, document, plan, tree, options, log)
	if err != nil {
		return nil, err
	}
	if err := compose(ctx, plan, tree, inputs, log); err != nil {
		return nil, err
	}
	if err := placeVolumes(plan, log); err != nil {
		return nil, err
	}
	return commits, tree.Unstage()
}

func readManifest(options Options) (manifest.Setup, error) {
	encoded, err := os.ReadFile(options.Manifest)
	if err != nil {
		return manifest.Setup{}, fmt.Errorf("reading the manifest: %w", err)
	}
	return manifest.Decode[manifest.Setup](encoded, options.Digest)
}
