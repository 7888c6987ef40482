// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

const (
	programName = "orca-sandbox"
	programMode = 0o555
	// programDraft is the name of a copy that may be incomplete.
	programDraft = ".orca-sandbox.new"
	// running is this very program, whatever became of its file.
	running = "/proc/self/exe"
)

// installProgram copies this program into a folder, from which the agent's
// container executes it, and closes the folder to writing. The program appears
// there complete or not at all.
func installProgram(folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return fmt.Errorf("opening the folder of the launcher: %w", err)
	}
	defer root.Close()
	if err := setFolderMode(root, 0o755); err != nil { // An earlier run has closed it.
		return err
	}
	if err := writeDraft(root); err != nil {
		return fmt.Errorf("copying the launcher: %w", err)
	}
	if err := root.Rename(programDraft, programName); err != nil {
		return fmt.Errorf("installing the launcher: %w", err)
	}
	return setFolderMode(root, 0o555)
}

// setFolderMode sets the mode of the folder if it is ours. The root of a volume
// belongs to root; there nothing but the mount closes it.
func setFolderMode(root *os.Root, mode fs.FileMode) error {
	if err := root.Chmod(".", mode); err != nil && !errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("setting the mode of the launcher's folder: %w", err)
	}
	return nil
}

func writeDraft(root *os.Root) error {
	if err := root.Remove(programDraft); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	draft, err := root.OpenFile(programDraft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, programMode)
	if err != nil {
		return err
	}
	if err := copyProgram(draft); err != nil {
		_ = draft.Close()
		return err
	}
	return draft.Close()
}

func copyProgram(draft *os.File) error {
	source, err := os.Open(running)
	if err != nil {
		return err
	}
	defer source.Close()
	if _, err := io.Copy(draft, source); err != nil {
		return err
	}
	if err := draft.Chmod(programMode); err != nil { // The umask has changed it.
		return err
	}
	return draft.Sync()
}
