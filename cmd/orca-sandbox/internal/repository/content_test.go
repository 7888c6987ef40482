// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package repository_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orca-agent-engine/orca-operator/hack/gitserver"
)

// F12: links stay links, and nothing outside of the tree is touched or run.
func TestHostileContentIsHarmless(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	server := newServer(t, p)
	ran := filepath.Join(p.volume, "ran")
	lib := server.NewRepository("org/lib.git", gitserver.Settings{})
	libTip := lib.Commit("main", map[string]gitserver.File{
		"y/hooks/post-checkout": {Content: "#!/bin/sh\ntouch " + ran + "\n", Mode: gitserver.Executable},
	})
	app := server.NewRepository("org/app.git", gitserver.Settings{})
	tip := app.Commit("main", map[string]gitserver.File{
		"up":   {Content: "../../", Mode: gitserver.Symlink},
		"etc":  {Content: "/etc/passwd", Mode: gitserver.Symlink},
		"loop": {Content: "loop", Mode: gitserver.Symlink},
		"a/b":  {Content: "../../lib", Mode: gitserver.Symlink},
		// A submodule whose path differs from a link in case alone.
		"a/modules/x": {Content: libTip, Mode: gitserver.Submodule},
		"A":           {Content: ".git", Mode: gitserver.Symlink},
		".gitmodules": {Content: "[submodule \"x/y\"]\n\tpath = a/modules/x\n\turl = ../lib.git\n"},
		// Nothing that a filter, a hook or a monitor would be.
		".gitattributes":           {Content: "* filter=evil diff=evil merge=evil\n*.bin filter=lfs\n"},
		"large.bin":                server.LFS("large"),
		".lfsconfig":               {Content: "[lfs]\n\tstandalonetransferagent = evil\n[lfs \"customtransfer.evil\"]\n\tpath = touch\n\targs = " + ran + "\n"},
		".husky/post-checkout":     {Content: "#!/bin/sh\ntouch " + ran + "\n", Mode: gitserver.Executable},
		"hooks/post-checkout":      {Content: "#!/bin/sh\ntouch " + ran + "\n", Mode: gitserver.Executable},
		"-rf":                      {Content: "x"},
		"a\nb":                     {Content: "x"},
		"caf\xc3\xa9/\xff\xfe.txt": {Content: "x"},
	})
	before := p.outside()
	p.wantCommits(map[string]string{"app": tip}, p.clone("app", app.URL(), withSubmodules, withLFS))
	for path, want := range map[string]string{"up": "-> ../../", "etc": "-> /etc/passwd", "loop": "-> loop", "a/b": "-> ../../lib", "A": "-> .git", "large.bin": "large", "-rf": "x", "a\nb": "x"} {
		if got := p.content("app", path); got != want {
			t.Errorf("%s has %q, want %q", path, got, want)
		}
	}
	if diff := cmp.Diff(before, p.outside()); diff != "" {
		t.Errorf("outside of the tree (-before +after):\n%s", diff)
	}
	if hooks, err := filepath.Glob(filepath.Join(p.tree("app"), ".git", "hooks")); err != nil || len(hooks) > 0 {
		t.Errorf("hooks are there: %v (%v)", hooks, err)
	}
}

// outside lists the pod's folders, but not what is in the trees.
func (p *pod) outside() []string {
	p.t.Helper()
	var found []string
	for _, folder := range []string{p.volume, p.work, p.secrets} {
		entries, err := os.ReadDir(folder)
		p.must(err)
		for _, entry := range entries {
			if entry.Name() != "app" {
				found = append(found, filepath.Join(folder, entry.Name()))
			}
		}
	}
	return found
}

// F06: an address or name that looks like an option is none.
func TestNothingIsTakenForAnOption(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	server := newServer(t, p)
	app := server.NewRepository("org/--config=a.git", gitserver.Settings{})
	tip := app.Commit("main", plain("1"))
	dash := app.Commit("dash", plain("2"))
	app.UpdateRef("refs/heads/--upload-pack=x", dash)
	app.UpdateRef("refs/tags/-d", dash)
	p.wantCommits(map[string]string{"default": tip, "branch": dash, "tag": dash},
		p.clone("default", app.URL()), p.clone("branch", app.URL(), branch("--upload-pack=x"), depth(1)), p.clone("tag", app.URL(), tag("-d")))
	for name, url := range map[string]string{"an option": "--upload-pack=touch /tmp/x", "a helper": "ext::sh -c id", "a file": "file:///etc", "a path": "/etc"} {
		t.Run(name, func(t *testing.T) {
			q := newPod(t)
			q.wantFailure("app", []string{"the URL must"}, q.clone("app", url))
		})
	}
}

func largeFiles(server *gitserver.Server, more map[string]gitserver.File) map[string]gitserver.File {
	files := map[string]gitserver.File{
		".gitattributes": {Content: "*.bin filter=lfs diff=lfs merge=lfs -text\n"},
		"large.bin":      server.LFS("a large file"), "deep/other.bin": server.LFS(strings.Repeat("x", 100_000)),
	}
	maps.Copy(files, more)
	return files
}

