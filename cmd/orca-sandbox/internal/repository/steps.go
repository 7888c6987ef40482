// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package repository

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// make makes the whole tree in the staging folder and returns its commit.
func (j *job) make(ctx context.Context) (string, error) {
	t, err := j.find(ctx)
	if err != nil {
		return "", err
	}
	if err := j.initialize(ctx, t); err != nil {
		return "", err
	}
	if err := j.fetch(ctx, t); err != nil {
		return "", err
	}
	commit, err := j.resolve(ctx, t)
	if err != nil {
		return "", err
	}
	if err := j.checkOut(ctx, t, commit); err != nil {
		return "", err
	}
	if j.clone.Submodules {
		if err := j.fetchSubmodules(ctx); err != nil {
			return "", err
		}
	}
	return commit, tidy(ctx, j.staging, j.clone.Volume == "")
}

// allRefs is what an ordinary clone fetches.
var allRefs = []string{"+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*"}

// refspec returns what the clone fetches later on by itself: as with git clone,
// only the one branch or tag where the history is cut off.
func (j *job) refspec(t target) string {
	switch {
	case j.clone.Depth > 0 && t.branch != "":
		return "+" + heads + t.branch + ":refs/remotes/origin/" + t.branch
	case j.clone.Depth > 0 && t.tag != "":
		return "+" + tags + t.tag + ":" + tags + t.tag
	default:
		return allRefs[0]
	}
}

// initialize makes an empty repository that knows where it comes from.
func (j *job) initialize(ctx context.Context, t target) error {
	first, format := t.branch, t.format
	if first == "" {
		first = "main" // HEAD is going to name a commit.
	}
	if format == "" {
		format = formatOf(t.commit)
	}
	if _, err := j.git(ctx, preparing, "init", "--quiet", "--template=", "--object-format="+format, "--initial-branch="+first); err != nil {
		return err
	}
	return j.configure(t)
}

// configure writes where the clone comes from into its configuration, as git
// clone does.
func (j *job) configure(t target) error {
	config, err := os.OpenFile(filepath.Join(j.staging, ".git", "config"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return fmt.Errorf("configuring the clone: %w", err)
	}
	_, err = fmt.Fprintf(config, "[remote \"origin\"]\n\turl = %s\n\tfetch = %s\n", quoted(j.clone.URL), quoted(j.refspec(t)))
	if err == nil && t.branch != "" {
		_, err = fmt.Fprintf(config, "[branch %s]\n\tremote = origin\n\tmerge = %s\n", quoted(t.branch), quoted(heads+t.branch))
	}
	if err := errors.Join(err, config.Close()); err != nil {
		return fmt.Errorf("configuring the clone: %w", err)
	}
	return nil
}

// quoted writes a value as git's configuration has it. It holds no line break.
func quoted(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}

// fetch fetches what the target needs.
func (j *job) fetch(ctx context.Context, t target) error {
	switch {
	case j.clone.Depth == 0:
		return j.fetchAll(ctx, t)
	case t.commit == "":
		return j.fetchRefs(ctx, j.depth(), j.refspec(t))
	}
	err := j.fetchRefs(ctx, j.depth(), t.commit)
	if _, is := errors.AsType[*failure](err); is && ctx.Err() == nil && !j.decisive(err) {
		j.log.Info("the server does not hand out the commit alone: fetching all branches and tags", "cause", err.Error())
		return j.fetchAll(ctx, t)
	}
	return err
}

// decisive reports whether a failed fetch of one commit says that no other fetch
// can succeed.
func (j *job) decisive(err error) bool {
	failed, is := errors.AsType[*failure](err)
	return !is || failed.text != unknownCommit(j.subject(fetching))
}

// fetchAll fetches all branches and tags, and the target's commit if that is not
// among them.
func (j *job) fetchAll(ctx context.Context, t target) error {
	if err := j.fetchRefs(ctx, nil, allRefs...); err != nil {
		return err
	}
	if t.commit == "" || j.has(ctx, t.commit) {
		return nil
	}
	err := j.fetchRefs(ctx, nil, t.commit)
	if err != nil && ctx.Err() == nil && !j.decisive(err) {
		return j.noSuch("commit", t.commit)
	}
	return err
}

// fetchRefs fetches by refspecs, which stand behind all options.
func (j *job) fetchRefs(ctx context.Context, options []string, refspecs ...string) error {
	arguments := []string{"fetch", "--progress", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance", "--force"}
	arguments = append(append(append(arguments, options...), "--end-of-options", "origin"), refspecs...)
	return j.try(ctx, fetching, func(ctx context.Context) error {
		_, err := j.git(ctx, fetching, arguments...)
		return err
	})
}

func (j *job) depth() []string { return []string{"--depth=" + strconv.Itoa(int(j.clone.Depth))} }

// has reports whether the clone has a commit already.
func (j *job) has(ctx context.Context, commit string) bool {
	_, err := j.git(ctx, preparing, "cat-file", "-e", commit+"^{commit}")
	return err == nil
}

// resolve returns the commit of the target.
func (j *job) resolve(ctx context.Context, t target) (string, error) {
	what, name, ref := "commit", t.commit, t.commit
	switch {
	case t.branch != "":
		what, name, ref = "branch", t.branch, "refs/remotes/origin/"+t.branch
	case t.tag != "":
		what, name, ref = "tag", t.tag, tags+t.tag
	}
	commit, err := j.gitLine(ctx, preparing, "rev-parse", "--quiet", "--verify", "--end-of-options", ref+"^{commit}")
	switch {
	case ctx.Err() != nil:
		return "", j.ended(ctx, preparing, nil)
	case err != nil || (t.commit != "" && !strings.EqualFold(commit, t.commit)):
		return "", &failure{text: fmt.Sprintf("%s %q of %s is not a commit", what, name, j.repositoryName())}
	}
	return commit, nil
}

// checkOut points HEAD at the commit and makes the working tree.
func (j *job) checkOut(ctx context.Context, t target, commit string) error {
	const reason = "clone"
	point := []string{"update-ref", "-m", reason, "--no-deref", "HEAD", commit}
	if t.branch != "" {
		point = []string{"update-ref", "-m", reason, heads + t.branch, commit}
	}
	calls := [][]string{point, {"pack-refs", "--all"}}
	if t.head != "" && (j.clone.Depth == 0 || t.branch == t.head) {
		calls = append(calls, []string{"symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/" + t.head})
	}
	if err := j.gitAll(ctx, preparing, calls...); err != nil {
		return err
	}
	s := checkout
	if j.clone.LFS {
		s = largeFiles
	}
	return j.try(ctx, s, func(ctx context.Context) error {
		_, err := j.git(ctx, s, "read-tree", "-v", "--reset", "-u", "HEAD")
		return err
	})
}

// fetchSubmodules fetches submodules and theirs, with all of their history: a
// server need not hand out the commit that is asked for alone. A try starts
// with none.
func (j *job) fetchSubmodules(ctx context.Context) error {
	return j.try(ctx, submodules, func(ctx context.Context) error {
		// What one has checked out would point to what is removed next.
		if _, err := j.git(ctx, submodules, "submodule", "deinit", "--quiet", "--all", "--force"); err != nil {
			return err
		}
		if err := os.RemoveAll(filepath.Join(j.staging, ".git", "modules")); err != nil {
			return fmt.Errorf("removing the rest of an earlier try: %w", err)
		}
		_, err := j.git(ctx, submodules, "submodule", "update", "--init", "--recursive", "--checkout", "--force", "--progress", "--no-recommend-shallow", "--jobs=4")
		return err
	})
}
