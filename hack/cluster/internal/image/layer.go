// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// epoch is the time of everything in an image, so that the same content gives
// the same digest.
var epoch = time.Unix(0, 0).UTC()

// tarLayer is a layer that lies on the disk as a tar file. It isn't
// compressed: it travels no further than to a process on the same machine.
type tarLayer struct {
	path string
	hash v1.Hash
	size int64
}

func newTarLayer(path string) (*tarLayer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, f)
	if err != nil {
		return nil, fmt.Errorf("reading the layer %s: %w", path, err)
	}
	return &tarLayer{path, v1.Hash{Algorithm: "sha256", Hex: hex.EncodeToString(sum.Sum(nil))}, size}, nil
}

// Digest and the other methods make it a v1.Layer.
func (l *tarLayer) Digest() (v1.Hash, error)             { return l.hash, nil }
func (l *tarLayer) DiffID() (v1.Hash, error)             { return l.hash, nil }
func (l *tarLayer) Compressed() (io.ReadCloser, error)   { return os.Open(l.path) }
func (l *tarLayer) Uncompressed() (io.ReadCloser, error) { return os.Open(l.path) }
func (l *tarLayer) Size() (int64, error)                 { return l.size, nil }
func (l *tarLayer) MediaType() (types.MediaType, error)  { return types.OCIUncompressedLayer, nil }

// source is a file to be copied into a layer or, where link is set, a symbolic
// link to be made in it.
type source struct {
	path string
	to   string
	mode int64
	link string
}

// writeTar writes the files with the folders that lead to them.
func writeTar(w io.Writer, sources []source) error {
	tw := tar.NewWriter(w)
	made := map[string]bool{}
	for _, s := range sources {
		if err := writeParents(tw, s.to, made); err != nil {
			return err
		}
		if err := writeFile(tw, s); err != nil {
			return err
		}
	}
	return tw.Close()
}

func writeParents(tw *tar.Writer, to string, made map[string]bool) error {
	dir := path.Dir(to)
	if dir == "/" || made[dir] {
		return nil
	}
	if err := writeParents(tw, dir, made); err != nil {
		return err
	}
	made[dir] = true
	return tw.WriteHeader(&tar.Header{
		Typeflag: tar.TypeDir,
		Name:     strings.TrimPrefix(dir, "/") + "/",
		Mode:     0o755,
		ModTime:  epoch,
	})
}

func writeFile(tw *tar.Writer, s source) error {
	if s.link != "" {
		return tw.WriteHeader(&tar.Header{
			Typeflag: tar.TypeSymlink,
			Name:     strings.TrimPrefix(s.to, "/"),
			Linkname: s.link,
			Mode:     0o777,
			ModTime:  epoch,
		})
	}
	f, err := os.Open(s.path)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if !st.Mode().IsRegular() {
		return fmt.Errorf("%s must be a regular file", s.path)
	}
	err = tw.WriteHeader(&tar.Header{
		Name:    strings.TrimPrefix(s.to, "/"),
		Mode:    s.mode,
		Size:    st.Size(),
		ModTime: epoch,
	})
	if err != nil {
		return err
	}
	_, err = io.Copy(tw, f)
	return err
}
