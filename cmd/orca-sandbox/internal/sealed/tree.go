// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sealed composes the sealed tree, which holds everything of a sandbox
// that is read-only, named by the paths that it has in the sandbox.
//
// The directories that anything needs come first, then repositories are moved
// in, then files are copied. Directories merge. What exists is never replaced,
// so every parent of a path that is used is a directory which was made or seen
// here: no link that a repository brought is ever on the way.
package sealed

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/volume"
)

const (
	directoryMode = 0o755
	// fileMode is what files usually have: a copy that the agent makes of one can
	// be written. That the agent can't write the file itself is for the mount.
	fileMode = 0o644
)

// Tree is the sealed tree. Nothing of it can end up outside its folder.
type Tree struct {
	folder  string
	root    *os.Root
	origins map[string]origin
	// reserved are directories that stay empty, and why.
	reserved map[string]string
}

// Open opens the folder and empties it.
func Open(folder string) (*Tree, error) {
	root, err := volume.OpenEmpty(folder)
	if err != nil {
		return nil, fmt.Errorf("opening the sealed tree: %w", err)
	}
	return &Tree{folder: folder, root: root, origins: map[string]origin{}, reserved: map[string]string{}}, nil
}

// Close ends the use of the tree.
func (t *Tree) Close() { _ = t.root.Close() }

// MakeDirectory makes a directory, whose parent exists, for a reason that
// messages give.
func (t *Tree) MakeDirectory(name, reason string) error {
	t.origins[name] = origin{reason: reason}
	return makeDirectory(t.root, relative(name))
}

// Reserve keeps a directory empty, for a reason that messages give.
func (t *Tree) Reserve(name, reason string) { t.reserved[name] = reason }

// WriteFile makes a file that no resource brings.
func (t *Tree) WriteFile(name, content string) error {
	_, err := t.create(name, func(target io.Writer) (int64, error) {
		return io.Copy(target, bytes.NewBufferString(content))
	})
	return err
}

// PlaceFile makes the file of a resource, with what content writes and counts
// in bytes. A file that is there already must have the same content; then it
// stays, and made is false. Its error is a Conflict where something else is
// there.
func (t *Tree) PlaceFile(resource, name string, content func(io.Writer) (int64, error)) (size int64, made bool, err error) {
	existing, err := t.root.Lstat(relative(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		t.origins[name] = origin{resource: resource}
		size, err = t.create(name, content)
		return size, true, err
	case err != nil:
		return 0, false, err
	}
	what, same := kind(existing.Mode()), false
	if existing.Mode().IsRegular() {
		what = "one with other content"
		size, same, err = t.hasContent(name, content)
	}
	if err == nil && !same {
		err = &Conflict{resource, fmt.Sprintf("a file is put at %s, %s", Shown(name), t.inTheWay(name, what))}
	}
	return size, false, err
}

func (t *Tree) create(name string, content func(io.Writer) (int64, error)) (int64, error) {
	file, err := t.root.OpenFile(relative(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return 0, fmt.Errorf("making a file: %w", err)
	}
	if err := file.Chmod(fileMode); err != nil { // The umask has changed it.
		_ = file.Close()
		return 0, fmt.Errorf("setting the mode of a file: %w", err)
	}
	size, err := content(file)
	if err != nil {
		_ = file.Close()
		return size, err
	}
	return size, file.Close()
}

// hasContent reports whether a file has just what content writes.
func (t *Tree) hasContent(name string, content func(io.Writer) (int64, error)) (size int64, same bool, err error) {
	wanted := sha256.New()
	size, err = content(wanted)
	if err != nil {
		return size, false, err
	}
	found, err := t.digest(relative(name))
	return size, bytes.Equal(found, wanted.Sum(nil)), err
}

func (t *Tree) digest(name string) ([]byte, error) {
	file, err := t.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, file)
	return sum.Sum(nil), err
}

// makeDirectory sets the mode apart, because the umask and the group of the
// volume change that of a new directory.
func makeDirectory(root *os.Root, name string) error {
	if err := root.Mkdir(name, directoryMode); err != nil {
		return fmt.Errorf("making a directory: %w", err)
	}
	if err := root.Chmod(name, directoryMode); err != nil {
		return fmt.Errorf("setting the mode of a directory: %w", err)
	}
	return nil
}

// relative returns the name inside the folder of what has the given absolute
// path in the sandbox.
func relative(name string) string { return name[1:] }
