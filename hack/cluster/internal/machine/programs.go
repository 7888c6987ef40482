// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/progress"
)

// systemDirs are searched besides PATH: a user's PATH often lacks sbin.
var systemDirs = []string{"/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/bin", "/bin"}

// cniDirs are where distributions put the network plugins.
var cniDirs = []string{"/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"}

// cniPlugins are those that the cluster's network is made with.
var cniPlugins = []string{"ptp", "host-local"}

// Need is something that must be on the machine.
type Need struct {
	What string
	// Package is the Debian package that brings it.
	Package string
	present func() bool
}

// NodeNeeds are what running the cluster takes.
func NodeNeeds() []Need {
	return []Need{
		program("ip", "iproute2"),
		program("nft", "nftables"),
		program("runc", "runc"),
		program("mount", "mount"),
		{"the CNI plugins " + strings.Join(cniPlugins, ", "), "containernetworking-plugins", func() bool { _, err := CNIDir(); return err == nil }},
	}
}

// RootfsNeeds are what making a root file system from Debian packages takes.
func RootfsNeeds() []Need {
	const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"
	return []Need{
		program("mmdebstrap", "mmdebstrap"),
		{keyring, "debian-archive-keyring", func() bool { return exists(keyring) }},
	}
}

func program(name, pkg string) Need {
	return Need{"the program " + name, pkg, func() bool { _, err := Find(name); return err == nil }}
}

// Find looks for a program in PATH and in the system's folders.
func Find(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	for _, dir := range systemDirs {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("the program %s is not on this machine", name)
}

// CNIDir is the folder that has the network plugins.
func CNIDir() (string, error) {
	for _, dir := range cniDirs {
		if !slices.ContainsFunc(cniPlugins, func(p string) bool { return !exists(filepath.Join(dir, p)) }) {
			return dir, nil
		}
	}
	return "", fmt.Errorf("no folder of %s has the CNI plugins %s", strings.Join(cniDirs, ", "), strings.Join(cniPlugins, ", "))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Ensure installs the packages of what is missing, with apt-get.
func Ensure(ctx context.Context, needs []Need, say progress.Printer) error {
	missing := absent(needs)
	if len(missing) == 0 {
		return nil
	}
	if err := install(ctx, packages(missing), say); err != nil {
		return fmt.Errorf("%s missing: %w\nInstall by hand: apt-get install %s (on another distribution, its packages of the same programs)",
			describe(missing), err, strings.Join(packages(missing), " "))
	}
	if still := absent(missing); len(still) > 0 {
		return fmt.Errorf("%s missing although the packages %s were installed", describe(still), strings.Join(packages(still), ", "))
	}
	return nil
}

func absent(needs []Need) []Need {
	return slices.DeleteFunc(slices.Clone(needs), func(n Need) bool { return n.present() })
}

func packages(needs []Need) []string {
	var names []string
	for _, n := range needs {
		names = append(names, n.Package)
	}
	return names
}

func describe(needs []Need) string {
	var whats []string
	for _, n := range needs {
		whats = append(whats, n.What)
	}
	if len(whats) == 1 {
		return whats[0] + " is"
	}
	return strings.Join(whats, ", ") + " are"
}

func install(ctx context.Context, pkgs []string, say progress.Printer) (err error) {
	if os.Geteuid() != 0 {
		return errors.New("only root can install packages")
	}
	if _, err := Find("apt-get"); err != nil {
		return err
	}
	defer say.Step("installing the packages " + strings.Join(pkgs, ", "))(&err)
	if _, err := apt(ctx, "update"); err != nil {
		return err
	}
	_, err = apt(ctx, append([]string{"install", "-y", "--no-install-recommends"}, pkgs...)...)
	return err
}

// apt never asks anything, keeps configuration files as they are, and waits for
// a package manager that is at work.
func apt(ctx context.Context, args ...string) (string, error) {
	quiet := []string{"DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-o", "Dpkg::Options::=--force-confold", "-o", "DPkg::Lock::Timeout=120"}
	return Run(ctx, "env", append(quiet, args...)...)
}
