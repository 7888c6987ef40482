// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"errors"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/sealed"
	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

// generated is how many scenes are tried. About half of them clash.
const generated = 400

// F13, F17, F20: whatever resources meet, either all their contents are there
// or setup fails and says what clashes, and the order of the lists means nothing.
func TestEitherAllContentsAreThereOrSetupNamesWhatClashes(t *testing.T) {
	t.Parallel()
	start := uint64(time.Now().UnixNano())
	refusals := 0
	for seed := start; seed < start+generated && !t.Failed(); seed++ {
		s := newScene(rand.New(rand.NewPCG(seed, 0)))
		got, result := s.compose(t)
		want, refused := judge(s)
		switch {
		case refused && result.Code != manifest.SetupMountConflict && result.Code != manifest.SetupOverlappingRoots:
			t.Errorf("seed %d: got %+v, want a refusal of %+v", seed, result, s)
		case refused:
			refusals++
			requireNames(t, seed, s, result)
		default:
			if diff := cmp.Diff(want, got); diff != "" || result.Code != "" {
				t.Errorf("seed %d: %+v\nresult %+v, the tree differs (-want +got):\n%s", seed, s, result, diff)
			}
		}
		requireNoOrder(t, seed, s, got, result)
	}
	if refusals < generated/5 || refusals > generated*4/5 {
		t.Errorf("%d of %d scenes were refused: they say little", refusals, generated)
	}
}

// requireNames checks that a message names two sides.
func requireNames(t *testing.T, seed uint64, s scene, result manifest.SetupResult) {
	t.Helper()
	names := []string{"every sandbox", "a memory store", "where the agent may write"}
	for _, resource := range resources(s.document) {
		if resource.name != result.Resource {
			names = append(names, `resource "`+resource.name+`"`)
		}
	}
	named := slices.ContainsFunc(names, func(name string) bool { return strings.Contains(result.Cause, name) })
	if result.Resource == "" || !named {
		t.Errorf("seed %d: %+v doesn't name both sides", seed, result)
	}
}

// requireNoOrder composes the scene again with its lists turned around.
func requireNoOrder(t *testing.T, seed uint64, s scene, tree map[string]string, result manifest.SetupResult) {
	t.Helper()
	slices.Reverse(s.document.Directories)
	slices.Reverse(s.document.Files)
	slices.Reverse(s.document.Repositories)
	again, resultAgain := s.compose(t)
	if diff := cmp.Diff(result, resultAgain) + cmp.Diff(tree, again); diff != "" {
		t.Errorf("seed %d: another order changes the result (-one +other):\n%s", seed, diff)
	}
}

// compose does what setup does without a network. It returns the tree, or the
// result of a failure.
func (s scene) compose(t *testing.T) (map[string]string, manifest.SetupResult) {
	t.Helper()
	folder := t.TempDir()
	given, top := filepath.Join(folder, "inputs"), filepath.Join(folder, "sealed")
	if err := errors.Join(os.Mkdir(given, 0o755), os.Mkdir(top, 0o755)); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder) // Not at the end of the test: there are many.
	fill(t, given, s.contents)
	if err := s.composeIn(t, given, top); err != nil {
		return nil, Result(err)
	}
	return treeIn(t, top), manifest.SetupResult{}
}

func (s scene) composeIn(t *testing.T, given, top string) error {
	t.Helper()
	p, err := newPlan(s.document)
	if err != nil {
		return err
	}
	inputs, err := openInputs(given, p.files)
	if err != nil {
		return err
	}
	defer inputs.close()
	tree, err := sealed.Open(top)
	if err != nil {
		return err
	}
	defer tree.Close()
	folders, err := tree.Stage(len(p.sealed))
	if err != nil {
		return err
	}
	for i, repository := range p.sealed {
		fill(t, folders[i], s.trees[repository.Resource])
	}
	if err := compose(t.Context(), p, tree, inputs, slog.New(slog.DiscardHandler)); err != nil {
		return err
	}
	return tree.Unstage()
}

// treeIn returns what is in a folder as the oracle describes it, but for the
// hosts file.
func treeIn(t *testing.T, top string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(top, func(path string, _ fs.DirEntry, err error) error {
		name := strings.TrimPrefix(path, top)
		if err != nil || name == "" || name == "/etc/hosts" {
			return err
		}
		found[name], err = entryAt(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func entryAt(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	switch info.Mode().Type() {
	case fs.ModeDir:
		return "dir", nil
	case fs.ModeSymlink:
		target, err := os.Readlink(path)
		return "-> " + target, err
	default:
		content, err := os.ReadFile(path)
		return string(content), err
	}
}
