// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

// kept is what a repository's folder for git looks like from outside.
const kept = folder

func cloning(document manifest.Setup, repositories ...manifest.Repository) manifest.Setup {
	document.Repositories = repositories
	return document
}

func TestSetupComposesRepositoriesWithWhatElseThereIs(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	app := o.add("app", "/workspace/app", map[string]string{
		"README.md": "same", "src/main.go": "main", "vendor/lib/LICENSE": "free", "up": "-> ../..", "loop": "-> loop",
	})
	lib := o.add("lib", "/workspace/app/vendor/lib", map[string]string{"LICENSE": "free", "lib.go": "lib"})
	odd := o.add("odd", "/workspace/odd", map[string]string{"in/\xff/a": "a", "in/é/b": "b"})
	even := o.add("even", "/workspace/odd/in", map[string]string{"\xff/c": "c", "-d": "d"})
	outer := map[string]string{
		"/workspace": folder, "/workspace/app": folder, "/workspace/app/.git": kept,
		"/workspace/app/README.md": sealed + "same", "/workspace/app/src": folder, "/workspace/app/src/main.go": sealed + "main",
		"/workspace/app/vendor": folder, "/workspace/app/vendor/lib": folder, "/workspace/app/vendor/lib/LICENSE": sealed + "free",
		"/workspace/app/up": "-> ../..", "/workspace/app/loop": "-> loop",
	}
	for name, tc := range map[string]struct {
		document manifest.Setup
		// more is what there is beside the outer repository.
		more map[string]string
	}{
		"a repository alone": {cloning(ordinary(), app), nil},
		"a repository in a directory of another (F17)": {cloning(ordinary(), lib, app), map[string]string{
			"/workspace/app/vendor/lib/.git": kept, "/workspace/app/vendor/lib/lib.go": sealed + "lib",
		}},
		"a repository where the other has nothing (P26)": {cloning(ordinary(), app, at(lib, "/workspace/app/deep/er/lib")), map[string]string{
			"/workspace/app/deep": folder, "/workspace/app/deep/er": folder, "/workspace/app/deep/er/lib": folder,
			"/workspace/app/deep/er/lib/.git": kept, "/workspace/app/deep/er/lib/LICENSE": sealed + "free", "/workspace/app/deep/er/lib/lib.go": sealed + "lib",
		}},
		"a file where the repository has no directory (F17)": {cloning(ordinary(file("x", "/workspace/app/data/in")), app), map[string]string{
			"/workspace/app/data": folder, "/workspace/app/data/in": sealed + "x",
		}},
		"a file beside those of the repository": {cloning(ordinary(file("x", "/workspace/app/src/x")), app), map[string]string{
			"/workspace/app/src/x": sealed + "x",
		}},
		"a file that the repository has just so": {cloning(ordinary(file("same", "/workspace/app/README.md")), app), nil},
		"names that differ in case (F13)": {cloning(ordinary(), app, at(lib, "/workspace/App")), map[string]string{
			"/workspace/App": folder, "/workspace/App/.git": kept, "/workspace/App/LICENSE": sealed + "free", "/workspace/App/lib.go": sealed + "lib",
		}},
		"names that are not text": {cloning(ordinary(), app, odd, even), map[string]string{
			"/workspace/odd": folder, "/workspace/odd/.git": kept, "/workspace/odd/in": folder, "/workspace/odd/in/.git": kept,
			"/workspace/odd/in/\xff": folder, "/workspace/odd/in/\xff/a": sealed + "a", "/workspace/odd/in/\xff/c": sealed + "c",
			"/workspace/odd/in/é": folder, "/workspace/odd/in/é/b": sealed + "b", "/workspace/odd/in/-d": sealed + "d",
		}},
		"a repository in a place of its own": {cloning(ordinary(), app, at(lib, "/data/lib")), map[string]string{
			"/data": folder, "/data/lib": folder, "/data/lib/.git": kept, "/data/lib/LICENSE": sealed + "free", "/data/lib/lib.go": sealed + "lib",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newSetupPod(t)
			p.project("..2026_1", map[string]string{"x": "x", "same": "same"})
			p.commits = o.commits(tc.document.Repositories...)
			want := map[string]string{}
			maps.Copy(want, outer)
			maps.Copy(want, tc.more)
			p.wantSuccess(tc.document, want)
			p.wantNothingLeft()
		})
	}
}

// at is a repository that is put elsewhere.
func at(repository manifest.Repository, path string) manifest.Repository {
	repository.Path = path
	return repository
}

// wantNothingLeft checks the folder in which nothing may stay.
func (p *setupPod) wantNothingLeft() {
	p.t.Helper()
	if left := treeOf(p.t, p.work); len(left) > 0 {
		p.t.Errorf("left in the work folder: %v", left)
	}
}

