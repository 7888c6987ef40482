// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

// origin is a server with git repositories.
type origin struct {
	t      *testing.T
	folder string
	server *httptest.Server
}

func newOrigin(t *testing.T) *origin {
	t.Helper()
	o := &origin{t: t, folder: t.TempDir()}
	programs := strings.TrimSpace(o.git(o.folder, "--exec-path"))
	o.server = httptest.NewServer(&cgi.Handler{
		Path: filepath.Join(programs, "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + o.folder, "GIT_HTTP_EXPORT_ALL=1"},
		// It complains there about every request that it refuses.
		Stderr: io.Discard,
	})
	t.Cleanup(o.server.Close)
	return o
}

// git runs git in a folder as somebody whose settings are nobody's.
func (o *origin) git(folder string, arguments ...string) string {
	o.t.Helper()
	command := exec.CommandContext(o.t.Context(), "git", append([]string{"-c", "init.defaultBranch=main"}, arguments...)...)
	command.Dir = folder
	command.Env = append(os.Environ(), "HOME="+o.folder, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@git.test", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@git.test")
	output, err := command.CombinedOutput()
	if err != nil {
		o.t.Fatalf("git %q: %v\n%s", arguments, err, output)
	}
	return string(output)
}

// add makes a repository and returns the resource that clones it to a path.
// Contents are by name; one that begins with "-> " is that of a link.
func (o *origin) add(resource, path string, contents map[string]string) manifest.Repository {
	o.t.Helper()
	folder := filepath.Join(o.folder, resource+".git")
	o.git(o.folder, "init", "--quiet", folder)
	for name, content := range contents {
		writeEntry(o.t, filepath.Join(folder, name), content)
	}
	o.git(folder, "add", "--all")
	o.git(folder, "commit", "--quiet", "--allow-empty", "--message", "first")
	return manifest.Repository{Resource: resource, URL: o.server.URL + "/" + resource + ".git", Path: path}
}

// change commits what a git command does to the index of a repository.
func (o *origin) change(repository manifest.Repository, arguments ...string) {
	o.t.Helper()
	folder := filepath.Join(o.folder, repository.Resource+".git")
	o.git(folder, arguments...)
	o.git(folder, "commit", "--quiet", "--message", "change")
}

// commits returns what setup shall say of repositories.
func (o *origin) commits(repositories ...manifest.Repository) map[string]string {
	o.t.Helper()
	found := map[string]string{}
	for _, repository := range repositories {
		folder := filepath.Join(o.folder, repository.Resource+".git")
		found[repository.Resource] = strings.TrimSpace(o.git(folder, "rev-parse", "HEAD"))
	}
	return found
}

// writeEntry makes a file, or a link if the content begins with "-> ".
func writeEntry(t *testing.T, path, content string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if target, isLink := strings.CutPrefix(content, "-> "); isLink && err == nil {
		err = os.Symlink(target, path)
	} else if err == nil {
		err = os.WriteFile(path, []byte(content), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
