// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"io"
	"runtime"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// nameAnnotation tells containerd what to call an imported image.
const nameAnnotation = "io.containerd.image.name"

// writeArchive writes the image as an OCI layout in a tar stream.
func writeArchive(w io.Writer, image v1.Image, name string) error {
	tw := tar.NewWriter(w)
	if err := writeIndex(tw, image, name); err != nil {
		return err
	}
	if err := writeManifest(tw, image); err != nil {
		return err
	}
	layers, err := image.Layers()
	if err != nil {
		return err
	}
	written := map[v1.Hash]bool{}
	for _, layer := range layers {
		if err := writeLayer(tw, layer, written); err != nil {
			return err
		}
	}
	return tw.Close()
}

func writeIndex(tw *tar.Writer, image v1.Image, name string) error {
	digest, err := image.Digest()
	if err != nil {
		return err
	}
	size, err := image.Size()
	if err != nil {
		return err
	}
	index, err := json.Marshal(v1.IndexManifest{
		SchemaVersion: 2,
		MediaType:     types.OCIImageIndex,
		Manifests: []v1.Descriptor{{
			MediaType:   types.OCIManifestSchema1,
			Digest:      digest,
			Size:        size,
			Platform:    &v1.Platform{OS: "linux", Architecture: runtime.GOARCH},
			Annotations: map[string]string{nameAnnotation: name},
		}},
	})
	if err != nil {
		return err
	}
	if err := writeEntry(tw, "oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`)); err != nil {
		return err
	}
	return writeEntry(tw, "index.json", index)
}

func writeManifest(tw *tar.Writer, image v1.Image) error {
	manifest, err := image.RawManifest()
	if err != nil {
		return err
	}
	digest, err := image.Digest()
	if err != nil {
		return err
	}
	config, err := image.RawConfigFile()
	if err != nil {
		return err
	}
	configDigest, err := image.ConfigName()
	if err != nil {
		return err
	}
	if err := writeEntry(tw, blobPath(digest), manifest); err != nil {
		return err
	}
	return writeEntry(tw, blobPath(configDigest), config)
}

func writeLayer(tw *tar.Writer, layer v1.Layer, written map[v1.Hash]bool) error {
	digest, err := layer.Digest()
	if err != nil || written[digest] {
		return err
	}
	written[digest] = true
	size, err := layer.Size()
	if err != nil {
		return err
	}
	content, err := layer.Compressed()
	if err != nil {
		return err
	}
	defer content.Close()
	return writeStream(tw, blobPath(digest), size, content)
}

func blobPath(h v1.Hash) string { return "blobs/" + h.Algorithm + "/" + h.Hex }

func writeEntry(tw *tar.Writer, name string, content []byte) error {
	return writeStream(tw, name, int64(len(content)), bytes.NewReader(content))
}

func writeStream(tw *tar.Writer, name string, size int64, content io.Reader) error {
	if err := tw.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: size, ModTime: epoch}); err != nil {
		return err
	}
	_, err := io.Copy(tw, content)
	return err
}
