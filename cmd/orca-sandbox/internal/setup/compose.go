// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/sealed"
	"github.com/orca-agent-engine/orca-operator/controllers/layout"
)

// compose makes the sealed tree from what was planned, cloned and given.
func compose(ctx context.Context, p plan, tree *sealed.Tree, inputs *inputs, log *slog.Logger) error {
	if err := makeDirectories(p, tree, log); err != nil {
		return err
	}
	if err := writeHosts(tree); err != nil {
		return err
	}
	for i, repository := range p.sealed {
		if err := tree.PlaceRepository(ctx, repository.Resource, i, repository.Path); err != nil {
			return internal(repository.Resource, err)
		}
		log.Info("placed", "resource", repository.Resource, "path", repository.Path)
	}
	return placeFiles(ctx, p, tree, inputs, log)
}

func makeDirectories(p plan, tree *sealed.Tree, log *slog.Logger) error {
	paths := p.directories.sorted()
	for _, path := range paths {
		if err := tree.MakeDirectory(path, p.directories[path]); err != nil {
			return err
		}
	}
	for path, reason := range p.reserved {
		tree.Reserve(path, reason)
	}
	log.Info("made directories", "paths", paths)
	return nil
}

// writeHosts makes what every sandbox has as its hosts file. A sealed one takes
// the place of the kubelet's, which the agent could write. The sandbox's own
// name is a loopback one there, as on Debian: setup doesn't know its address.
func writeHosts(tree *sealed.Tree) error {
	name, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("reading the sandbox's name: %w", err)
	}
	return tree.WriteFile(layout.Hosts, "127.0.0.1\tlocalhost\n::1\tlocalhost\n127.0.1.1\t"+name+"\n")
}

func placeFiles(ctx context.Context, p plan, tree *sealed.Tree, inputs *inputs, log *slog.Logger) error {
	for _, file := range p.files {
		size, made, err := tree.PlaceFile(file.Resource, file.Path, func(target io.Writer) (int64, error) {
			return inputs.copyTo(ctx, target, file)
		})
		if err != nil {
			return internal(file.Resource, err)
		}
		message := "placed"
		if !made {
			message = "there already"
		}
		log.Info(message, "resource", file.Resource, "path", file.Path, "bytes", size)
	}
	return nil
}
