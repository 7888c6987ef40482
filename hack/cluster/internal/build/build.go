// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/layout"
	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/progress"
)

// unfinished ends the names of programs in the making.
const unfinished = ".building"

// Builder builds into the state folder's bin.
type Builder struct {
	Layout   layout.Layout
	Progress progress.Printer
}

// Ensure builds those programs that are missing or were made from something
// else than what is pinned now.
func (b Builder) Ensure(ctx context.Context, programs []Program) error {
	goVersion, err := goVersion(ctx)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(b.stampDir(), 0o755); err != nil {
		return fmt.Errorf("creating the folder of built programs: %w", err)
	}
	if err := b.removeUnfinished(); err != nil {
		return fmt.Errorf("removing what an interrupted build left: %w", err)
	}
	for _, p := range programs {
		if err := b.ensure(ctx, p, goVersion); err != nil {
			return fmt.Errorf("building %s: %w", p.Name, err)
		}
	}
	return nil
}

func (b Builder) ensure(ctx context.Context, p Program, goVersion string) (err error) {
	flags, err := b.flags(p)
	if err != nil {
		return err
	}
	want, err := stamp(b.Layout.Module(p.Module), p, flags, goVersion)
	if err != nil {
		return err
	}
	if b.current(p, want) {
		return nil
	}
	defer b.Progress.Step("building " + p.Name)(&err)
	if err := b.compile(ctx, p, flags); err != nil {
		return err
	}
	return os.WriteFile(b.stampFile(p), []byte(want), 0o644)
}

func (b Builder) removeUnfinished() error {
	left, err := filepath.Glob(filepath.Join(b.Layout.BinDir(), "*"+unfinished))
	for _, path := range left {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

func (b Builder) stampDir() string { return filepath.Join(b.Layout.BinDir(), ".stamps") }

func (b Builder) stampFile(p Program) string { return filepath.Join(b.stampDir(), p.Name) }

func (b Builder) current(p Program, want string) bool {
	got, err := os.ReadFile(b.stampFile(p))
	if err != nil || string(got) != want {
		return false
	}
	_, err = os.Stat(b.Layout.Bin(p.Name))
	return err == nil
}

func (b Builder) flags(p Program) ([]string, error) {
	version := ""
	if p.Version != "" {
		var err error
		version, err = requiredVersion(filepath.Join(b.Layout.Module(p.Module), "go.mod"), p.Version)
		if err != nil {
			return nil, err
		}
	}
	flags := []string{"-trimpath", "-ldflags", p.linkerFlags(version)}
	if len(p.Tags) > 0 {
		flags = append(flags, "-tags", strings.Join(p.Tags, ","))
	}
	return flags, nil
}

// compile puts the finished program in its place by renaming: one that runs
// can't be written to, and one that is half written would be taken for whole.
func (b Builder) compile(ctx context.Context, p Program, flags []string) error {
	tmp := fmt.Sprintf("%s.%d%s", b.Layout.Bin(p.Name), os.Getpid(), unfinished)
	defer os.Remove(tmp)
	args := append(append([]string{"build"}, flags...), "-o", tmp, p.Package)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = b.Layout.Module(p.Module)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=-mod=readonly -buildvcs=false")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return os.Rename(tmp, b.Layout.Bin(p.Name))
}

func goVersion(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOVERSION", "GOOS", "GOARCH").Output()
	if err != nil {
		return "", fmt.Errorf("the cluster is built from source and needs the go command (https://go.dev/dl): %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}
