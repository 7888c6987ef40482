// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/orca-agent-engine/orca-operator/controllers/layout"
	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

const (
	folder = "drwxr-xr-x"
	sealed = "-rw-r--r-- "
)

func TestSetupMakesTheSealedTree(t *testing.T) {
	t.Parallel()
	p := newSetupPod(t)
	p.project("..2026_1", map[string]string{"0/run.py": "print(1)\n", "1/data.bin": "\x00\xff\r\n", "2/empty": ""})
	document := manifest.Setup{
		Directories: layout.SealedDirectories(false),
		Files: []manifest.File{
			{Resource: "run", Path: "/data/in/run.py", Source: "0/run.py"},
			{Resource: "bin", Path: "/mnt/session/uploads/file_1/data.bin", Source: "1/data.bin"},
			{Resource: "empty", Path: "/mnt/session/uploads/file_2/empty", Source: "2/empty"},
		},
		TimeoutSeconds: 60,
	}
	p.wantSuccess(document, map[string]string{
		"/data":                                folder,
		"/data/in":                             folder,
		"/data/in/run.py":                      sealed + "print(1)\n",
		"/dev":                                 folder,
		"/dev/mqueue":                          folder,
		"/dev/shm":                             folder,
		"/mnt":                                 folder,
		"/mnt/memory":                          folder,
		"/mnt/session":                         folder,
		"/mnt/session/uploads":                 folder,
		"/mnt/session/uploads/file_1":          folder,
		"/mnt/session/uploads/file_1/data.bin": sealed + "\x00\xff\r\n",
		"/mnt/session/uploads/file_2":          folder,
		"/mnt/session/uploads/file_2/empty":    sealed,
		"/workspace":                           folder,
		"/workspace/skills":                    folder,
	})
}

func TestSetupNeedsNoInputsWithoutFiles(t *testing.T) {
	t.Parallel()
	p := newSetupPod(t)
	p.must(os.Remove(p.inputs))
	p.wantSuccess(ordinary(), map[string]string{"/workspace": folder})
}

