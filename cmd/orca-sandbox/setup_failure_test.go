// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

func TestSetupNamesAFileThatIsMissing(t *testing.T) {
	t.Parallel()
	missing := func(resource, more string) manifest.SetupResult {
		return manifest.SetupResult{
			Code: manifest.SetupFileUnavailable, Resource: resource,
			Cause: `key "` + resource + `.txt" is not in ConfigMap "inputs", or the ConfigMap does not exist` + more,
		}
	}
	for name, tc := range map[string]struct {
		files []manifest.File
		want  manifest.SetupResult
	}{
		"the only one": {
			[]manifest.File{file("gone", "/data/x")}, missing("gone", ""),
		},
		"one of several": {
			[]manifest.File{file("here", "/data/x"), file("gone", "/data/y")}, missing("gone", ""),
		},
		"the first by name of several": {
			[]manifest.File{file("z", "/a/z"), file("m", "/b/m"), file("here", "/data/x"), file("n", "/c/n")},
			missing("m", " (and 2 more files are unavailable)"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newSetupPod(t)
			p.project("..2026_1", map[string]string{"here": "x"})
			p.wantFailure(ordinary(tc.files...), tc.want)
		})
	}
}

func TestSetupStartsOnceTheMissingFileIsThere(t *testing.T) {
	t.Parallel()
	p := newSetupPod(t)
	document := ordinary(file("a", "/data/x"), file("late", "/data/y"))
	p.project("..2026_1", map[string]string{"a": "1"})
	if log, exitCode := p.run(document); exitCode != 1 {
		t.Fatalf("exit code %d, want 1; log:\n%s", exitCode, log)
	}
	p.project("..2026_2", map[string]string{"a": "1", "late": "2"})
	writeFile(t, p.message, nil, 0o666) // Each run of a container has a message of its own.
	p.wantSuccess(document, map[string]string{"/workspace": folder, "/data": folder, "/data/x": sealed + "1", "/data/y": sealed + "2"})
}

func TestSetupAcceptsTwoFilesOfOneContentAtOnePath(t *testing.T) {
	t.Parallel()
	p := newSetupPod(t)
	p.project("..2026_1", map[string]string{"a": "same", "b": "same", "c": "same"})
	p.wantSuccess(ordinary(file("a", "/data/x"), file("b", "/data/x"), file("c", "/data/x")),
		map[string]string{"/workspace": folder, "/data": folder, "/data/x": sealed + "same"})
}

func TestSetupRefusesWhatClashes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		files []manifest.File
		want  manifest.SetupResult
	}{
		"two contents at one path": {
			[]manifest.File{file("b", "/data/x"), file("a", "/data/x")},
			manifest.SetupResult{Code: manifest.SetupMountConflict, Resource: "b", Cause: `a file is put at /data/x, where resource "a" puts one with other content`},
		},
		"the third of three differs": {
			[]manifest.File{file("a", "/data/x"), file("a2", "/data/x"), file("b", "/data/x")},
			manifest.SetupResult{Code: manifest.SetupMountConflict, Resource: "b", Cause: `a file is put at /data/x, where resource "a" puts one with other content`},
		},
		"one is the beginning of the other": {
			[]manifest.File{file("a", "/data/x"), file("longer", "/data/x")},
			manifest.SetupResult{Code: manifest.SetupMountConflict, Resource: "longer", Cause: `a file is put at /data/x, where resource "a" puts one with other content`},
		},
		"a file where another needs a directory": {
			[]manifest.File{file("a", "/data/x/y"), file("b", "/data")},
			manifest.SetupResult{Code: manifest.SetupMountConflict, Resource: "b", Cause: `a file is put at /data, where resource "a" needs a directory for /data/x/y`},
		},
		"a file where every sandbox has a directory": {
			[]manifest.File{file("a", "/workspace")},
			manifest.SetupResult{Code: manifest.SetupMountConflict, Resource: "a", Cause: `a file is put at /workspace, where every sandbox has a directory`},
		},
		"a clash is told before a missing file": {
			[]manifest.File{file("gone", "/data/x/y"), file("b", "/data")},
			manifest.SetupResult{Code: manifest.SetupMountConflict, Resource: "b", Cause: `a file is put at /data, where resource "gone" needs a directory for /data/x/y`},
		},
		"a path that isn't canonical": {
			[]manifest.File{file("a", "/data/../x")},
			manifest.SetupResult{Code: manifest.SetupInternal, Resource: "a", Cause: `the path "/data/../x" in the manifest must not have '.' or '..' as a segment`},
		},
		"a path that isn't absolute": {
			[]manifest.File{file("a", "data")},
			manifest.SetupResult{Code: manifest.SetupInternal, Resource: "a", Cause: `the path "data" in the manifest must be absolute`},
		},
		"an empty path": {
			[]manifest.File{file("a", "")},
			manifest.SetupResult{Code: manifest.SetupInternal, Resource: "a", Cause: `the path "" in the manifest must not be empty or '/'`},
		},
		"a path of the platform's": {
			[]manifest.File{file("a", "/orca/0/x")},
			manifest.SetupResult{Code: manifest.SetupInternal, Resource: "a", Cause: `the path "/orca/0/x" in the manifest must not be at or under '/orca'`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newSetupPod(t)
			p.project("..2026_1", map[string]string{"a": "1", "a2": "1", "b": "2", "longer": "12"})
			p.wantFailure(ordinary(tc.files...), tc.want)
		})
	}
}

