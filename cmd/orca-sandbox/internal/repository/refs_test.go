// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package repository_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
	"github.com/orca-agent-engine/orca-operator/hack/gitserver"
)

// plain are the files of an ordinary commit.
func plain(content string) map[string]gitserver.File {
	return map[string]gitserver.File{
		"README.md":  {Content: content},
		"bin/run":    {Content: "#!/bin/sh\n", Mode: gitserver.Executable},
		"docs/a b.c": {Content: "x"},
	}
}

func branch(name string) func(*manifest.Repository) {
	return func(r *manifest.Repository) { r.Branch = name }
}

func tag(name string) func(*manifest.Repository) {
	return func(r *manifest.Repository) { r.Tag = name }
}

func commit(id string) func(*manifest.Repository) {
	return func(r *manifest.Repository) { r.Commit = id }
}

func depth(n int32) func(*manifest.Repository) { return func(r *manifest.Repository) { r.Depth = n } }

func withSubmodules(r *manifest.Repository) { r.Submodules = true }

func withLFS(r *manifest.Repository) { r.LFS = true }

// hostOf returns the host and port of an https address.
func hostOf(address string) string {
	host, _, _ := strings.Cut(strings.TrimPrefix(address, "https://"), "/")
	return host
}

// newServer starts the servers that a pod's repositories are on.
func newServer(t *testing.T, p *pod) *gitserver.Server {
	t.Helper()
	server := gitserver.Start(t, gitserver.Options{})
	p.options.ExtraCA = server.CA()
	return server
}

// F07, P22: a branch, a tag or a commit is what is asked for and nothing else,
// with the whole history or a part of it.
func TestEveryKindOfRefIsCheckedOut(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	server := newServer(t, p)
	app := server.NewRepository("org/app.git", gitserver.Settings{})
	first := app.Commit("main", plain("1"))
	app.Commit("main", plain("2"))
	last := app.Commit("main", plain("3"))
	slashed := app.Commit("feature/#12-x", plain("4"))
	odd := app.Commit("a\"b;c'd$(id)", plain("odd"))
	twinBranch := app.Commit("v1", plain("5"))
	app.UpdateRef("refs/tags/v1", first)
	app.Tag("annotated", first)
	hidden := app.Commit("hidden", plain("6"))
	app.UpdateRef("refs/pull/1/head", hidden)

	for name, tc := range map[string]struct {
		change []func(*manifest.Repository)
		want   string
		branch string
	}{
		"the default branch":              {nil, last, "main"},
		"a branch":                        {[]func(*manifest.Repository){branch("feature/#12-x")}, slashed, "feature/#12-x"},
		"a branch of an odd name":         {[]func(*manifest.Repository){branch("a\"b;c'd$(id)")}, odd, "a\"b;c'd$(id)"},
		"a branch with a tag of its name": {[]func(*manifest.Repository){branch("v1")}, twinBranch, "v1"},
		"a tag with a branch of its name": {[]func(*manifest.Repository){tag("v1")}, first, ""},
		"a tag that is an object":         {[]func(*manifest.Repository){tag("annotated")}, first, ""},
		"a commit":                        {[]func(*manifest.Repository){commit(first)}, first, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for what, n := range map[string]int32{"whole history": 0, "a part of it": 1} {
				t.Run(what, func(t *testing.T) {
					p := newPod(t)
					p.options.ExtraCA = server.CA()
					p.wantCommits(map[string]string{"app": tc.want}, p.clone("app", app.URL(), append(tc.change, depth(n))...))
					if got := p.git("app", "branch", "--show-current"); got != tc.branch {
						t.Errorf("on branch %q, want %q", got, tc.branch)
					}
					if got := p.git("app", "rev-parse", "--is-shallow-repository"); (got == "true") != (n > 0) && tc.want != first {
						t.Errorf("shallow: %s, depth %d", got, n)
					}
				})
			}
		})
	}
}

