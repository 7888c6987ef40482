// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package repository clones a session's repositories with the git program, each
// in a box of its own that holds nothing but its own credential.
package repository

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/gitbox"
	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/volume"
	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

// patience is how long the other repositories may go on when one has failed for
// good: they may fail as well, and are named together then.
const patience = 10 * time.Second

// Clone is one repository to clone.
type Clone struct {
	manifest.Repository
	// Folder is where the working tree is to appear, whole or not at all. Its
	// parent exists on the volume that it stays on; the name itself doesn't.
	Folder string
}

// Options are what all clones share.
type Options struct {
	// Work is a folder in memory for what must not last. It is emptied.
	Work string
	// ExtraCA holds authorities to trust beside the system's, in PEM.
	ExtraCA string
	// Proxy is how to reach servers by http and https; nil: directly.
	Proxy *manifest.Proxy
}

// Error says why a repository could not be cloned.
type Error struct {
	// Resource is its name in the session.
	Resource string
	// Missing: its Secret, or a key of it, isn't there and may appear later.
	Missing bool
	// Cause is one line of at most 400 bytes, without secrets.
	Cause string
}

func (e *Error) Error() string { return e.Cause }

// All clones all repositories at the same time and returns the commit of each
// by the name of its resource. What fails for a passing reason is tried again
// until the context ends. The error is an *Error, for the first of the failed
// by name, unless the platform itself failed. Nothing stays in the work folder.
func All(ctx context.Context, clones []Clone, options Options, log *slog.Logger) (commits map[string]string, err error) {
	if len(clones) == 0 {
		return map[string]string{}, nil
	}
	work, err := volume.OpenEmpty(options.Work)
	if err != nil {
		return nil, fmt.Errorf("opening the work folder: %w", err)
	}
	defer work.Close()
	defer func() { err = errors.Join(err, volume.Empty(work)) }()
	shared, err := newShared(options)
	if err != nil {
		return nil, err
	}
	if !gitbox.Supported() {
		log.Warn("the kernel has no Landlock: the repositories' git processes are not kept apart")
	}
	results := cloneAll(ctx, clones, shared, log)
	if err := firstError(results); err != nil {
		return nil, err
	}
	commits = map[string]string{}
	for _, r := range results {
		commits[r.resource] = r.commit
	}
	return commits, nil
}

// result is how a clone went.
type result struct {
	resource, commit string
	err              error
}

// errAbandoned says that a clone was given up because of another.
var errAbandoned = errors.New("given up because another repository failed")

// cloneAll clones everything and returns how it went, by name.
func cloneAll(ctx context.Context, clones []Clone, shared shared, log *slog.Logger) []result {
	ctx, abandon := context.WithCancelCause(ctx)
	defer abandon(nil)
	results := make([]result, len(clones))
	var group sync.WaitGroup
	for i, clone := range clones {
		group.Go(func() {
			own := log.With("resource", clone.Resource)
			commit, err := cloneOne(ctx, clone, shared, strconv.Itoa(i), own)
			results[i] = result{clone.Resource, commit, err}
			if err != nil && ctx.Err() == nil {
				time.AfterFunc(patience, func() { abandon(errAbandoned) })
			}
		})
	}
	group.Wait()
	slices.SortFunc(results, func(a, b result) int { return cmp.Compare(a.resource, b.resource) })
	return results
}

// cloneOne clones one repository.
func cloneOne(ctx context.Context, clone Clone, shared shared, name string, log *slog.Logger) (string, error) {
	j, err := newJob(clone, shared, name, log)
	if err != nil {
		return "", err
	}
	commit, err := j.run(ctx)
	if err != nil {
		log.Error("the repository could not be cloned", "cause", j.secrets.scrub(err.Error()))
		return "", err
	}
	log.Info("cloned", "commit", commit)
	return commit, nil
}

// firstError returns the error of the first repository that failed by itself.
func firstError(results []result) error {
	failed := slices.DeleteFunc(slices.Clone(results), func(r result) bool {
		return r.err == nil || errors.Is(r.err, errAbandoned)
	})
	if len(failed) == 0 {
		return nil
	}
	// What will not pass comes before a Secret that may still appear.
	slices.SortStableFunc(failed, func(a, b result) int { return rank(a.err) - rank(b.err) })
	first := failed[0]
	cause, is := errors.AsType[*failure](first.err)
	if !is {
		return fmt.Errorf("repository %q: %w", first.resource, first.err)
	}
	more := ""
	if n := len(failed) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more failed)", n)
	}
	text := manifest.Truncate(cause.Error(), maxCause-len(more)) + more
	return &Error{Resource: first.resource, Missing: cause.kind == missing, Cause: text}
}

func rank(err error) int {
	if failed, is := errors.AsType[*failure](err); is && failed.kind == missing {
		return 1
	}
	return 0
}
