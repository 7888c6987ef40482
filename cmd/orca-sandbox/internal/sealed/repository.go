// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package sealed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"

	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/volume"
)

// staging is where repositories are cloned, on the volume of the tree so that
// they can be moved. No resource can be there: the path is the platform's.
const staging = "/orca"

// Stage makes the folders in which that many repositories are cloned, each
// alone in its own, and returns where each working tree is to appear.
func (t *Tree) Stage(count int) ([]string, error) {
	if err := makeDirectory(t.root, relative(staging)); err != nil {
		return nil, err
	}
	folders := make([]string, count)
	for i := range folders {
		if err := makeDirectory(t.root, relative(path.Dir(staged(i)))); err != nil {
			return nil, err
		}
		folders[i] = filepath.Join(t.folder, staged(i))
	}
	return folders, nil
}

// Unstage removes what is left of Stage.
func (t *Tree) Unstage() error { return volume.Remove(t.root, relative(staging)) }

func staged(index int) string { return path.Join(staging, strconv.Itoa(index), "tree") }

// PlaceRepository moves the staged repository of a resource to its directory,
// which exists. Its error is a Conflict where two contents clash. Files are
// never copied: git would take the copy for changed.
func (t *Tree) PlaceRepository(ctx context.Context, resource string, index int, name string) error {
	return placing{t, ctx, resource}.move(staged(index), name)
}

// placing is the move of one repository.
type placing struct {
	*Tree
	ctx      context.Context
	resource string
}

// move moves something to its path. If directories meet, their entries do.
func (p placing) move(from, to string) error {
	if p.ctx.Err() != nil {
		return context.Cause(p.ctx)
	}
	existing, err := p.root.Lstat(relative(to))
	if errors.Is(err, fs.ErrNotExist) {
		p.origins[to] = origin{resource: p.resource, repository: true}
		return p.root.Rename(relative(from), relative(to))
	}
	if err != nil {
		return err
	}
	moved, err := p.root.Lstat(relative(from))
	if err != nil {
		return err
	}
	if reason, found := p.reserved[to]; found {
		return p.conflict(to, moved, reason)
	}
	if existing.IsDir() && moved.IsDir() {
		return p.moveEntries(from, to)
	}
	return p.requireSame(from, to, moved, existing)
}

func (p placing) moveEntries(from, to string) error {
	entries, err := volume.ReadDir(p.root, relative(from))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		// Not path.Join, which would change names that Linux takes as they are.
		if err := p.move(from+"/"+entry.Name(), to+"/"+entry.Name()); err != nil {
			return err
		}
	}
	return nil
}

// requireSame refuses anything but two files of one content, which are one.
func (p placing) requireSame(from, to string, moved, existing fs.FileInfo) error {
	what := kind(existing.Mode())
	if moved.Mode().IsRegular() && existing.Mode().IsRegular() {
		what = "another one"
		same, err := p.same(from, to)
		if err != nil || same && moved.Mode() == existing.Mode() {
			return err
		}
	}
	return p.conflict(to, moved, p.inTheWay(to, what))
}

func (p placing) same(from, to string) (bool, error) {
	a, errA := p.digest(relative(from))
	b, errB := p.digest(relative(to))
	return bytes.Equal(a, b), errors.Join(errA, errB)
}

func (p placing) conflict(to string, moved fs.FileInfo, reason string) error {
	cause := fmt.Sprintf("its repository has %s at %s, %s", kind(moved.Mode()), Shown(to), reason)
	return &Conflict{p.resource, cause}
}