// A commit that no branch or tag points at is found where the server hands out
// single commits, and where it refuses to, by fetching everything.
func TestACommitIsFoundOnEveryServer(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	server := newServer(t, p)
	app := server.NewRepository("org/app.git", gitserver.Settings{})
	first := app.Commit("main", plain("1"))
	app.Commit("main", plain("2"))
	app.Commit("main", plain("3"))
	hidden := app.Commit("hidden", plain("4"))
	app.UpdateRef("refs/pull/1/head", hidden)
	app.DeleteBranch("hidden")

	for name, tc := range map[string]struct {
		refuse bool
		commit string
		depth  int32
	}{
		"inside the history":                              {false, first, 0},
		"inside the history, a part":                      {false, first, 1},
		"inside the history, refused alone":               {true, first, 1},
		"inside the history, whole, refused":              {true, first, 0},
		"behind a ref that is no branch":                  {false, hidden, 0},
		"behind a ref that is no branch, a part":          {false, hidden, 2},
		"behind a ref that is no branch, but is a ref's":  {true, hidden, 1},
		"behind a ref that is no branch, whole, a ref's ": {true, hidden, 0},
	} {
		t.Run(name, func(t *testing.T) {
			app.Configure(func(s *gitserver.Settings) { s.RefuseUnadvertised = tc.refuse })
			p := newPod(t)
			p.options.ExtraCA = server.CA()
			p.wantCommits(map[string]string{"app": tc.commit}, p.clone("app", app.URL(), commit(tc.commit), depth(tc.depth)))
		})
	}
}

// P22: what isn't there is named, and nothing takes its place.
func TestWhatIsNotThereIsNamed(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	server := newServer(t, p)
	app := server.NewRepository("org/app.git", gitserver.Settings{})
	tip := app.Commit("main", plain("1"))
	app.Tag("only-tag", tip)
	blob := app.Blob("no commit")
	app.UpdateRef("refs/tags/blob", blob)
	empty := server.NewRepository("org/empty.git", gitserver.Settings{})
	headless := server.NewRepository("org/headless.git", gitserver.Settings{})
	headless.Commit("other", plain("1"))
	unknown := "0123456789012345678901234567890123456789"

	for name, tc := range map[string]struct {
		url    string
		change func(*manifest.Repository)
		refuse bool
		want   string
	}{
		"a branch":                        {app.URL(), branch("no-such"), false, `branch "no-such" does not exist in ` + app.URL()},
		"a branch that is a tag":          {app.URL(), branch("only-tag"), false, `branch "only-tag" does not exist`},
		"a tag that is a branch":          {app.URL(), tag("main"), false, `tag "main" does not exist`},
		"a branch by its full name":       {app.URL(), branch("refs/heads/main"), false, `branch "refs/heads/main" does not exist`},
		"a branch like an option":         {app.URL(), branch("--orphan=x"), false, `branch "--orphan=x" does not exist`},
		"a tag like an option":            {app.URL(), tag("--upload-pack=touch /tmp/x"), false, "does not exist"},
		"a commit":                        {app.URL(), commit(unknown), false, `commit "` + unknown + `" does not exist`},
		"a commit, refused":               {app.URL(), commit(unknown), true, `commit "` + unknown + `" does not exist`},
		"a commit of the other hash":      {app.URL(), commit(unknown + "012345678901234567890123"), false, "does not exist"},
		"a commit that is something else": {app.URL(), commit(blob), false, `"` + blob + `" of ` + app.URL() + " is not a commit"},
		"a tag of something else":         {app.URL(), tag("blob"), false, `tag "blob" of ` + app.URL() + " is not a commit"},
		"anything in an empty one":        {empty.URL(), branch("main"), false, `branch "main" does not exist`},
		"a commit in an empty one":        {empty.URL(), commit(unknown), false, "does not exist"},
		"a default branch, empty":         {empty.URL(), branch(""), false, "has no default branch"},
		"a default branch":                {headless.URL(), branch(""), false, "has no default branch"},
		"a repository":                    {server.URL("org/none.git"), branch(""), false, "has no such repository"},
	} {
		for what, n := range map[string]int32{"whole history": 0, "a part of it": 1} {
			t.Run(name+", "+what, func(t *testing.T) {
				app.Configure(func(s *gitserver.Settings) { s.RefuseUnadvertised = tc.refuse })
				p := newPod(t)
				p.options.ExtraCA = server.CA()
				if a := p.wantFailure("app", []string{tc.want}, p.clone("app", tc.url, tc.change, depth(n))); a.Error.Missing {
					t.Error("it is taken for a missing Secret")
				}
			})
		}
	}
}

