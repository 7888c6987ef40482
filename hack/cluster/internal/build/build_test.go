// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/layout"
	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/progress"
)

var hello = Program{Name: "hello", Module: "hello", Package: "."}

// newModule makes a repository with one tiny module to build.
func newModule(t *testing.T) (Builder, *bytes.Buffer) {
	t.Helper()
	root := t.TempDir()
	write(t, filepath.Join(root, "hack/cluster/hello/go.mod"), "module hello\n\ngo 1.26\n\nrequire example.com/pinned v1.2.3\n")
	write(t, filepath.Join(root, "hack/cluster/hello/main.go"), "package main\n\nfunc main() { println(\"hello\") }\n")
	var out bytes.Buffer
	return Builder{
		Layout:   layout.Layout{Root: root, Dir: filepath.Join(root, "state")},
		Progress: progress.Printer{Out: &out},
	}, &out
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestEnsureBuildsOnlyWhatIsOutOfDate(t *testing.T) {
	b, out := newModule(t)
	source := filepath.Join(b.Layout.Module("hello"), "main.go")
	steps := []struct {
		name   string
		before func()
		builds bool
	}{
		{"the first time", func() {}, true},
		{"nothing changed", func() {}, false},
		{"the source changed", func() { write(t, source, "package main\n\nfunc main() {}\n") }, true},
		{"the binary is gone", func() { os.Remove(b.Layout.Bin("hello")) }, true},
		{"the stamp is gone", func() { os.Remove(b.stampFile(hello)) }, true},
		{"nothing changed again", func() {}, false},
	}
	for _, step := range steps {
		out.Reset()
		step.before()
		if err := b.Ensure(t.Context(), []Program{hello}); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if built := strings.Contains(out.String(), "building hello"); built != step.builds {
			t.Errorf("%s: built = %v, want %v", step.name, built, step.builds)
		}
		if _, err := os.Stat(b.Layout.Bin("hello")); err != nil {
			t.Errorf("%s: %v", step.name, err)
		}
	}
}

func TestEnsureLeavesNothingOfAFailedBuild(t *testing.T) {
	b, _ := newModule(t)
	write(t, filepath.Join(b.Layout.Module("hello"), "main.go"), "package main\n\nfunc main() { undefined() }\n")
	err := b.Ensure(t.Context(), []Program{hello})
	if err == nil || !strings.Contains(err.Error(), "undefined: undefined") {
		t.Fatalf("Ensure() = %v, want the compiler's own words", err)
	}
	left, err := filepath.Glob(filepath.Join(b.Layout.BinDir(), "hello*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestEnsureRemovesWhatAKilledBuildLeft(t *testing.T) {
	b, _ := newModule(t)
	left := b.Layout.Bin("hello.123" + unfinished)
	write(t, left, "half a program")
	if err := b.Ensure(t.Context(), []Program{hello}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the unfinished program is still there: %v", err)
	}
}

func TestStampFollowsItsInputs(t *testing.T) {
	b, _ := newModule(t)
	dir := b.Layout.Module("hello")
	pinned := Program{Name: "pinned", Module: "hello", Package: "example.com/pinned"}
	stampOf := func(p Program, flags []string, goVersion string) string {
		s, err := stamp(dir, p, flags, goVersion)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	base := stampOf(pinned, []string{"-trimpath"}, "go1.26.1")
	if base == stampOf(pinned, []string{"-race"}, "go1.26.1") {
		t.Error("the flags don't count")
	}
	if base == stampOf(pinned, []string{"-trimpath"}, "go1.26.2") {
		t.Error("the compiler doesn't count")
	}
	write(t, filepath.Join(dir, "main.go"), "package main\n")
	if base != stampOf(pinned, []string{"-trimpath"}, "go1.26.1") {
		t.Error("a source file that a pinned program is not made from counts")
	}
	write(t, filepath.Join(dir, "go.sum"), "changed\n")
	if base == stampOf(pinned, []string{"-trimpath"}, "go1.26.1") {
		t.Error("go.sum doesn't count")
	}
}

func TestRequiredVersion(t *testing.T) {
	b, _ := newModule(t)
	gomod := filepath.Join(b.Layout.Module("hello"), "go.mod")
	if got, err := requiredVersion(gomod, "example.com/pinned"); got != "v1.2.3" || err != nil {
		t.Errorf("requiredVersion() = %q, %v", got, err)
	}
	if _, err := requiredVersion(gomod, "example.com/other"); err == nil {
		t.Error("a module that isn't required has a version")
	}
}

func TestSelect(t *testing.T) {
	cases := map[string]struct {
		names   []string
		want    []string
		wantErr string
	}{
		"all, if none is named":       {want: programNames()},
		"in the order of building":    {names: []string{"kubectl", "etcd"}, want: []string{"etcd", "kubectl"}},
		"one that there is not":       {names: []string{"kubeadm"}, wantErr: `--only: no program "kubeadm"`},
		"a mistake among right names": {names: []string{"etcd", "x"}, wantErr: `no program "x"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			programs, err := Select(tc.names)
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Fatalf("Select() = %v, want %q", err, tc.wantErr)
				}
				return
			}
			var got []string
			for _, p := range programs {
				got = append(got, p.Name)
			}
			if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
				t.Errorf("Select() error %v, difference:\n%s", err, diff)
			}
		})
	}
}

func TestLinkerFlagsSetEveryVersion(t *testing.T) {
	p := Program{VersionVars: []string{"a.v", "b.v"}}
	if got, want := p.linkerFlags("v9"), "-s -w -X a.v=v9 -X b.v=v9"; got != want {
		t.Errorf("linkerFlags() = %q, want %q", got, want)
	}
}

// TestProgramsArePinned reads the modules that the real programs come from.
func TestProgramsArePinned(t *testing.T) {
	root, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	b := Builder{Layout: layout.Layout{Root: root, Dir: t.TempDir()}}
	for _, p := range Programs {
		flags, err := b.flags(p)
		if err != nil {
			t.Errorf("%s: %v", p.Name, err)
			continue
		}
		if _, err := stamp(b.Layout.Module(p.Module), p, flags, "go"); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
}
