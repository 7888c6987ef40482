// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/repository"
	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/sealed"
	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/volume"
	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

const (
	// volumeStaging is the folder of a ReadWrite repository's volume in which it
	// is cloned. The root of the volume would hand its group to what is made there.
	volumeStaging = "staging"
	treeMode      = 0o755
)

// clone clones all repositories to where they can be moved into place from, and
// returns the commits by resource.
func clone(ctx context.Context, document manifest.Setup, p plan, tree *sealed.Tree, options Options, log *slog.Logger) (map[string]string, error) {
	if len(document.Repositories) == 0 {
		return nil, nil
	}
	clones, err := stage(p, tree)
	if err != nil {
		return nil, err
	}
	shared := repository.Options{Work: options.Work, ExtraCA: document.ExtraCA, Proxy: document.Proxy}
	commits, err := repository.All(ctx, clones, shared, log)
	if err != nil {
		return nil, repositoryFailure(ctx, err)
	}
	return commits, nil
}

// stage makes the folders to clone in.
func stage(p plan, tree *sealed.Tree) ([]repository.Clone, error) {
	folders, err := tree.Stage(len(p.sealed))
	if err != nil {
		return nil, err
	}
	var clones []repository.Clone
	for i, sealed := range p.sealed {
		clones = append(clones, repository.Clone{Repository: sealed, Folder: folders[i]})
	}
	for _, writable := range p.volumes {
		if err := stageVolume(writable.Volume); err != nil {
			return nil, internal(writable.Resource, err)
		}
		folder := filepath.Join(writable.Volume, volumeStaging, manifest.VolumeTree)
		clones = append(clones, repository.Clone{Repository: writable, Folder: folder})
	}
	return clones, nil
}

func stageVolume(folder string) error {
	root, err := volume.OpenEmpty(folder)
	if err != nil {
		return fmt.Errorf("opening the repository's volume: %w", err)
	}
	defer root.Close()
	// The umask and the group of the volume change the mode of a new directory.
	return errors.Join(root.Mkdir(volumeStaging, treeMode), root.Chmod(volumeStaging, treeMode))
}

// placeVolumes moves each ReadWrite repository to its place in its volume.
func placeVolumes(p plan, log *slog.Logger) error {
	for _, writable := range p.volumes {
		if err := placeVolume(writable.Volume); err != nil {
			return internal(writable.Resource, err)
		}
		log.Info("placed", "resource", writable.Resource, "path", writable.Path)
	}
	return nil
}

func placeVolume(folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return fmt.Errorf("opening the repository's volume: %w", err)
	}
	defer root.Close()
	if err := root.Rename(volumeStaging+"/"+manifest.VolumeTree, manifest.VolumeTree); err != nil {
		return fmt.Errorf("moving the repository into place: %w", err)
	}
	return errors.Join(root.Chmod(manifest.VolumeTree, treeMode), volume.Remove(root, volumeStaging))
}

// repositoryFailure says what an error of cloning means. One that names a
// repository says more than that time is over, also where that is its cause.
func repositoryFailure(ctx context.Context, err error) error {
	failed, ok := errors.AsType[*repository.Error](err)
	switch {
	case ok && failed.Missing:
		return &failure{manifest.SetupResult{Code: manifest.SetupCredentialUnavailable, Resource: failed.Resource, Cause: failed.Cause}}
	case ok:
		return &failure{manifest.SetupResult{Code: manifest.SetupRepositoryFailed, Resource: failed.Resource, Cause: failed.Cause}}
	case ctx.Err() != nil:
		return context.Cause(ctx)
	default:
		return fmt.Errorf("cloning the repositories: %w", err)
	}
}
