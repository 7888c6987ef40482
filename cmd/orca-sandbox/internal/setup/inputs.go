// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

// inputs is the folder with the content of the files. The kubelet fills it
// with links, which are followed as long as they stay inside.
type inputs struct{ root *os.Root }

// openInputs opens the folder and refuses it if it lacks one of the files. It
// isn't looked at when there are none.
func openInputs(folder string, files []manifest.File) (*inputs, error) {
	if len(files) == 0 {
		return &inputs{}, nil
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fmt.Errorf("opening the inputs: %w", err)
	}
	in := &inputs{root}
	if err := in.requireAll(files); err != nil {
		in.close()
		return nil, err
	}
	return in, nil
}

func (in *inputs) close() {
	if in.root != nil {
		_ = in.root.Close()
	}
}

// requireAll reports the first missing file, by the name of its resource, and
// how many more there are.
func (in *inputs) requireAll(files []manifest.File) error {
	var missing []manifest.File
	for _, file := range files {
		if _, err := in.root.Stat(file.Source); errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, file)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	first := slices.MinFunc(missing, func(a, b manifest.File) int { return strings.Compare(a.Resource, b.Resource) })
	return unavailable(first, len(missing)-1)
}

// copyTo writes the content of a file and returns its size in bytes.
func (in *inputs) copyTo(ctx context.Context, target io.Writer, file manifest.File) (int64, error) {
	source, err := in.root.Open(file.Source)
	if errors.Is(err, fs.ErrNotExist) { // It vanished since requireAll.
		return 0, unavailable(file, 0)
	}
	if err != nil {
		return 0, internal(file.Resource, fmt.Errorf("opening the source: %w", err))
	}
	defer source.Close()
	size, err := io.Copy(target, &bounded{ctx, source})
	if err != nil {
		return size, internal(file.Resource, fmt.Errorf("copying the source: %w", err))
	}
	return size, nil
}

// bounded is a reader that ends with its context.
type bounded struct {
	ctx    context.Context
	source io.Reader
}

func (b *bounded) Read(buffer []byte) (int, error) {
	if b.ctx.Err() != nil {
		return 0, context.Cause(b.ctx)
	}
	return b.source.Read(buffer)
}
