// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"context"
	"fmt"
	"io/fs"
	"os"

	"github.com/orca-agent-engine/orca-operator/controllers/layout"
	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

const (
	directoryMode = 0o755
	// fileMode is what files usually have: a copy that the agent makes of one can
	// be written. That the agent can't write the file itself is for the mount.
	fileMode = 0o644
)

// hosts returns what every sandbox has as its hosts file. A sealed one takes
// the place of the kubelet's, which the agent could write. The sandbox's own
// name is a loopback one there, as on Debian: setup doesn't know its address.
func hosts() (string, error) {
	name, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("reading the sandbox's name: %w", err)
	}
	return "127.0.0.1\tlocalhost\n::1\tlocalhost\n127.0.1.1\t" + name + "\n", nil
}

// tree is the sealed tree: the read-only part of the sandbox's root. Nothing
// of it can end up outside its folder.
type tree struct{ root *os.Root }

// openTree opens the folder and empties it: what an earlier run left may be
// half made.
func openTree(folder string) (*tree, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fmt.Errorf("opening the sealed tree: %w", err)
	}
	t := &tree{root}
	if err := t.clear(); err != nil {
		t.close()
		return nil, fmt.Errorf("emptying the sealed tree: %w", err)
	}
	return t, nil
}

func (t *tree) close() { _ = t.root.Close() }

func (t *tree) clear() error {
	entries, err := fs.ReadDir(t.root.FS(), ".")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if err := t.root.RemoveAll(entry.Name()); err != nil {
			return err
		}
	}
	return nil
}

// makeDirectories makes directories, each of which comes after its parent. The
// modes are set apart, because the umask and the group of the volume change
// those of new directories.
func (t *tree) makeDirectories(paths []string) error {
	for _, path := range paths {
		if err := t.root.Mkdir(relative(path), directoryMode); err != nil {
			return fmt.Errorf("making a directory: %w", err)
		}
		if err := t.root.Chmod(relative(path), directoryMode); err != nil {
			return fmt.Errorf("setting the mode of a directory: %w", err)
		}
	}
	return nil
}

func (t *tree) writeHosts() error {
	content, err := hosts()
	if err != nil {
		return err
	}
	file, err := createFile(t.root, relative(layout.Hosts), fileMode)
	if err != nil {
		return err
	}
	if _, err := file.WriteString(content); err != nil {
		_ = file.Close()
		return fmt.Errorf("writing %s: %w", layout.Hosts, err)
	}
	return file.Close()
}

// place copies a file to its path and returns its size in bytes.
func (t *tree) place(ctx context.Context, file manifest.File, inputs *inputs) (int64, error) {
	target, err := createFile(t.root, relative(file.Path), fileMode)
	if err != nil {
		return 0, internal(file.Resource, err)
	}
	size, err := inputs.copyTo(ctx, target, file)
	if err != nil {
		_ = target.Close()
		return size, err
	}
	if err := target.Close(); err != nil {
		return size, internal(file.Resource, err)
	}
	return size, nil
}

// createFile makes a file that must not exist, with exactly the given mode.
func createFile(root *os.Root, name string, mode fs.FileMode) (*os.File, error) {
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, fmt.Errorf("making a file: %w", err)
	}
	if err := file.Chmod(mode); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("setting the mode of a file: %w", err)
	}
	return file, nil
}
