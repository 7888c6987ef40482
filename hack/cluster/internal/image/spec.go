// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package image makes the cluster's container images from programs of this
// repository and Debian packages, and imports them. No registry is asked.
package image

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"

	"github.com/google/go-containerregistry/pkg/name"
	"sigs.k8s.io/yaml"
)

// File is the whole of images.yaml.
type File struct {
	// Suite is the Debian release that packages come from.
	Suite  string `json:"suite"`
	Images []Spec `json:"images"`
}

// Spec is one image.
type Spec struct {
	// Name is the reference by which pods ask for it, with a tag.
	Name string `json:"name"`
	// Packages are Debian packages that make up its root file system.
	Packages []string `json:"packages,omitempty"`
	// From names an earlier image of the list to build on.
	From string `json:"from,omitempty"`
	// Files are copied in, after packages.
	Files      []Copy            `json:"files,omitempty"`
	Entrypoint []string          `json:"entrypoint,omitempty"`
	Cmd        []string          `json:"cmd,omitempty"`
	User       string            `json:"user,omitempty"`
	Env        map[string]string `json:"env,omitempty"`
	// Volumes are the declared VOLUMEs.
	Volumes []string `json:"volumes,omitempty"`
}

// Copy is one file of the image: a copy, or a symbolic link.
type Copy struct {
	// From is relative to the repository's root; a leading ".orca/" stands for
	// the state folder, wherever that is.
	From string `json:"from,omitempty"`
	// Link is what a symbolic link points to. It stands in place of From.
	Link string `json:"link,omitempty"`
	// To is absolute.
	To string `json:"to"`
	// Mode is in octal, "0755" if not given.
	Mode string `json:"mode,omitempty"`
}

// Load reads and checks the file. A key that it doesn't know is an error.
func Load(path string) (File, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return File{}, fmt.Errorf("reading the list of images: %w", err)
	}
	file, err := parse(b)
	if err != nil {
		return File{}, fmt.Errorf("%s: %w", path, err)
	}
	return file, nil
}

func parse(b []byte) (File, error) {
	var file File
	if err := yaml.UnmarshalStrict(b, &file); err != nil {
		return File{}, err
	}
	return file, file.validate()
}

func (f File) validate() error {
	for i, image := range f.Images {
		where := fmt.Sprintf("images[%d]", i)
		if _, err := name.NewTag(image.Name, name.StrictValidation); err != nil {
			return fmt.Errorf("%s.name: %q must be a reference with a registry and a tag: %w", where, image.Name, err)
		}
		if err := image.validate(f.Images[:i]); err != nil {
			return fmt.Errorf("%s (%s).%w", where, image.Name, err)
		}
		if len(image.Packages) > 0 && f.Suite == "" {
			return fmt.Errorf("suite: must be given where an image has packages, as %s has", image.Name)
		}
	}
	return nil
}

func (s Spec) validate(earlier []Spec) error {
	if slices.ContainsFunc(earlier, func(e Spec) bool { return e.Name == s.Name }) {
		return fmt.Errorf("name: must not be that of an earlier image")
	}
	if s.From != "" && !slices.ContainsFunc(earlier, func(e Spec) bool { return e.Name == s.From }) {
		return fmt.Errorf("from: %q must be an earlier image of the list", s.From)
	}
	if s.From != "" && len(s.Packages) > 0 {
		return fmt.Errorf("packages: must not be given together with from")
	}
	for i, file := range s.Files {
		if err := file.validate(); err != nil {
			return fmt.Errorf("files[%d].%w", i, err)
		}
	}
	for i, volume := range s.Volumes {
		if !path.IsAbs(volume) {
			return fmt.Errorf("volumes[%d]: %q must be an absolute path", i, volume)
		}
	}
	return nil
}

func (c Copy) validate() error {
	if c.Link != "" && (c.From != "" || c.Mode != "") {
		return fmt.Errorf("link: must not be given together with from or mode")
	}
	if c.Link == "" && (c.From == "" || path.IsAbs(c.From)) {
		return fmt.Errorf("from: %q must be a path relative to the repository's root", c.From)
	}
	if !path.IsAbs(c.To) || path.Clean(c.To) != c.To || c.To == "/" {
		return fmt.Errorf("to: %q must be an absolute path of a file, in its shortest form", c.To)
	}
	_, err := c.mode()
	return err
}

func (c Copy) mode() (int64, error) {
	if c.Mode == "" {
		return 0o755, nil
	}
	mode, err := strconv.ParseInt(c.Mode, 8, 64)
	if err != nil || mode < 0 || mode > 0o7777 {
		return 0, fmt.Errorf("mode: %q must be an octal number of at most 7777", c.Mode)
	}
	return mode, nil
}

// Select gives the named images; all if none is named.
func (f File) Select(names []string) ([]Spec, error) {
	if len(names) == 0 {
		return f.Images, nil
	}
	var picked []Spec
	for _, name := range names {
		i := slices.IndexFunc(f.Images, func(s Spec) bool { return s.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("no image %q in the list", name)
		}
		picked = append(picked, f.Images[i])
	}
	return picked, nil
}
