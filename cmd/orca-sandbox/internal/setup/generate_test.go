// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

// scene is a set of resources with their contents.
type scene struct {
	document manifest.Setup
	// contents are those of files, by resource.
	contents map[string]string
	// trees are those of repositories, by resource and by path in it. One that
	// begins with "-> " is a link, one with "#!" can be executed.
	trees map[string]map[string]string
}

// newScene draws few resources from few names, so that they often meet.
func newScene(random *rand.Rand) scene {
	s := scene{contents: map[string]string{}, trees: map[string]map[string]string{}}
	s.document = manifest.Setup{Directories: []string{"/mnt/memory", "/workspace"}, TimeoutSeconds: 60}
	for _, directory := range []string{"/workspace/a/b", "/mnt/memory/a"} {
		if random.IntN(8) == 0 {
			s.document.Directories = append(s.document.Directories, directory)
		}
	}
	for i := range random.IntN(4) {
		s.addFile(random, fmt.Sprintf("file-%d", i))
	}
	for i := range 1 + random.IntN(3) {
		s.addRepository(random, fmt.Sprintf("repository-%d", i))
	}
	return s
}

func (s *scene) addFile(random *rand.Rand, resource string) {
	s.contents[resource] = drawFile(random)
	s.document.Files = append(s.document.Files, manifest.File{Resource: resource, Path: drawDirectory(random) + "/" + drawPath(random), Source: resource})
}

func (s *scene) addRepository(random *rand.Rand, resource string) {
	tree := map[string]string{".git/HEAD": resource}
	for range random.IntN(8) {
		tree[drawPath(random)] = drawContent(random)
	}
	repository := manifest.Repository{Resource: resource, Path: drawDirectory(random)}
	if random.IntN(6) == 0 {
		repository.Path += pick(random, "", "", "/a", "/x")
		repository.Volume = "/volumes/" + resource
	}
	s.document.Repositories = append(s.document.Repositories, repository)
	s.trees[resource] = sound(tree)
}

// sound leaves out what would be in something that isn't a directory.
func sound(tree map[string]string) map[string]string {
	out := map[string]string{}
	for path, content := range tree {
		inFile := false
		for above := filepath.Dir(path); above != "."; above = filepath.Dir(above) {
			_, found := tree[above]
			inFile = inFile || found
		}
		if !inFile {
			out[path] = content
		}
	}
	return out
}

func pick(random *rand.Rand, from ...string) string { return from[random.IntN(len(from))] }

// rarely is true one time in many.
func rarely(random *rand.Rand) bool { return random.IntN(24) == 0 }

func drawDirectory(random *rand.Rand) string {
	if rarely(random) {
		return pick(random, "/mnt/session", "/mnt/session/outputs/a", "/data", "/workspace/a/.git")
	}
	return pick(random, "/workspace", "/workspace/a", "/workspace/a/a", "/workspace/a/b", "/workspace/b", "/data/a", "/mnt/memory")
}

// drawPath draws from other names for files than for directories, but rarely.
func drawPath(random *rand.Rand) string {
	path := pick(random, "x", "y")
	if rarely(random) {
		path = pick(random, "a", "b")
	}
	for range random.IntN(4) {
		directory := pick(random, "a", "a", "b")
		if rarely(random) {
			directory = "x"
		}
		path = directory + "/" + path
	}
	return path
}

func drawFile(random *rand.Rand) string {
	return pick(random, "0", "0", "0", "0", "0", "0", "1", "#!")
}

func drawContent(random *rand.Rand) string {
	if rarely(random) {
		return pick(random, "-> a", "-> ../b", "-> /etc")
	}
	return drawFile(random)
}

// fill makes a tree in a folder that doesn't exist.
func fill(t *testing.T, folder string, tree map[string]string) {
	t.Helper()
	for name, content := range tree {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if target, isLink := strings.CutPrefix(content, "-> "); isLink {
			err = os.Symlink(target, path)
		} else {
			err = os.WriteFile(path, []byte(content), modeOf(content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func modeOf(content string) os.FileMode {
	if strings.HasPrefix(content, "#!") {
		return 0o755
	}
	return 0o644
}
