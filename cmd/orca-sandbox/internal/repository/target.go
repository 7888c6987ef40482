// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package repository

import (
	"context"
	"fmt"
	"strings"

	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

// target is what is to be checked out, and what of the server's is fetched for
// it.
type target struct {
	// format is the name of the hash that names objects.
	format string
	// branch is the local branch; empty: no branch is checked out.
	branch string
	// tag is the tag; empty: none.
	tag string
	// commit is the commit; empty: what the branch or tag points at.
	commit string
	// head is the server's default branch, if it has one.
	head string
}

const (
	heads = "refs/heads/"
	tags  = "refs/tags/"
)

// advertised is what a server says that it has.
type advertised struct {
	// refs are ids by full name.
	refs map[string]string
	// head is the full name of what HEAD points at.
	head string
}

// find asks the server for what is to be checked out. A name is looked for as
// what the session says that it is, and no other takes its place.
func (j *job) find(ctx context.Context) (target, error) {
	has, err := j.list(ctx)
	if err != nil {
		return target{}, err
	}
	t := target{format: has.format(), branch: j.clone.Branch, tag: j.clone.Tag, commit: j.clone.Commit}
	if branch, is := strings.CutPrefix(has.head, heads); is && has.refs["HEAD"] != "" {
		t.head = branch
	}
	switch {
	case t.branch != "":
		return t, j.require(has, "branch", heads+t.branch)
	case t.tag != "":
		return t, j.require(has, "tag", tags+t.tag)
	case t.commit != "":
		return t, j.requireFormat(t)
	case has.refs["HEAD"] == "":
		return target{}, &failure{text: fmt.Sprintf("%s has no default branch, or it is empty: set ref", j.repositoryName())}
	case t.head == "":
		t.commit = has.refs["HEAD"] // The server's HEAD is no branch.
	default:
		t.branch = t.head
	}
	return t, nil
}

// list asks for HEAD and what is wanted.
func (j *job) list(ctx context.Context) (advertised, error) {
	patterns := []string{"HEAD"}
	if j.clone.Branch != "" {
		patterns = append(patterns, heads+j.clone.Branch)
	}
	if j.clone.Tag != "" {
		patterns = append(patterns, tags+j.clone.Tag)
	}
	var has advertised
	err := j.try(ctx, listing, func(ctx context.Context) error {
		arguments := append([]string{"ls-remote", "--quiet", "--symref", "--", j.clone.URL}, patterns...)
		output, err := j.git(ctx, listing, arguments...)
		has = parseAdvertised(output)
		return err
	})
	return has, err
}

// parseAdvertised reads what git ls-remote prints.
func parseAdvertised(output string) advertised {
	has := advertised{refs: map[string]string{}}
	for line := range strings.Lines(output) {
		id, name, _ := strings.Cut(strings.TrimRight(line, "\n"), "\t")
		if ref, is := strings.CutPrefix(id, "ref: "); is {
			if name == "HEAD" {
				has.head = ref
			}
			continue
		}
		has.refs[name] = id
	}
	return has
}

// format returns the hash that the server's ids are of.
func (a advertised) format() string {
	for _, id := range a.refs {
		return formatOf(id)
	}
	return ""
}

func formatOf(id string) string {
	if len(id) == 64 {
		return "sha256"
	}
	return "sha1"
}

func (j *job) require(has advertised, what, ref string) error {
	if has.refs[ref] != "" {
		return nil
	}
	return j.noSuch(what, strings.TrimPrefix(strings.TrimPrefix(ref, heads), tags))
}

func (j *job) noSuch(what, name string) error {
	return &failure{text: fmt.Sprintf("%s %q does not exist in %s", what, name, j.repositoryName())}
}

// requireFormat refuses a commit that can't be one of the repository's.
func (j *job) requireFormat(t target) error {
	if t.format != "" && t.format != formatOf(t.commit) {
		return j.noSuch("commit", t.commit)
	}
	return nil
}

// maxName bounds an address in a cause, in bytes.
const maxName = 160

func (j *job) repositoryName() string {
	return manifest.Truncate(j.secrets.scrub(j.clone.URL), maxName)
}
