// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/layout"
)

const (
	baseName = "orca.dev/base:dev"
	topName  = "orca.dev/top:dev"
)

func newBuilder(t *testing.T) Builder {
	t.Helper()
	root := t.TempDir()
	b := Builder{
		Layout: layout.Layout{Root: root, Dir: filepath.Join(root, "elsewhere")},
		Work:   t.TempDir(),
		File: File{Images: []Spec{
			{
				Name: baseName, User: "1000", Entrypoint: []string{"/bin/a"}, Cmd: []string{"serve"},
				Env: map[string]string{"A": "1", "B": "2"}, Volumes: []string{"/data"},
				Files: []Copy{{From: "src/a", To: "/bin/a"}, {From: "src/b", To: "/etc/deep/b", Mode: "0644"}},
			},
			{
				Name: topName, From: baseName, Env: map[string]string{"B": "3"}, Cmd: []string{"other"},
				Files: []Copy{{From: ".orca/bin/c", To: "/bin/c"}},
			},
		}},
	}
	for path, content := range map[string]string{"src/a": "program a", "src/b": "file b", "elsewhere/bin/c": "program c"} {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func build(t *testing.T, b Builder, index int) v1.Image {
	t.Helper()
	image, err := b.Build(t.Context(), b.File.Images[index])
	if err != nil {
		t.Fatal(err)
	}
	return image
}

type entry struct {
	Mode    int64
	Content string
}

// contents reads the tar file of a layer.
func contents(t *testing.T, r io.Reader) map[string]entry {
	t.Helper()
	found := map[string]entry{}
	for tr := tar.NewReader(r); ; {
		header, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(tr)
		if err != nil {
			t.Fatal(err)
		}
		found[header.Name] = entry{header.Mode, string(b)}
	}
}

func TestBuildPutsFilesWhereTheyBelong(t *testing.T) {
	image := build(t, newBuilder(t), 1)
	if err := validate.Image(image, validate.Fast); err != nil {
		t.Error(err)
	}
	layers, err := image.Layers()
	if err != nil {
		t.Fatal(err)
	}
	want := []map[string]entry{
		{
			"bin/": {0o755, ""}, "bin/a": {0o755, "program a"},
			"etc/": {0o755, ""}, "etc/deep/": {0o755, ""}, "etc/deep/b": {0o644, "file b"},
		},
		{"bin/": {0o755, ""}, "bin/c": {0o755, "program c"}},
	}
	var got []map[string]entry
	for _, layer := range layers {
		r, err := layer.Uncompressed()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, contents(t, r))
		r.Close()
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("difference:\n%s", diff)
	}
}

func TestBuildInheritsTheConfiguration(t *testing.T) {
	file, err := build(t, newBuilder(t), 1).ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	want := v1.Config{
		User: "1000", Entrypoint: []string{"/bin/a"}, Cmd: []string{"other"},
		Env: []string{"A=1", "B=3"}, Volumes: map[string]struct{}{"/data": {}},
	}
	if diff := cmp.Diff(want, file.Config); diff != "" {
		t.Errorf("difference:\n%s", diff)
	}
	if file.OS != "linux" || file.Architecture == "" {
		t.Errorf("platform = %q/%q", file.OS, file.Architecture)
	}
}

func TestAnEntrypointDropsTheCommandOfTheBase(t *testing.T) {
	b := newBuilder(t)
	b.File.Images[1].Entrypoint, b.File.Images[1].Cmd = []string{"/bin/c"}, nil
	file, err := build(t, b, 1).ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(file.Config.Entrypoint, []string{"/bin/c"}) || len(file.Config.Cmd) > 0 {
		t.Errorf("runs %q %q, want /bin/c alone", file.Config.Entrypoint, file.Config.Cmd)
	}
}

func TestTheSameContentGivesTheSameDigest(t *testing.T) {
	b := newBuilder(t)
	first, err := build(t, b, 1).Digest()
	if err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(b.Layout.Root, "src/a")
	if err := os.Chtimes(source, time.Now(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if second, _ := build(t, b, 1).Digest(); second != first {
		t.Error("the digest follows the time of a file")
	}
	if err := os.WriteFile(source, []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	if third, _ := build(t, b, 1).Digest(); third == first {
		t.Error("the digest does not follow the content of the base")
	}
}

func TestBuildNamesAMissingFile(t *testing.T) {
	b := newBuilder(t)
	path := filepath.Join(b.Layout.Dir, "bin/c")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	_, err := b.Build(t.Context(), b.File.Images[1])
	if err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("Build() = %v, want the path %s in it", err, path)
	}
}

func TestArchiveHoldsEverythingByItsDigest(t *testing.T) {
	image := build(t, newBuilder(t), 1)
	var archive bytes.Buffer
	if err := writeArchive(&archive, image, topName); err != nil {
		t.Fatal(err)
	}
	files := contents(t, &archive)
	var index v1.IndexManifest
	if err := json.Unmarshal([]byte(files["index.json"].Content), &index); err != nil {
		t.Fatal(err)
	}
	if len(index.Manifests) != 1 || index.Manifests[0].Annotations[nameAnnotation] != topName {
		t.Fatalf("the index lists %+v", index.Manifests)
	}
	manifest, err := image.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	wanted := append([]v1.Descriptor{index.Manifests[0], manifest.Config}, manifest.Layers...)
	for _, d := range wanted {
		content := files[blobPath(d.Digest)].Content
		sum := sha256.Sum256([]byte(content))
		if hex.EncodeToString(sum[:]) != d.Digest.Hex || int64(len(content)) != d.Size {
			t.Errorf("the blob %s has %d bytes and another digest", d.Digest, len(content))
		}
	}
	if want := len(wanted) + 2; len(files) != want {
		t.Errorf("the archive has %d files, want %d", len(files), want)
	}
}

func TestParseList(t *testing.T) {
	const out = `time="2026" level=warning msg="an old kernel"
REF                  TYPE            DIGEST       SIZE     PLATFORMS LABELS
orca.dev/pause:dev   application/x   sha256:aaaa  1.4 MiB  linux/amd64 x=y
`
	if diff := cmp.Diff(map[string]string{"orca.dev/pause:dev": "sha256:aaaa"}, parseList(out)); diff != "" {
		t.Errorf("difference:\n%s", diff)
	}
}
