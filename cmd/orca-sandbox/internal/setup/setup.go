// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package setup prepares what the agent's container mounts: it installs this
// program and makes the sealed tree, which holds everything of the sandbox
// that is read-only. It can run again over whatever an earlier run left.
package setup

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

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
	// Bin is the folder in which this program is installed.
	Bin string
}

// Run does all of it. Result says what its error means for the session.
func Run(ctx context.Context, options Options, log *slog.Logger) error {
	document, err := readManifest(options)
	if err != nil {
		return err
	}
	limit := time.Duration(document.TimeoutSeconds) * time.Second
	ctx, cancel := context.WithTimeoutCause(ctx, limit, timedOut(limit))
	defer cancel()

	if err := installProgram(options.Bin); err != nil {
		return err
	}
	log.Info("installed the launcher", "folder", options.Bin)
	return assemble(ctx, document, options, log)
}

// assemble makes the sealed tree.
func assemble(ctx context.Context, document manifest.Setup, options Options, log *slog.Logger) error {
	if len(document.Repositories) > 0 {
		return internal(document.Repositories[0].Resource, errors.New("repositories are not supported by this version"))
	}
	plan, err := newPlan(document)
	if err != nil {
		return err
	}
	inputs, err := openInputs(options.Inputs, plan.files)
	if err != nil {
		return err
	}
	defer inputs.close()
	sealed, err := openTree(options.Sealed)
	if err != nil {
		return err
	}
	defer sealed.close()
	if err := sealed.makeDirectories(plan.directories); err != nil {
		return err
	}
	log.Info("made directories", "paths", plan.directories)
	if err := sealed.writeHosts(); err != nil {
		return err
	}
	return placeFiles(ctx, sealed, inputs, plan.files, log)
}

// placeFiles copies the files into the tree. Those of one path follow each
// other; the first is copied, the others must have its content.
func placeFiles(ctx context.Context, sealed *tree, inputs *inputs, files []manifest.File, log *slog.Logger) error {
	for i, file := range files {
		if i > 0 && files[i-1].Path == file.Path {
			if err := inputs.requireSame(ctx, files[i-1], file); err != nil {
				return err
			}
			log.Info("placed already", "resource", file.Resource, "path", file.Path)
			continue
		}
		size, err := sealed.place(ctx, file, inputs)
		if err != nil {
			return err
		}
		log.Info("placed", "resource", file.Resource, "path", file.Path, "bytes", size)
	}
	return nil
}

func readManifest(options Options) (manifest.Setup, error) {
	encoded, err := os.ReadFile(options.Manifest)
	if err != nil {
		return manifest.Setup{}, fmt.Errorf("reading the manifest: %w", err)
	}
	return manifest.Decode[manifest.Setup](encoded, options.Digest)
}
