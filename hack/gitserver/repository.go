// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package gitserver

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Repository is one that the server has. Its settings can be changed with
// Configure.
type Repository struct {
	server *Server
	// Name is its path on the server, without a slash in front.
	Name   string
	folder string

	mu       sync.Mutex
	settings Settings
}

// Settings say who may read a repository and how its server misbehaves.
type Settings struct {
	// User and Password are asked for unless both are empty.
	User, Password string
	// Fail is the status, and FailTimes how often, that requests are answered
	// with in the place of what they ask for; below 0: for ever.
	Fail      int
	FailTimes int
	// FailBody is the text of these answers.
	FailBody string
	// FailLFS is how many requests of the LFS API are answered with the status 503.
	FailLFS int
	// Drop is how many packs are cut off in their middle.
	Drop int
	// Stall has requests wait for an answer until the client gives up.
	Stall bool
	// BytesPerSecond is how fast each answer is sent; 0: as fast as it can be.
	BytesPerSecond int
	// StallPack has the requests of packs wait so.
	StallPack bool
	// RedirectTo is the address, without the repository's path, to which requests
	// are redirected.
	RedirectTo string
	// RedirectAuthorized redirects only requests with the right credential.
	RedirectAuthorized bool
	// RefuseUnadvertised hands out only what a branch or tag points at, by the
	// old protocol, as servers may.
	RefuseUnadvertised bool
	// LFSHref is the address of the server that has the LFS objects, if it is
	// another one.
	LFSHref string
}

// File is what a path has in a commit.
type File struct {
	// Content is the file's, or where the link points to, or the submodule's
	// commit.
	Content string
	// Mode is as git writes it; "100644" if empty.
	Mode string
}

// The modes of entries beside plain files.
const (
	Executable = "100755"
	Symlink    = "120000"
	Submodule  = "160000"
)

// NewRepository makes an empty repository with the default branch main.
func (s *Server) NewRepository(name string, settings Settings) *Repository {
	return s.newRepository(name, settings, "sha1")
}

// NewSHA256Repository makes one whose objects have names of 64 digits.
func (s *Server) NewSHA256Repository(name string, settings Settings) *Repository {
	return s.newRepository(name, settings, "sha256")
}

func (s *Server) newRepository(name string, settings Settings, format string) *Repository {
	s.t.Helper()
	r := &Repository{server: s, Name: name, folder: filepath.Join(s.root, "repositories", name), settings: settings}
	must(s.t, os.MkdirAll(filepath.Dir(r.folder), 0o755))
	r.git("", "init", "--quiet", "--bare", "--initial-branch=main", "--object-format="+format, r.folder)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.repositories[name] = r
	return r
}

// Configure changes the settings.
func (r *Repository) Configure(change func(*Settings)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.settings)
}

// URL returns the https address.
func (r *Repository) URL() string { return r.server.URL(r.Name) }

// PlainURL returns the http address.
func (r *Repository) PlainURL() string { return r.server.PlainURL(r.Name) }

// Commit adds a commit with exactly the given files to a branch and returns its
// id.
func (r *Repository) Commit(branch string, files map[string]File) string {
	r.server.t.Helper()
	var stream strings.Builder
	fmt.Fprintf(&stream, "commit refs/heads/%s\ncommitter A <a@git.test> 1700000000 +0000\ndata 4\ntest\n", branch)
	if r.has("refs/heads/" + branch) {
		fmt.Fprintf(&stream, "from refs/heads/%s^0\n", branch)
	}
	stream.WriteString("deleteall\n")
	for _, path := range slices.Sorted(maps.Keys(files)) {
		file := files[path]
		if file.Mode == Submodule {
			fmt.Fprintf(&stream, "M %s %s %s\n", file.Mode, file.Content, quote(path))
			continue
		}
		mode := cmp.Or(file.Mode, "100644")
		fmt.Fprintf(&stream, "M %s inline %s\ndata %d\n%s\n", mode, quote(path), len(file.Content), file.Content)
	}
	r.git(stream.String(), "fast-import", "--quiet")
	return r.git("", "rev-parse", "refs/heads/"+branch)
}

// quote writes a path as fast-import reads it.
func quote(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}

// Tag has a tag, of the kind that is an object of its own, point at a commit.
func (r *Repository) Tag(name, commit string) {
	r.server.t.Helper()
	r.git("", "tag", "--annotate", "--force", "--message=test", name, commit)
}

// UpdateRef points a ref, given in full, at a commit.
func (r *Repository) UpdateRef(ref, commit string) {
	r.server.t.Helper()
	r.git("", "update-ref", ref, commit)
}

// SetHead makes a ref, given in full, the default branch.
func (r *Repository) SetHead(ref string) {
	r.server.t.Helper()
	r.git("", "symbolic-ref", "HEAD", ref)
}

// LFS has the server keep a large file and returns what stands for it in a
// commit.
func (s *Server) LFS(content string) File {
	sum := sha256.Sum256([]byte(content))
	oid := hex.EncodeToString(sum[:])
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[oid] = []byte(content)
	return File{Content: fmt.Sprintf("version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n", oid, len(content))}
}

func (r *Repository) has(ref string) bool {
	command := r.command("rev-parse", "--quiet", "--verify", ref)
	return command.Run() == nil
}

// git runs git in the repository and returns its output without white space at
// its end.
func (r *Repository) git(input string, arguments ...string) string {
	r.server.t.Helper()
	command := r.command(arguments...)
	command.Stdin = strings.NewReader(input)
	var problem strings.Builder
	command.Stderr = &problem
	output, err := command.Output()
	if err != nil {
		r.server.t.Fatalf("git %s: %v\n%s", arguments, err, problem.String())
	}
	return strings.TrimSpace(string(output))
}

func (r *Repository) command(arguments ...string) *exec.Cmd {
	command := exec.Command("git", arguments...)
	command.Env = append(environment(), "GIT_DIR="+r.folder)
	return command
}

// environment keeps what the machine's user has set from changing git.
func environment() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@git.test", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@git.test",
		"GIT_CONFIG_COUNT=3",
		"GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
		"GIT_CONFIG_KEY_1=uploadpack.allowFilter", "GIT_CONFIG_VALUE_1=true",
		"GIT_CONFIG_KEY_2=gc.auto", "GIT_CONFIG_VALUE_2=0",
	}
}

// DeleteBranch removes a branch.
func (r *Repository) DeleteBranch(name string) {
	r.server.t.Helper()
	r.git("", "update-ref", "-d", "refs/heads/"+name)
}

// DetachHead has the server's HEAD name a commit and no branch.
func (r *Repository) DetachHead(commit string) {
	r.server.t.Helper()
	r.git("", "update-ref", "--no-deref", "HEAD", commit)
}

// Blob adds an object that is no commit and returns its id.
func (r *Repository) Blob(content string) string {
	r.server.t.Helper()
	return r.git(content, "hash-object", "-w", "--stdin")
}