func TestSetupTellsWhyARepositoryFailed(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	app := o.add("app", "/workspace/app", nil)
	app.URL += "x"
	p := newSetupPod(t)
	log, exitCode := p.run(cloning(ordinary(), app))
	if result := p.result(); exitCode != 1 || result.Code != manifest.SetupRepositoryFailed || result.Resource != "app" || result.Cause == "" {
		t.Errorf("exit code %d, result %+v, log:\n%s", exitCode, result, log)
	}
	p.wantNothingLeft()
}

// A remote that never answers: the failure names the repository, not only the
// time that is over.
func TestSetupNamesTheRepositoryThatTookTooLong(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) { <-request.Context().Done() }))
	t.Cleanup(server.Close)
	p := newSetupPod(t)
	document := cloning(ordinary(), manifest.Repository{Resource: "app", Path: "/workspace/app", URL: server.URL + "/app.git"})
	document.TimeoutSeconds = 1
	log, exitCode := p.run(document)
	if result := p.result(); exitCode != 1 || result.Code != manifest.SetupRepositoryFailed || result.Resource != "app" {
		t.Errorf("exit code %d, result %+v, log:\n%s", exitCode, result, log)
	}
	p.wantNothingLeft()
}

// result returns what setup left for the operator.
func (p *setupPod) result() manifest.SetupResult {
	p.t.Helper()
	message, err := os.ReadFile(p.message)
	p.must(err)
	result, err := manifest.DecodeResult[manifest.SetupResult](string(message))
	p.must(err)
	return result
}

// volumeOf makes a repository ReadWrite, with a volume and its mount point.
func (p *setupPod) volumeOf(document manifest.Setup, index int) manifest.Setup {
	p.t.Helper()
	repository := &document.Repositories[index]
	repository.Volume = filepath.Join(filepath.Dir(p.sealed), "repositories", repository.Resource)
	p.makeVolume(repository.Volume)
	document.Directories = append(document.Directories, repository.Path)
	return document
}

func TestSetupPutsAReadWriteRepositoryIntoItsVolume(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	p := newSetupPod(t)
	app := o.add("app", "/workspace/app", map[string]string{"src/x": "x", "link": "-> src"})
	lib := o.add("lib", "/workspace/lib", map[string]string{"y": "y"})
	document := p.volumeOf(cloning(ordinary(), app, lib), 0)
	p.commits = o.commits(app, lib)
	p.wantSuccess(document, map[string]string{
		"/workspace": folder, "/workspace/app": folder,
		"/workspace/lib": folder, "/workspace/lib/.git": kept, "/workspace/lib/y": sealed + "y",
	})
	want := map[string]string{
		"/tree": folder, "/tree/.git": kept, "/tree/src": folder, "/tree/src/x": sealed + "x", "/tree/link": "-> src",
	}
	if diff := cmp.Diff(want, treeOf(t, document.Repositories[0].Volume)); diff != "" {
		t.Errorf("the volume differs (-want +got):\n%s", diff)
	}
	p.wantNothingLeft()
}

// F01, P21: an earlier run was killed anywhere.
func TestSetupConvergesOverHalfMadeRepositories(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	p := newSetupPod(t)
	app := o.add("app", "/workspace/app", map[string]string{"x": "x"})
	lib := o.add("lib", "/workspace/lib", map[string]string{"y": "y"})
	document := p.volumeOf(cloning(ordinary(), app, lib), 0)
	volume := document.Repositories[0].Volume
	p.commits = o.commits(app, lib)
	p.leave(volume, "tree/closed/x", "tree/.git/HEAD", "staging/tree/x", "staging/tree.new/x", ".hidden")
	p.leave(p.sealed, "orca/0/tree/closed/x", "orca/7/x", "workspace/lib/closed/y", "workspace/app/x")
	p.leave(p.work, "home/key")
	p.wantSuccess(document, map[string]string{
		"/workspace": folder, "/workspace/app": folder,
		"/workspace/lib": folder, "/workspace/lib/.git": kept, "/workspace/lib/y": sealed + "y",
	})
	want := map[string]string{"/tree": folder, "/tree/.git": kept, "/tree/x": sealed + "x"}
	if diff := cmp.Diff(want, treeOf(t, volume)); diff != "" {
		t.Errorf("the volume differs (-want +got):\n%s", diff)
	}
	p.wantNothingLeft()
}

// leave makes files of the sandbox's user in a volume. Folders named closed are
// closed to writing.
func (p *setupPod) leave(volume string, names ...string) {
	p.t.Helper()
	for _, name := range names {
		writeEntry(p.t, filepath.Join(volume, name), "left")
	}
	p.must(filepath.WalkDir(volume, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && path != volume && os.Geteuid() == 0 {
			err = os.Lchown(path, sandboxUser, sandboxUser)
		}
		if err == nil && entry.Name() == "closed" {
			err = os.Chmod(path, 0o555)
		}
		return err
	}))
}
