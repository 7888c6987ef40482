// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

// F02, F14, P32: git works for the agent, and only there where it may write.
func TestGitWorksInWhatSetupMade(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	p := newSetupPod(t)
	app := o.add("app", "/workspace/app", map[string]string{"x": "x", "src/y": "y", "tool": "tool"})
	lib := o.add("lib", "/workspace/lib", map[string]string{"z": "z", "in/deep": "d"})
	document := p.volumeOf(cloning(ordinary(file("x", "/workspace/lib/in/more")), app, lib), 0)
	p.project("..2026_1", map[string]string{"x": "x"})
	if log, exitCode := p.run(document); exitCode != 0 {
		t.Fatalf("exit code %d, log:\n%s", exitCode, log)
	}
	readOnly := filepath.Join(p.sealed, "workspace", "lib")
	writable := filepath.Join(document.Repositories[0].Volume, manifest.VolumeTree)
	for name, tc := range map[string]struct {
		folder    string
		arguments []string
		want      string
		refused   bool
	}{
		"status in a read-only one": {readOnly, []string{"status", "--porcelain"}, "?? in/more\n", false},
		"log in a read-only one":    {readOnly, []string{"log", "--format=%s"}, "first\n", false},
		"diff in a read-only one":   {readOnly, []string{"diff"}, "", false},
		// A stale index would make it list files.
		"diff-files in a read-only one":  {readOnly, []string{"diff-files"}, "", false},
		"commit in a read-only one":      {readOnly, []string{"commit", "--quiet", "--allow-empty", "--message=x"}, "", true},
		"status in a writable one":       {writable, []string{"status", "--porcelain"}, "", false},
		"commit in a writable one":       {writable, []string{"commit", "--quiet", "--allow-empty", "--message=x"}, "", false},
		"diff-files in a writable one":   {writable, []string{"diff-files"}, "", false},
		"fsck in what was moved":         {readOnly, []string{"fsck", "--no-progress"}, "", false},
		"the remote in a read-only one":  {readOnly, []string{"remote", "get-url", "origin"}, document.Repositories[1].URL + "\n", false},
		"the tracked files are all here": {readOnly, []string{"ls-files", "--deleted", "--modified"}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			output, err := gitOfAgent(t, readOnly, tc.folder, tc.arguments...)
			if tc.refused != (err != nil) || !tc.refused && output != tc.want {
				t.Errorf("git ended with %v, want refused %v; output:\n%s\nwant:\n%s", err, tc.refused, output, tc.want)
			}
			if tc.refused && !strings.Contains(output, "Read-only file system") {
				t.Errorf("it was refused otherwise: %s", output)
			}
		})
	}
}

// P32: the modes are those of git, whatever the umask and the group of a volume
// are. A fifth digit would be a bit that the volume has handed down.
func TestSetupGivesRepositoriesTheModesOfGit(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	p := newSetupPod(t)
	app := o.add("app", "/workspace/app", map[string]string{"src/x": "x", "tool": "tool"})
	o.change(app, "update-index", "--chmod=+x", "tool")
	lib := at(app, "/workspace/lib")
	lib.Resource = "lib"
	document := p.volumeOf(cloning(ordinary(), app, lib), 0)
	if log, exitCode := p.run(document); exitCode != 0 {
		t.Fatalf("exit code %d, log:\n%s", exitCode, log)
	}
	for _, top := range []string{filepath.Join(p.sealed, "workspace"), filepath.Join(document.Repositories[0].Volume, manifest.VolumeTree)} {
		p.must(filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := entry.Info()
			if want := modesOfGit(path, entry.IsDir()); err == nil && !slices.Contains(want, info.Mode()) {
				t.Errorf("%s has mode %s, want one of %v", path, info.Mode(), want)
			}
			return err
		}))
	}
}

// modesOfGit returns the modes that something in a repository can have. Objects
// are closed to writing, hooks can be executed.
func modesOfGit(path string, isDirectory bool) []fs.FileMode {
	switch {
	case isDirectory:
		return []fs.FileMode{fs.ModeDir | 0o755}
	case strings.Contains(path, "/.git/"):
		return []fs.FileMode{0o644, 0o444, 0o755}
	case filepath.Base(path) == "tool":
		return []fs.FileMode{0o755}
	default:
		return []fs.FileMode{0o644}
	}
}

// gitOfAgent runs git as the agent does: as the sandbox's user, where the sealed
// tree is mounted read-only.
func gitOfAgent(t *testing.T, readOnly, folder string, arguments ...string) (string, error) {
	t.Helper()
	script := `mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && cd "$2" && shift 2 && exec "$@"`
	enter := []string{"--mount", "--propagation", "private"}
	become := []string{"setpriv", "--reuid=1000", "--regid=1000", "--clear-groups", "--no-new-privs"}
	if os.Geteuid() != 0 {
		enter, become = append(enter, "--user", "--map-root-user"), nil
	}
	line := slices.Concat(enter, []string{"sh", "-c", script, "sh", readOnly, folder}, become, []string{"git"}, arguments)
	command := exec.CommandContext(t.Context(), "unshare", line...)
	command.Env = append(os.Environ(), "HOME=/nowhere", "GIT_CONFIG_NOSYSTEM=1", "GIT_OPTIONAL_LOCKS=0",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=diff.autoRefreshIndex", "GIT_CONFIG_VALUE_0=false",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@git.test", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@git.test")
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	output, err := command.CombinedOutput()
	return string(output), err
}
