// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

func TestSetupNamesBothOfWhatClashesWithARepository(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	app := o.add("app", "/workspace/app", map[string]string{
		"README.md": "other", "src/main.go": "main", "link": "-> src", "etc": "-> /etc/passwd", "vendor/lib/LICENSE": "other",
	})
	lib := o.add("lib", "/workspace/app/vendor/lib", map[string]string{"LICENSE": "free"})
	tool := o.add("tool", "/workspace/app/vendor/lib", map[string]string{"LICENSE": "other"})
	o.change(tool, "update-index", "--chmod=+x", "LICENSE")
	odd := o.add("odd", "/workspace/app/vendor/lib", map[string]string{"a\xff\n/x": "file"})
	odder := o.add("odder", "/workspace/app/vendor", map[string]string{"lib/a\xff\n": "file"})
	world := o.add("world", "/workspace", map[string]string{"skills/x.md": "x", "app": "file"})
	notes := o.add("notes", "/mnt/memory", map[string]string{"notes": "file"})
	for name, tc := range map[string]struct {
		document        manifest.Setup
		resource, cause string
	}{
		"a file with other content (F17)": {
			cloning(ordinary(file("x", "/workspace/app/README.md")), app),
			"x", `a file is put at /workspace/app/README.md, where the repository of resource "app" has one with other content`,
		},
		"a file where the repository has a directory": {
			cloning(ordinary(file("x", "/workspace/app/src")), app),
			"x", `a file is put at /workspace/app/src, where the repository of resource "app" has a directory`,
		},
		"a file where the repository has a link": {
			cloning(ordinary(file("x", "/workspace/app/etc")), app),
			"x", `a file is put at /workspace/app/etc, where the repository of resource "app" has a symbolic link`,
		},
		"a file below a link to a directory": {
			cloning(ordinary(file("x", "/workspace/app/link/x")), app),
			"app", `its repository has a symbolic link at /workspace/app/link, where resource "x" needs a directory for /workspace/app/link/x`,
		},
		"a file below a file of the repository": {
			cloning(ordinary(file("x", "/workspace/app/README.md/x")), app),
			"app", `its repository has a file at /workspace/app/README.md, where resource "x" needs a directory for /workspace/app/README.md/x`,
		},
		"a repository that has another file than the outer one": {
			cloning(ordinary(), lib, app),
			"lib", `its repository has a file at /workspace/app/vendor/lib/LICENSE, where the repository of resource "app" has another one`,
		},
		"a repository that may execute the outer one's file": {
			cloning(ordinary(), tool, app),
			"tool", `its repository has a file at /workspace/app/vendor/lib/LICENSE, where the repository of resource "app" has another one`,
		},
		"names that a terminal would obey": {
			cloning(ordinary(), odd, odder),
			"odd", `its repository has a directory at /workspace/app/vendor/lib/a�, where the repository of resource "odder" has a file`,
		},
		"a repository where the outer one has a file": {
			cloning(ordinary(), at(lib, "/workspace/app/README.md"), app),
			"app", `its repository has a file at /workspace/app/README.md, where resource "lib" puts a repository`,
		},
		"a repository below a link of the outer one": {
			cloning(ordinary(), at(lib, "/workspace/app/link/lib"), app),
			"app", `its repository has a symbolic link at /workspace/app/link, where resource "lib" puts a repository`,
		},
		"a repository that has a file where another one is": {
			cloning(ordinary(), app, world),
			"world", `its repository has a file at /workspace/app, where resource "app" puts a repository`,
		},
		"a repository that has the place of a memory store": {
			cloning(manifest.Setup{Directories: []string{"/mnt/memory", "/mnt/memory/notes"}, TimeoutSeconds: 60}, notes),
			"notes", `its repository has a file at /mnt/memory/notes, where a memory store is mounted`,
		},
		"a repository that has something for a directory which stays empty": {
			cloning(manifest.Setup{Directories: []string{"/workspace", "/workspace/skills"}, TimeoutSeconds: 60}, world),
			"world", `its repository has a directory at /workspace/skills, where every sandbox has an empty directory`,
		},
		"something at a long path": {
			cloning(ordinary(file("x", "/workspace/app/README.md/"+strings.Repeat("long/", 100)+"x")), app),
			"app", `its repository has a file at /workspace/app/README.md, where resource "x" needs a directory for ` +
				`/workspace/app/README.md/long/long/long/long/long/long/long/long/long/...` + "ong" + strings.Repeat("/long", 13) + "/x",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newSetupPod(t)
			p.project("..2026_1", map[string]string{"x": "x"})
			p.wantFailure(tc.document, manifest.SetupResult{Code: manifest.SetupMountConflict, Resource: tc.resource, Cause: tc.cause})
			p.wantNothingLeft()
		})
	}
}

