// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/mod/modfile"
)

// stamp identifies everything that a binary is made from: the pinned modules,
// the flags, the compiler, and the source that lies in the repository.
func stamp(moduleDir string, p Program, flags []string, goVersion string) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%q\n", goVersion, flags)
	files, err := stampFiles(moduleDir, p)
	if err != nil {
		return "", err
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("reading what %s is built from: %w", p.Name, err)
		}
		fmt.Fprintf(h, "%s %d\n%s", filepath.Base(file), len(b), b)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func stampFiles(moduleDir string, p Program) ([]string, error) {
	if p.local() {
		// A program of this repository's own needs nothing but its own folder
		// and, where that has one, its go.mod: the modules pinned elsewhere
		// would only cause needless builds.
		return globAll(filepath.Join(moduleDir, p.Package), "*.go", "go.mod", "go.sum")
	}
	return globAll(moduleDir, "go.mod", "go.sum")
}

// local reports whether the main package lies in this repository.
func (p Program) local() bool { return p.Package[0] == '.' }

func globAll(dir string, patterns ...string) ([]string, error) {
	var files []string
	for _, pattern := range patterns {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	return files, nil
}

// requiredVersion reads the version that a go.mod file asks for.
func requiredVersion(gomod, module string) (string, error) {
	b, err := os.ReadFile(gomod)
	if err != nil {
		return "", err
	}
	file, err := modfile.ParseLax(gomod, b, nil)
	if err != nil {
		return "", err
	}
	for _, req := range file.Require {
		if req.Mod.Path == module {
			return req.Mod.Version, nil
		}
	}
	return "", fmt.Errorf("%s does not require %s", gomod, module)
}
