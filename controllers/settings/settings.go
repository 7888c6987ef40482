// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Settings are what a settings file says, complete and valid. They never change:
// ForNamespace hands out copies. Load and Parse make them.
type Settings struct {
	base       Effective
	workspaces []Workspace
}

// file is the form of a settings file.
type file struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Effective
	// Workspaces wait for the rest, which they are merged over.
	Workspaces []yaml.Node `json:"workspaces"`
}

// Load reads the settings file at path. An error names every field that is
// wrong.
func Load(path string) (*Settings, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the settings: %w", err)
	}
	return Parse(path, data)
}

// Parse decodes the content of a settings file. The name is for errors, which
// name every field that is wrong.
func Parse(name string, data []byte) (*Settings, error) {
	root, err := document(data)
	if err != nil {
		return nil, fmt.Errorf("settings file %s: %w", name, err)
	}
	settings, errs := build(root)
	if len(errs) > 0 {
		return nil, fmt.Errorf("settings file %s: %w", name, errs.ToAggregate())
	}
	return settings, nil
}

// ForNamespace returns what holds in a namespace: the deployment's settings, and
// over them those of the first workspace that lists the namespace. The empty
// namespace is in no workspace. What it returns is the caller's to keep.
func (s *Settings) ForNamespace(namespace string) Effective {
	effective := s.base
	for _, workspace := range s.workspaces {
		if slices.Contains(workspace.Namespaces, namespace) {
			effective.Limits, effective.Sandbox = workspace.Limits, workspace.Sandbox
			break
		}
	}
	return effective.clone()
}

// document returns the root of the only YAML document in data.
func document(data []byte) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var first, second yaml.Node
	if err := decoder.Decode(&first); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, errors.New("must not be empty")
		}
		return nil, err
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, errors.Join(errors.New("must hold one YAML document"), err)
	}
	root := first.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, errors.New("must be a mapping of keys to values")
	}
	return root, nil
}

// build decodes, completes and validates the file.
func build(root *yaml.Node) (*Settings, field.ErrorList) {
	d := decoder{}
	f := file{Effective: scalarDefaults()}
	d.decode(root, reflect.ValueOf(&f).Elem(), nil)
	setResourceDefaults(&f.Effective)
	errs := append(validateHeader(f.APIVersion, f.Kind), validateEffective(&f.Effective)...)

	workspaces := make([]Workspace, len(f.Workspaces))
	for i := range f.Workspaces {
		path := field.NewPath("workspaces").Index(i)
		workspaces[i] = Workspace{Limits: f.Limits, Sandbox: f.Sandbox.clone()}
		d.decode(&f.Workspaces[i], reflect.ValueOf(&workspaces[i]).Elem(), path)
		errs = append(errs, notInherited(errs, validateWorkspace(&workspaces[i], path), path)...)
	}
	settings := &Settings{base: f.Effective, workspaces: workspaces}
	return settings, sorted(append(d.errs, unless(d.errs, errs)...))
}

// sorted puts what is said of one field together, and makes the order of the
// errors the same every time.
func sorted(errs field.ErrorList) field.ErrorList {
	slices.SortStableFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Field, b.Field) })
	return errs
}

// notInherited returns the errors of a workspace that the deployment's settings,
// whose errors are base, do not have as well.
func notInherited(base, errs field.ErrorList, path *field.Path) field.ErrorList {
	known := sets.New[string]()
	for _, err := range base {
		known.Insert(err.Error())
	}
	return slices.DeleteFunc(errs, func(err *field.Error) bool {
		return known.Has(strings.TrimPrefix(err.Error(), path.String()+"."))
	})
}

// unless returns the errs whose fields could be decoded: of the others the
// decoder already said what is wrong.
func unless(decoding, errs field.ErrorList) field.ErrorList {
	undecoded := sets.New[string]()
	for _, err := range decoding {
		undecoded.Insert(err.Field)
	}
	return slices.DeleteFunc(errs, func(err *field.Error) bool { return undecoded.Has(err.Field) })
}