func TestLargeFiles(t *testing.T) {
	t.Parallel()
	own, other := gitserver.Start(t, gitserver.Options{}), gitserver.Start(t, gitserver.Options{})
	locked := gitserver.Settings{User: "bot", Password: password}
	lib := own.NewRepository("org/lib.git", locked)
	libTip := lib.Commit("main", largeFiles(own, nil))
	app := own.NewRepository("org/app.git", locked)
	tip := app.Commit("main", largeFiles(own, map[string]gitserver.File{
		".gitmodules": {Content: "[submodule \"lib\"]\n\tpath = lib\n\turl = ../lib.git\n"}, "lib": {Content: libTip, Mode: gitserver.Submodule},
	}))
	elsewhere := own.NewRepository("org/elsewhere.git", locked)
	other.NewRepository("org/elsewhere.git", gitserver.Settings{})
	elsewhereTip := elsewhere.Commit("main", largeFiles(other, map[string]gitserver.File{
		".lfsconfig": {Content: "[lfs]\n\turl = " + other.URL("org/elsewhere.git/info/lfs") + "\n"},
	}))
	stored := own.NewRepository("org/stored.git", gitserver.Settings{User: "bot", Password: password, LFSHref: strings.TrimSuffix(other.URL(""), "/")})
	storedTip := stored.Commit("main", largeFiles(other, nil))
	largeFiles(own, nil) // The same objects, so that the batch lists them.

	for name, tc := range map[string]struct {
		url, tip string
		skip     bool
	}{
		"from the own server":                    {app.URL(), tip, false},
		"not asked for":                          {app.URL(), tip, true},
		"from a server that .lfsconfig names":    {elsewhere.URL(), elsewhereTip, false},
		"from a store that the own server names": {stored.URL(), storedTip, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPod(t)
			p.options.ExtraCA = own.CA() + other.CA()
			clone := p.clone("app", tc.url, p.with("git-cred", map[string]string{"username": "bot", "password": password}), withSubmodules)
			clone.LFS = !tc.skip
			p.wantCommits(map[string]string{"app": tc.tip}, clone)
			files := []string{"large.bin"}
			if tc.url == app.URL() {
				files = append(files, "lib/large.bin")
			}
			for _, path := range files {
				if got := p.content("app", path); (got == "a large file") == tc.skip {
					t.Errorf("%s has %q", path, got)
				}
			}
			p.wantNowhere(password, "bot:"+password)
			p.wantNoLeftOvers()
		})
	}
	if got := authorized(other, "/"); len(got) > 0 || !asked(other, "/org/elsewhere.git/info/lfs") || !asked(other, "/lfs-objects/") {
		t.Errorf("the other server was offered a credential, or not asked at all: %+v", got)
	}
}

// wantNoLeftOvers checks that tools have left nothing in the git folders.
func (p *pod) wantNoLeftOvers() {
	p.t.Helper()
	for _, pattern := range []string{"hooks", "modules/*/hooks", "lfs/tmp/*", "modules/*/lfs/tmp/*", "*_HEAD", "*.lock"} {
		if left, err := filepath.Glob(filepath.Join(p.tree("app"), ".git", pattern)); err != nil || len(left) > 0 {
			p.t.Errorf("left behind: %v (%v)", left, err)
		}
	}
}

func TestALargeFileThatIsNotThereFails(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	server := newServer(t, p)
	app := server.NewRepository("org/app.git", gitserver.Settings{})
	app.Commit("main", largeFiles(server, map[string]gitserver.File{".lfsconfig": {Content: "[lfs]\n\tskipdownloaderrors = true\n"}}))
	server.ForgetLFS()
	p.wantFailure("app", []string{"the LFS server does not have a file"}, p.clone("app", app.URL(), withLFS))
}

// F14: in a tree that can't be written, git needs to write nothing, and reads no
// file to learn that it hasn't changed.
func TestAnAgentFindsTheIndexFresh(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	server := newServer(t, p)
	app := server.NewRepository("org/app.git", gitserver.Settings{})
	tip := app.Commit("main", plain("1"))
	p.wantCommits(map[string]string{"app": tip}, p.clone("app", app.URL()))
	index, err := os.Stat(filepath.Join(p.tree("app"), ".git", "index"))
	p.must(err)
	for path := range plain("1") {
		file, err := os.Stat(filepath.Join(p.tree("app"), path))
		p.must(err)
		if file.ModTime().Unix() >= index.ModTime().Unix() {
			t.Errorf("%s of %s isn't older than the index of %s", path, file.ModTime(), index.ModTime())
		}
	}
	p.inReadOnly("app", `[ -z "$(git status --porcelain)" ] && git diff --exit-code && git log -1 && ! git commit --allow-empty -m x`)
	for _, arguments := range [][]string{{"status"}, {"diff", "--exit-code"}, {"diff-files", "--exit-code"}, {"log", "-1"}} {
		p.git("app", arguments...)
	}
	// P25, P32: where it may write, nothing is in the way.
	p.git("app", "-c", "user.name=a", "-c", "user.email=a", "commit", "--quiet", "--allow-empty", "--message=x")
}

// inReadOnly runs a script in a tree that is mounted read-only.
func (p *pod) inReadOnly(resource, script string) {
	p.t.Helper()
	if os.Geteuid() != 0 {
		return // Only root can mount.
	}
	const mount = `mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && cd "$1" && exec setpriv --reuid="$2" --regid="$2" --clear-groups sh -c "$3"`
	command := exec.CommandContext(p.t.Context(), "unshare", "--mount", "sh", "-c", mount, "sh", p.tree(resource), strconv.Itoa(cloner), script)
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_OPTIONAL_LOCKS=0", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a"}
	if output, err := command.CombinedOutput(); err != nil {
		p.t.Errorf("in the read-only tree: %v\n%s", err, output)
	}
}
