// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package repository_test

import (
	"bytes"
	"encoding/base64"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/repository"
	"github.com/orca-agent-engine/orca-operator/hack/gitserver"
)

// wantNothingLeft checks that no half-made tree and nothing in memory remains.
func (p *pod) wantNothingLeft() {
	p.t.Helper()
	for pattern, what := range map[string]string{filepath.Join(p.work, "*"): "in memory", filepath.Join(p.volume, ".*"): "of a half-made tree"} {
		if left, err := filepath.Glob(pattern); err != nil || len(left) > 0 {
			p.t.Errorf("left %s: %v (%v)", what, left, err)
		}
	}
}

// wantCommits clones and checks what was checked out.
func (p *pod) wantCommits(want map[string]string, clones ...repository.Clone) {
	p.t.Helper()
	a := p.run(clones...)
	if a.Error != nil || a.Platform != "" {
		p.t.Fatalf("cloning failed: %+v %s, log:\n%s", a.Error, a.Platform, p.log)
	}
	for resource, commit := range want {
		if a.Commits[resource] != commit {
			p.t.Errorf("%s is at %q, want %q", resource, a.Commits[resource], commit)
		}
		if got := p.git(resource, "rev-parse", "HEAD"); got != commit {
			p.t.Errorf("HEAD of %s is %s, want %s", resource, got, commit)
		}
		p.wantClean(resource)
	}
}

// wantClean checks, as an agent would, that nothing looks changed, and that no
// file has to be read to know it.
func (p *pod) wantClean(resource string) {
	p.t.Helper()
	if got := p.git(resource, "status", "--porcelain"); got != "" {
		p.t.Errorf("the status of %s:\n%s", resource, got)
	}
}

// wantFailure clones and checks the cause of the failure.
func (p *pod) wantFailure(resource string, parts []string, clones ...repository.Clone) answer {
	p.t.Helper()
	a := p.run(clones...)
	p.checkFailure(a, resource, parts)
	return a
}

func (p *pod) checkFailure(a answer, resource string, parts []string) {
	p.t.Helper()
	if a.Error == nil || a.Error.Resource != resource {
		p.t.Fatalf("got %+v %+v, want %s to fail, log:\n%s", a, a.Error, resource, p.log)
	}
	for _, part := range parts {
		if !strings.Contains(a.Error.Cause, part) {
			p.t.Errorf("the cause is %q, want it to have %q", a.Error.Cause, part)
		}
	}
	if len(a.Error.Cause) > 400 || strings.ContainsAny(a.Error.Cause, "\n\r\t") {
		p.t.Errorf("the cause has %d bytes or isn't one line: %q", len(a.Error.Cause), a.Error.Cause)
	}
	if _, err := os.Lstat(p.tree(resource)); err == nil {
		p.t.Errorf("the tree of %s is there", resource)
	}
}

// git runs git in a tree as an agent that can't write there does.
func (p *pod) git(resource string, arguments ...string) string {
	p.t.Helper()
	command := as(exec.CommandContext(p.t.Context(), "git", append([]string{"-C", p.tree(resource)}, arguments...)...))
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_OPTIONAL_LOCKS=0"}
	output, err := command.CombinedOutput()
	if err != nil {
		p.t.Fatalf("git %s: %v\n%s", arguments, err, output)
	}
	return strings.TrimRight(string(output), "\n")
}

// content returns what a path of a tree has.
func (p *pod) content(resource, path string) string {
	p.t.Helper()
	name := filepath.Join(p.tree(resource), path)
	if target, err := os.Readlink(name); err == nil {
		return "-> " + target
	}
	file, err := os.Open(name)
	if err != nil {
		return "(none)"
	}
	defer file.Close()
	content, err := io.ReadAll(file)
	p.must(err)
	return string(content)
}

// cloneByHand clones with git alone, as a user does.
func (p *pod) cloneByHand(resource string, server *gitserver.Server, user, password, address string, flags []string) {
	p.t.Helper()
	authority := filepath.Join(p.t.TempDir(), "ca.pem")
	p.must(os.WriteFile(authority, []byte(server.CA()), 0o600))
	withLogin := strings.Replace(address, "://", "://"+user+":"+password+"@", 1)
	arguments := append([]string{"-c", "init.templateDir=", "clone", "--quiet", "--no-recurse-submodules"}, flags...)
	p.runByHand(append(arguments, withLogin, p.tree(resource)), "GIT_SSL_CAINFO="+authority)
	p.runByHand([]string{"-C", p.tree(resource), "remote", "set-url", "origin", address})
	// The user that clones owns its trees.
	p.must(filepath.WalkDir(p.tree(resource), func(path string, _ fs.DirEntry, err error) error {
		if err == nil && os.Geteuid() == 0 {
			err = os.Lchown(path, cloner, cloner)
		}
		return err
	}))
}

func (p *pod) runByHand(arguments []string, variables ...string) {
	p.t.Helper()
	command := exec.CommandContext(p.t.Context(), "git", arguments...)
	command.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null"}, variables...)
	if output, err := command.CombinedOutput(); err != nil {
		p.t.Fatalf("git %s: %v\n%s", arguments, err, output)
	}
}

// modes returns the modes of a working tree's entries.
func (p *pod) modes(resource string) map[string]string {
	p.t.Helper()
	found := map[string]string{}
	p.must(filepath.WalkDir(p.tree(resource), func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.Name() == ".git":
			return fs.SkipDir
		}
		info, err := entry.Info()
		found[strings.TrimPrefix(path, p.tree(resource))] = info.Mode().String()
		return err
	}))
	return found
}

func sortLines(text string) []string { return slices.Sorted(strings.SplitSeq(text, "\n")) }

// processes returns the ids of those that belong to the pod's clones.
func (p *pod) processes() []int {
	p.t.Helper()
	environments, err := filepath.Glob("/proc/[0-9]*/environ")
	p.must(err)
	var found []int
	for _, path := range environments {
		// A zombie has none any more.
		if content, err := os.ReadFile(path); err == nil && bytes.Contains(content, []byte(p.work)) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			p.must(err)
			found = append(found, pid)
		}
	}
	return found
}

// wantNowhere checks that a secret, in the forms that it may take, is neither in
// the log nor in a file of a tree.
func (p *pod) wantNowhere(secrets ...string) {
	p.t.Helper()
	for _, secret := range secrets {
		for _, form := range []string{secret, url.QueryEscape(secret), base64.StdEncoding.EncodeToString([]byte(secret))} {
			if strings.Contains(p.log, form) {
				p.t.Errorf("%q is in the log:\n%s", form, p.log)
			}
			p.wantInNoFile(form)
		}
	}
}

func (p *pod) wantInNoFile(text string) {
	p.t.Helper()
	p.must(filepath.WalkDir(p.volume, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(content, []byte(text)) {
			p.t.Errorf("%q is in %s", text, path)
		}
		return err
	}))
}

// eventually waits until something holds.
func (p *pod) eventually(holds func() bool) {
	p.t.Helper()
	for end := time.Now().Add(30 * time.Second); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			p.t.Fatal("it did not come to hold within 30 s")
		}
	}
}
