// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/layout"
	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/progress"
)

// statePrefix stands for the state folder in the source of a file.
const statePrefix = ".orca/"

// Builder makes images out of their specs.
type Builder struct {
	Layout   layout.Layout
	File     File
	Progress progress.Printer
	// Work is a folder for layers in the making; the images read from it.
	Work string
}

// Build makes one image.
func (b Builder) Build(ctx context.Context, s Spec) (v1.Image, error) {
	base, err := b.base(ctx, s)
	if err != nil {
		return nil, err
	}
	if len(s.Files) > 0 {
		if base, err = b.addFiles(base, s); err != nil {
			return nil, err
		}
	}
	return configure(base, s)
}

func (b Builder) base(ctx context.Context, s Spec) (v1.Image, error) {
	if s.From != "" {
		i := slices.IndexFunc(b.File.Images, func(e Spec) bool { return e.Name == s.From })
		return b.Build(ctx, b.File.Images[i])
	}
	scratch := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	if len(s.Packages) == 0 {
		return scratch, nil
	}
	tarball, err := b.rootfs(ctx, b.File.Suite, s.Packages)
	if err != nil {
		return nil, err
	}
	return appendTar(scratch, tarball)
}

func (b Builder) addFiles(base v1.Image, s Spec) (v1.Image, error) {
	sources, err := b.sources(s.Files)
	if err != nil {
		return nil, err
	}
	out, err := os.CreateTemp(b.Work, "layer-*.tar")
	if err != nil {
		return nil, err
	}
	defer out.Close()
	if err := writeTar(out, sources); err != nil {
		return nil, fmt.Errorf("writing the layer of files: %w", err)
	}
	return appendTar(base, out.Name())
}

func (b Builder) sources(files []Copy) ([]source, error) {
	var sources []source
	for _, file := range files {
		mode, err := file.mode()
		if err != nil {
			return nil, err
		}
		path := b.resolve(file.From)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("the file %s is not there; it must be built before the images", path)
		}
		sources = append(sources, source{path, file.To, mode, file.Link})
	}
	return sources, nil
}

func (b Builder) resolve(from string) string {
	if inState, ok := strings.CutPrefix(from, statePrefix); ok {
		return filepath.Join(b.Layout.Dir, inState)
	}
	return filepath.Join(b.Layout.Root, from)
}

func appendTar(base v1.Image, path string) (v1.Image, error) {
	layer, err := newTarLayer(path)
	if err != nil {
		return nil, err
	}
	return mutate.Append(base, mutate.Addendum{
		Layer:     layer,
		History:   v1.History{Created: v1.Time{Time: epoch}, CreatedBy: "orca-cluster images"},
		MediaType: types.OCIUncompressedLayer,
	})
}

// configure sets what the spec says; what it leaves out comes from the image
// that it builds on.
func configure(base v1.Image, s Spec) (v1.Image, error) {
	old, err := base.ConfigFile()
	if err != nil {
		return nil, err
	}
	file := old.DeepCopy()
	file.Created = v1.Time{Time: epoch}
	file.OS, file.Architecture = "linux", runtime.GOARCH
	config := &file.Config
	if len(s.Entrypoint) > 0 {
		config.Entrypoint, config.Cmd = s.Entrypoint, nil
	}
	if len(s.Cmd) > 0 {
		config.Cmd = s.Cmd
	}
	if s.User != "" {
		config.User = s.User
	}
	config.Env = mergeEnv(config.Env, s.Env)
	for _, volume := range s.Volumes {
		if config.Volumes == nil {
			config.Volumes = map[string]struct{}{}
		}
		config.Volumes[volume] = struct{}{}
	}
	return mutate.ConfigFile(base, file)
}

func mergeEnv(base []string, add map[string]string) []string {
	env := slices.DeleteFunc(slices.Clone(base), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		_, replaced := add[name]
		return replaced
	})
	for _, name := range slices.Sorted(maps.Keys(add)) {
		env = append(env, name+"="+add[name])
	}
	return env
}
