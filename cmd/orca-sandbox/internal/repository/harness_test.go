// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package repository_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/credential"
	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/gitbox"
	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/repository"
)

// cloner is the user that clones, one that the system has no account of: F08, P25.
const cloner = 1000650000

// cloneRole is the subcommand of the test's program that calls All.
const cloneRole = "clone"

// program is a copy of the test's program that other users can execute.
var program string

// TestMain lets the test's program be what the sandbox's program is to git, and
// the process that clones.
func TestMain(m *testing.M) {
	roles := map[string]func([]string) int{
		gitbox.Subcommand: gitbox.Enter, credential.HelperSubcommand: credential.Helper, credential.SSHSubcommand: credential.SSH,
		cloneRole: cloneAll, repository.ProbeRole: repository.Probe,
	}
	if len(os.Args) > 1 && roles[os.Args[1]] != nil {
		os.Exit(roles[os.Args[1]](os.Args[2:]))
	}
	os.Exit(testAll(m))
}

func testAll(m *testing.M) int {
	folder, err := os.MkdirTemp("", "repository-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	program = filepath.Join(folder, "orca-sandbox")
	if err := errors.Join(os.Chmod(folder, 0o755), copyProgram()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

func copyProgram() error {
	own, err := os.Executable()
	if err != nil {
		return err
	}
	content, err := os.ReadFile(own)
	if err != nil {
		return err
	}
	return os.WriteFile(program, content, 0o755)
}

// order is what the process that clones is told.
type order struct {
	Clones  []repository.Clone
	Options repository.Options
	Limit   time.Duration
}

// answer is what it answers.
type answer struct {
	Commits map[string]string
	Error   *repository.Error
	// Platform is an error that is no repository's.
	Platform string
}

func cloneAll([]string) int {
	var o order
	if err := json.NewDecoder(os.Stdin).Decode(&o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ctx, cancel := context.WithTimeout(context.Background(), o.Limit)
	defer cancel()
	commits, err := repository.All(ctx, o.Clones, o.Options, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	a := answer{Commits: commits}
	if failed, is := errors.AsType[*repository.Error](err); is {
		a.Error = failed
	} else if err != nil {
		a.Platform = err.Error()
	}
	if err := json.NewEncoder(os.Stdout).Encode(a); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