func TestSetupRefusesAnotherManifestThanThePodWasMadeWith(t *testing.T) {
	t.Parallel()
	p := newSetupPod(t)
	p.digest = manifest.Digest([]byte("{}"))
	encoded, err := manifest.Encode(ordinary())
	p.must(err)
	p.wantFailure(ordinary(), manifest.SetupResult{
		Code:  manifest.SetupInternal,
		Cause: "the manifest has digest " + manifest.Digest(encoded) + ", expected " + p.digest + ": it was changed after the pod was made",
	})
	if got := p.tree(); len(got) != 0 {
		t.Errorf("something was made: %v", got)
	}
}

func TestSetupEndsWhenItsTimeIsOver(t *testing.T) {
	t.Parallel()
	p := newSetupPod(t)
	p.project("..2026_1", map[string]string{"a": "1"})
	document := ordinary(file("a", "/data/x"))
	document.TimeoutSeconds = 0
	p.wantFailure(document, manifest.SetupResult{Code: manifest.SetupTimeout, Cause: "setup did not finish within 0s"})
}

func TestSetupReadsNothingOutsideItsInputs(t *testing.T) {
	t.Parallel()
	p := newSetupPod(t)
	secret := filepath.Join(filepath.Dir(p.inputs), "secret")
	writeFile(t, secret, []byte("secret"), 0o644)
	p.must(os.Symlink(secret, filepath.Join(p.inputs, "link")))
	for _, source := range []string{"link", "../secret", secret} {
		bad := file("a", "/data/x")
		bad.Source = source
		log, exitCode := p.run(ordinary(bad))
		message, err := os.ReadFile(p.message)
		p.must(err)
		if exitCode != 1 || !strings.Contains(string(message), `"code":"Internal","resource":"a"`) {
			t.Errorf("source %s: exit code %d, termination message %s, log:\n%s", source, exitCode, message, log)
		}
	}
}

func TestSetupReplacesAnEarlierTerminationMessage(t *testing.T) {
	t.Parallel()
	p := newSetupPod(t)
	writeFile(t, p.message, []byte(strings.Repeat("x", 5000)), 0o666)
	p.project("..2026_1", nil)
	p.wantFailure(ordinary(file("gone", "/data/x")), manifest.SetupResult{
		Code: manifest.SetupFileUnavailable, Resource: "gone",
		Cause: `key "gone.txt" is not in ConfigMap "inputs", or the ConfigMap does not exist`,
	})
}

func TestSetupFailsWithoutATerminationMessageToo(t *testing.T) {
	t.Parallel()
	p := newSetupPod(t)
	p.must(os.Remove(p.message))
	if log, exitCode := p.run(ordinary(file("gone", "/data/x"))); exitCode != 1 || !strings.Contains(log, "the result is lost") {
		t.Errorf("exit code %d, log:\n%s", exitCode, log)
	}
}

func TestSetupNamesAFolderThatIsNotThere(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]func(*setupPod) string{
		"opening the sealed tree":            func(p *setupPod) string { return p.sealed },
		"opening the folder of the launcher": func(p *setupPod) string { return p.bin },
		"opening the inputs":                 func(p *setupPod) string { return p.inputs },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newSetupPod(t)
			p.project("..2026_1", map[string]string{"a": "1"})
			p.must(os.RemoveAll(remove(p)))
			p.wantFailure(ordinary(file("a", "/data/x")), manifest.SetupResult{
				Code: manifest.SetupInternal, Cause: name + ": open " + remove(p) + ": no such file or directory",
			})
		})
	}
}
