// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// namespace is containerd's, in which Kubernetes looks for images.
const namespace = "k8s.io"

// Importer hands images to containerd.
type Importer struct {
	Builder
	// Ctr is containerd's client program, Socket is where containerd listens.
	Ctr, Socket string
}

// Ensure builds the images and imports those that containerd doesn't have in
// this very form. One that fails doesn't keep the others back.
func (i Importer) Ensure(ctx context.Context, specs []Spec) error {
	i.Work = filepath.Join(i.Layout.ImageCache(), "work")
	if err := makeEmpty(i.Work); err != nil {
		return fmt.Errorf("creating a folder for layers: %w", err)
	}
	defer os.RemoveAll(i.Work)
	present, err := i.present(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, s := range specs {
		if err := i.ensure(ctx, s, present); err != nil {
			errs = append(errs, fmt.Errorf("image %s: %w", s.Name, err))
		}
	}
	return errors.Join(errs...)
}

func (i Importer) ensure(ctx context.Context, s Spec, present map[string]string) (err error) {
	image, err := i.Build(ctx, s)
	if err != nil {
		return err
	}
	digest, err := image.Digest()
	if err != nil {
		return err
	}
	if present[s.Name] == digest.String() {
		return nil
	}
	defer i.Progress.Step("importing the image " + s.Name)(&err)
	return i.load(ctx, image, s.Name)
}

// load streams the image to containerd, which also unpacks it.
func (i Importer) load(ctx context.Context, image v1.Image, name string) error {
	var output bytes.Buffer
	cmd := i.ctr(ctx, "images", "import", "--snapshotter", "overlayfs", "-")
	cmd.Stdout, cmd.Stderr = &output, &output
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting ctr: %w", err)
	}
	writeErr := writeArchive(stdin, image, name)
	stdin.Close()
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("ctr images import: %w: %s", err, strings.TrimSpace(output.String()))
	}
	return writeErr
}

// present gives the digests of containerd's images by name.
func (i Importer) present(ctx context.Context) (map[string]string, error) {
	out, err := i.ctr(ctx, "images", "list").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("listing containerd's images: %w: %s", err, bytes.TrimSpace(out))
	}
	return parseList(string(out)), nil
}

// parseList reads lines of "REF TYPE DIGEST ...".
func parseList(out string) map[string]string {
	digests := map[string]string{}
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		if len(fields) >= 3 && strings.Contains(fields[2], ":") {
			digests[fields[0]] = fields[2]
		}
	}
	return digests
}

func (i Importer) ctr(ctx context.Context, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, i.Ctr, append([]string{"--address", i.Socket, "--namespace", namespace}, args...)...)
}

func makeEmpty(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.MkdirAll(dir, 0o755)
}