func TestRepositoriesOfTheOtherHashAreCloned(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	server := newServer(t, p)
	app := server.NewSHA256Repository("org/app.git", gitserver.Settings{})
	first := app.Commit("main", plain("1"))
	last := app.Commit("main", plain("2"))
	if len(last) != 64 {
		t.Fatalf("the commit is %q", last)
	}
	p.wantCommits(map[string]string{"tip": last, "part": last, "commit": first},
		p.clone("tip", app.URL()), p.clone("part", app.URL(), depth(1)), p.clone("commit", app.URL(), commit(first), depth(1)))
}

func TestAServerWhoseHeadIsNoBranchIsCloned(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	server := newServer(t, p)
	app := server.NewRepository("org/app.git", gitserver.Settings{})
	first := app.Commit("main", plain("1"))
	app.Commit("main", plain("2"))
	app.DetachHead(first)
	p.wantCommits(map[string]string{"whole": first, "part": first}, p.clone("whole", app.URL()), p.clone("part", app.URL(), depth(1)))
	if got := p.git("whole", "branch", "--show-current"); got != "" {
		t.Errorf("on branch %q", got)
	}
}

// Apart from its hooks, a clone looks as git itself makes it.
func TestACloneLooksLikeAnyOther(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	server := newServer(t, p)
	app := server.NewRepository("org/app.git", gitserver.Settings{User: "bot", Password: "s3cret-token"})
	app.Commit("main", plain("1"))
	app.Tag("v1", app.Commit("main", plain("2")))
	app.Commit("other", plain("3"))
	login := p.with("git-cred", map[string]string{"username": "bot", "password": "s3cret-token"})
	for name, tc := range map[string]struct {
		change []func(*manifest.Repository)
		// flags are those of git clone.
		flags []string
	}{
		"of the default branch": {nil, nil},
		"of a branch":           {[]func(*manifest.Repository){branch("other")}, []string{"--branch=other"}},
		"of a tag":              {[]func(*manifest.Repository){tag("v1")}, []string{"--branch=v1"}},
		"of a part":             {[]func(*manifest.Repository){depth(1)}, []string{"--depth=1"}},
		"of a part of a branch": {[]func(*manifest.Repository){branch("other"), depth(1)}, []string{"--branch=other", "--depth=1"}},
		"of a part of a tag":    {[]func(*manifest.Repository){tag("v1"), depth(1)}, []string{"--branch=v1", "--depth=1"}},
	} {
		t.Run(name, func(t *testing.T) {
			q := newPod(t)
			q.options.ExtraCA = server.CA()
			clone := q.clone("app", app.URL(), append(tc.change, login)...)
			if a := q.run(clone); a.Error != nil {
				t.Fatalf("%+v, log:\n%s", a.Error, q.log)
			}
			q.cloneByHand("reference", server, "bot", "s3cret-token", app.URL(), tc.flags)
			q.git("reference", "config", "core.trustctime", "false") // It is going to be moved.
			for what, arguments := range map[string][]string{
				"configuration": {"config", "--local", "--list"}, "refs": {"for-each-ref"}, "HEAD": {"rev-parse", "--symbolic-full-name", "HEAD"}, "files": {"ls-files", "--stage"},
			} {
				if diff := cmp.Diff(sortLines(q.git("reference", arguments...)), sortLines(q.git("app", arguments...))); diff != "" {
					t.Errorf("the %s (-git's own +ours):\n%s", what, diff)
				}
			}
			if diff := cmp.Diff(q.modes("reference"), q.modes("app")); diff != "" {
				t.Errorf("modes (-git's own +ours):\n%s", diff)
			}
			if got := q.git("app", "fsck"); got != "" {
				t.Errorf("fsck: %s", got)
			}
		})
	}
}
