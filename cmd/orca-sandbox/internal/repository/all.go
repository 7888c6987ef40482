// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package repository clones a session's repositories with the git program.
package repository

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

// Clone is one repository to clone.
type Clone struct {
	manifest.Repository
	// Folder is where the working tree appears, whole or not at all. Its parent
	// exists, the name itself doesn't.
	Folder string
}

// Options are what all clones share.
type Options struct {
	// Work is an empty folder in memory.
	Work string
	// ExtraCA holds certificates of authorities to trust besides the system's, in PEM.
	ExtraCA string
	// Proxy is how to reach the remotes, nil: directly.
	Proxy *manifest.Proxy
}

// Error is about one repository.
type Error struct {
	Resource string
	// Missing says that the Secret or a key of it isn't there. It may appear later.
	Missing bool
	Cause   string
}

func (e *Error) Error() string { return fmt.Sprintf("resource %q: %s", e.Resource, e.Cause) }

// All clones all repositories and returns the commit that each resource has,
// by the resource's name. Its error is an *Error where it is about a resource.
func All(ctx context.Context, clones []Clone, options Options, log *slog.Logger) (map[string]string, error) {
	commits := map[string]string{}
	for _, clone := range clones {
		commit, err := clone.make(ctx, options)
		if err != nil {
			return nil, &Error{Resource: clone.Resource, Cause: err.Error()}
		}
		commits[clone.Resource] = commit
		log.Info("cloned", "resource", clone.Resource, "commit", commit)
	}
	return commits, nil
}

func (c Clone) make(ctx context.Context, options Options) (string, error) {
	draft := c.Folder + ".new"
	if _, err := git(ctx, options.Work, "clone", "--quiet", "--", c.URL, draft); err != nil {
		return "", err
	}
	commit, err := git(ctx, options.Work, "-C", draft, "rev-parse", "HEAD")
	if err != nil {
		return "", err
	}
	return commit, os.Rename(draft, c.Folder)
}

func git(ctx context.Context, home string, arguments ...string) (string, error) {
	command := exec.CommandContext(ctx, "git", arguments...)
	command.Env = append(os.Environ(), "HOME="+home, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0")
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	var problem bytes.Buffer
	command.Stderr = &problem
	output, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, strings.Join(strings.Fields(problem.String()), " "))
	}
	return strings.TrimSpace(string(output)), nil
}