// What the manifest alone shows is refused before anything is cloned: there is
// no server here.
func TestSetupRefusesBeforeItClones(t *testing.T) {
	t.Parallel()
	at := func(resource, path string) manifest.Repository {
		return manifest.Repository{Resource: resource, Path: path, URL: "http://127.0.0.1:1/app.git"}
	}
	writable := func(resource, path string) manifest.Repository {
		repository := at(resource, path)
		repository.Volume = "/nowhere/" + resource
		return repository
	}
	clash, overlap := manifest.SetupMountConflict, manifest.SetupOverlappingRoots
	store := manifest.Setup{Directories: []string{"/mnt/memory", "/mnt/memory/notes", "/workspace/skills"}, TimeoutSeconds: 60}
	inStore := store
	inStore.Files = []manifest.File{file("x", "/mnt/memory/notes/x")}
	for name, tc := range map[string]struct {
		document manifest.Setup
		want     manifest.SetupResult
	}{
		"a file whose source is missing": {cloning(ordinary(file("gone", "/data/x")), at("app", "/workspace/app")), manifest.SetupResult{
			Code: manifest.SetupFileUnavailable, Resource: "gone", Cause: `key "gone.txt" is not in ConfigMap "inputs", or the ConfigMap does not exist`,
		}},
		"two repositories in one directory (F13)": {cloning(ordinary(), at("b", "/workspace/app"), at("a", "/workspace/app")), manifest.SetupResult{
			Code: clash, Resource: "b", Cause: `a repository is put at /workspace/app, where resource "a" puts one too`,
		}},
		"a file at the directory of a repository": {cloning(ordinary(file("x", "/workspace/app")), at("app", "/workspace/app")), manifest.SetupResult{
			Code: clash, Resource: "x", Cause: `a file is put at /workspace/app, where resource "app" puts a repository`,
		}},
		"a file on the way to a repository": {cloning(ordinary(file("x", "/data/a")), at("app", "/data/a/b")), manifest.SetupResult{
			Code: clash, Resource: "x", Cause: `a file is put at /data/a, where resource "app" puts a repository`,
		}},
		"a file among what git keeps": {cloning(ordinary(file("x", "/workspace/app/.git/hooks/x")), at("app", "/workspace/app")), manifest.SetupResult{
			Code: clash, Resource: "x", Cause: `a file is put at /workspace/app/.git/hooks/x, inside what git keeps for the repository of resource "app"`,
		}},
		"a repository among what git keeps": {cloning(ordinary(), at("x", "/workspace/app/.git"), at("app", "/workspace/app")), manifest.SetupResult{
			Code: clash, Resource: "x", Cause: `a repository is put at /workspace/app/.git, inside what git keeps for the repository of resource "app"`,
		}},
		"a file in a memory store": {inStore, manifest.SetupResult{
			Code: clash, Resource: "x", Cause: `a file is put at /mnt/memory/notes/x, below /mnt/memory/notes, where a memory store is mounted`,
		}},
		"a repository at the reserved directory": {cloning(store, at("app", "/workspace/skills")), manifest.SetupResult{
			Code: clash, Resource: "app", Cause: `a repository is put at /workspace/skills, where every sandbox has an empty directory`,
		}},
		"a writable repository in a read-only one": {cloning(ordinary(), writable("w", "/workspace/app/w"), at("app", "/workspace/app")), manifest.SetupResult{
			Code: overlap, Resource: "app", Cause: `a repository is put at /workspace/app, which overlaps /workspace/app/w, where the agent may write because of resource "w"`,
		}},
		"two writable repositories in one directory (F13)": {cloning(ordinary(), writable("b", "/workspace/app"), writable("a", "/workspace/app")), manifest.SetupResult{
			Code: overlap, Resource: "a", Cause: `a repository is put at /workspace/app, which overlaps /workspace/app, where the agent may write because of resource "b"`,
		}},
		"a file in a writable repository": {cloning(ordinary(file("x", "/workspace/app/x")), writable("app", "/workspace/app")), manifest.SetupResult{
			Code: overlap, Resource: "x", Cause: `a file is put at /workspace/app/x, which overlaps /workspace/app, where the agent may write because of resource "app"`,
		}},
		"a file in the outputs": {ordinary(file("x", "/mnt/session/outputs/x")), manifest.SetupResult{
			Code: overlap, Resource: "x", Cause: `a file is put at /mnt/session/outputs/x, which overlaps /mnt/session/outputs, where the agent may write`,
		}},
		"a writable repository above a memory store": {cloning(store, writable("app", "/mnt/memory")), manifest.SetupResult{
			Code: overlap, Resource: "app", Cause: `a repository is put at /mnt/memory, where the agent may write, which overlaps /mnt/memory/notes, where a memory store is mounted`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newSetupPod(t)
			p.project("..2026_1", map[string]string{"x": "x"})
			p.must(os.Remove(p.work)) // Nothing needs it before cloning.
			p.wantFailure(tc.document, tc.want)
		})
	}
}
