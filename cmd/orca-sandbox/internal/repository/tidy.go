// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package repository

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"time"

	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/volume"
)

// tidy removes what tools have left in the git folders of a clone, and has their
// indexes be younger than all files. A sealed clone is going to be moved by parts.
func tidy(ctx context.Context, folder string, sealed bool) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return fmt.Errorf("opening the clone: %w", err)
	}
	defer root.Close()
	folders, err := gitFolders(root)
	if err != nil {
		return fmt.Errorf("looking through the clone: %w", err)
	}
	for _, gitFolder := range folders {
		// Git LFS installs hooks whatever it is told.
		for _, name := range []string{"hooks", "lfs/tmp", "FETCH_HEAD", "ORIG_HEAD"} {
			if err := root.RemoveAll(path.Join(gitFolder, name)); err != nil {
				return fmt.Errorf("tidying the clone: %w", err)
			}
		}
	}
	if sealed {
		if err := ignoreMoves(root, folders); err != nil {
			return fmt.Errorf("configuring the clone: %w", err)
		}
	}
	return settleIndexes(ctx, root, folders)
}

// ignoreMoves has git not look at the time of a file's last change, which also
// changes when the file is moved. It would take what was moved for changed until
// it has read the content.
func ignoreMoves(root *os.Root, folders []string) error {
	for _, folder := range folders {
		config, err := root.OpenFile(path.Join(folder, "config"), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		_, err = config.WriteString("[core]\n\ttrustctime = false\n")
		if err := errors.Join(err, config.Close()); err != nil {
			return err
		}
	}
	return nil
}

// gitFolders returns the clone's git folder and those of its submodules, which
// lie in the folder modules of another.
func gitFolders(root *os.Root) ([]string, error) {
	return gitFoldersIn(root, ".git")
}

// gitFoldersIn returns those at and below a folder, whose name need not be text.
func gitFoldersIn(root *os.Root, folder string) ([]string, error) {
	var folders []string
	// A submodule may be called HEAD, too.
	head, err := root.Lstat(folder + "/HEAD")
	isGit := err == nil && head.Mode().IsRegular()
	if isGit {
		folders = append(folders, folder)
	}
	entries, err := volume.ReadDir(root, folder)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if !entry.IsDir() || isGit && entry.Name() != "modules" {
			continue
		}
		inner, err := gitFoldersIn(root, folder+"/"+entry.Name())
		if err != nil {
			return nil, err
		}
		folders = append(folders, inner...)
	}
	return folders, nil
}

// settleIndexes waits for the clock's next second and touches the indexes. git
// reads the content of every file that isn't older than the index, each time
// that it is asked for the status, and in a read-only tree can't note that
// nothing has changed. The content of LFS files would even look changed where
// Git LFS isn't installed.
func settleIndexes(ctx context.Context, root *os.Root, folders []string) error {
	select {
	case <-ctx.Done():
		return &failure{text: "did not finish within setup.timeout"}
	case <-time.After(time.Until(time.Now().Truncate(time.Second).Add(time.Second))):
	}
	for _, folder := range folders {
		now := time.Now()
		if err := root.Chtimes(path.Join(folder, "index"), now, now); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("touching an index: %w", err)
		}
	}
	return nil
}