func TestSetupKeepsEveryNameAsItIs(t *testing.T) {
	t.Parallel()
	p := newSetupPod(t)
	want := map[string]string{"/workspace": folder, "/data": folder}
	contents := map[string]string{}
	var files []manifest.File
	for i, name := range []string{
		"-rf", "$(HOME)", "${HOME}", "*", "~", "a b", " x ", "...", "..x", ".git", `"'\`, "`id`", "é", "e\u0301",
		"\uff53kills", "App", "app", "CON", "x;y", "%2e%2e", strings.Repeat("n", 255), strings.Repeat("é", 127),
	} {
		resource := fmt.Sprintf("r%d", i)
		contents[resource] = name
		files = append(files, file(resource, "/data/"+name))
		want["/data/"+name] = sealed + name
	}
	p.project("..2026_1", contents)
	p.wantSuccess(ordinary(files...), want)
}

func TestSetupPlacesAHundredFiles(t *testing.T) {
	t.Parallel()
	p := newSetupPod(t)
	want := map[string]string{"/workspace": folder, "/mnt": folder, "/mnt/session": folder, "/mnt/session/uploads": folder}
	contents := map[string]string{}
	var files []manifest.File
	for i := range 100 {
		resource := fmt.Sprintf("file-%d", i)
		contents[resource] = strings.Repeat(resource, i*100)
		path := fmt.Sprintf("/mnt/session/uploads/%s/%s", resource, strings.Repeat("x", 200))
		files = append(files, file(resource, path))
		want[filepath.Dir(path)] = folder
		want[path] = sealed + contents[resource]
	}
	p.project("..2026_1", contents)
	p.wantSuccess(ordinary(files...), want)
}

func TestSetupConvergesOverWhateverAnEarlierRunLeft(t *testing.T) {
	t.Parallel()
	p := newSetupPod(t)
	p.project("..2026_1", map[string]string{"a": "old", "b": "old"})
	p.wantSuccess(ordinary(file("a", "/data/x"), file("b", "/gone/deep/y")), map[string]string{
		"/workspace": folder, "/data": folder, "/data/x": sealed + "old",
		"/gone": folder, "/gone/deep": folder, "/gone/deep/y": sealed + "old",
	})
	// What a run killed half way could leave, and worse.
	if os.Geteuid() != 0 {
		p.must(os.Chmod(p.bin, 0o755))
	}
	p.must(os.Mkdir(filepath.Join(p.sealed, "half"), 0o700))
	p.must(os.WriteFile(filepath.Join(p.sealed, "half", "made"), []byte("ol"), 0o200))
	p.must(os.Symlink("/etc", filepath.Join(p.sealed, "half", "link")))
	p.must(os.WriteFile(filepath.Join(p.bin, ".orca-sandbox.new"), []byte("half"), 0o500))
	if os.Geteuid() == 0 {
		for _, left := range []string{"half", "half/made", "half/link"} {
			p.must(os.Lchown(filepath.Join(p.sealed, left), sandboxUser, sandboxUser))
		}
	}
	p.project("..2026_2", map[string]string{"a": "new"})
	p.wantSuccess(ordinary(file("a", "/data/x/y")), map[string]string{
		"/workspace": folder, "/data": folder, "/data/x": folder, "/data/x/y": sealed + "new",
	})
	p.wantLauncher()
}

func TestSetupNeverFollowsALinkOutOfTheTree(t *testing.T) {
	t.Parallel()
	p := newSetupPod(t)
	outside := filepath.Join(filepath.Dir(p.sealed), "outside")
	p.must(os.Mkdir(outside, 0o777))
	p.must(os.Chmod(outside, 0o777))
	writeFile(t, filepath.Join(outside, "kept"), []byte("kept"), 0o666)
	p.must(os.Symlink(outside, filepath.Join(p.sealed, "data")))
	p.project("..2026_1", map[string]string{"a": "content"})
	p.wantSuccess(ordinary(file("a", "/data/x")), map[string]string{"/workspace": folder, "/data": folder, "/data/x": sealed + "content"})
	entries, err := os.ReadDir(outside)
	p.must(err)
	if len(entries) != 1 || entries[0].Name() != "kept" {
		t.Errorf("outside the tree: %v, want only the file that was there", entries)
	}
}

// wantLauncher checks that the launcher is installed, complete and alone.
func (p *setupPod) wantLauncher() {
	p.t.Helper()
	entries, err := os.ReadDir(p.bin)
	p.must(err)
	names := slices.Collect(func(yield func(string) bool) {
		for _, entry := range entries {
			_ = yield(entry.Name())
		}
	})
	if !slices.Equal(names, []string{"orca-sandbox"}) {
		p.t.Fatalf("the launcher's folder has %q", names)
	}
	info, err := entries[0].Info()
	p.must(err)
	got, err := os.ReadFile(filepath.Join(p.bin, "orca-sandbox"))
	p.must(err)
	want, err := os.ReadFile(binary)
	p.must(err)
	if info.Mode() != 0o555 || !bytes.Equal(got, want) {
		p.t.Errorf("the launcher has mode %s and is the program: %v", info.Mode(), bytes.Equal(got, want))
	}
}

func TestSetupInstallsTheLauncher(t *testing.T) {
	t.Parallel()
	t.Run("in the root of a volume, which isn't ours to close", func(t *testing.T) {
		p := newSetupPod(t)
		p.wantSuccess(ordinary(), map[string]string{"/workspace": folder})
		p.wantLauncher()
	})
	t.Run("in a folder of its own, twice", func(t *testing.T) {
		p := newSetupPod(t)
		if os.Geteuid() == 0 {
			p.must(os.Chown(p.bin, sandboxUser, sandboxUser))
		}
		for range 2 {
			p.wantSuccess(ordinary(), map[string]string{"/workspace": folder})
			p.wantLauncher()
			info, err := os.Stat(p.bin)
			p.must(err)
			if info.Mode() != fs.ModeDir|0o555 {
				t.Errorf("the folder has mode %s, want it closed to writing", info.Mode())
			}
		}
	})
}

func TestSetupNeverLogsContent(t *testing.T) {
	t.Parallel()
	p := newSetupPod(t)
	p.project("..2026_1", map[string]string{"a": "hush-hush", "b": "hush-hush-2"})
	for _, files := range [][]manifest.File{{file("a", "/data/x")}, {file("a", "/data/x"), file("b", "/data/x")}} {
		log, _ := p.run(ordinary(files...))
		message, err := os.ReadFile(p.message)
		p.must(err)
		if strings.Contains(log+string(message), "hush") || !strings.Contains(log, "resource=a path=/data/x bytes=9") {
			t.Errorf("log:\n%s\ntermination message: %s", log, message)
		}
	}
}
