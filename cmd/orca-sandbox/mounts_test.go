// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/orca-agent-engine/orca-operator/controllers/layout"
)

// containerMount is one mount of a container. Its place is made if it isn't
// there.
type containerMount struct {
	// Target is where the mount appears in the container.
	Target string
	// Bind is a path of the host, or with BindInside one of the container, that
	// appears there. Without either it is a new file system of the given Type.
	Bind, BindInside string
	Type, Data       string
	ReadOnly         bool
}

// usualMounts are those that a container runtime makes in a sandbox's pod, in
// the same order.
func usualMounts(spec containerSpec) []containerMount {
	mounts := []containerMount{
		{Target: "/proc", Type: "proc"},
		{Target: "/dev", Type: "tmpfs", Data: "mode=0755"},
		{Target: "/dev/pts", Type: "devpts", Data: "newinstance,ptmxmode=0666,mode=0620"},
		{Target: "/dev/mqueue", Type: "mqueue"},
		{Target: "/sys/fs/cgroup", Type: "tmpfs", Data: "mode=0755"},
		{Target: "/proc/keys", Bind: "/dev/null"},
		{Target: "/dev/termination-log", Bind: spec.Message},
		{Target: "/orca/bin/orca-sandbox", Bind: spec.Binary, ReadOnly: true},
		{Target: agentProgram, Bind: spec.Agent, ReadOnly: true},
		{Target: layout.Tmp, Type: "tmpfs", Data: "mode=1777"},
		{Target: layout.SharedMemory, Type: "tmpfs", Data: "mode=1777"},
	}
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		mounts = append(mounts, containerMount{Target: "/dev/" + name, Bind: "/dev/" + name})
	}
	for _, path := range append(layout.SealedRoots(), layout.MessageQueues, layout.Hosts) {
		mounts = append(mounts, containerMount{Target: path, Bind: spec.Sealed + path, ReadOnly: true})
	}
	mounts = append(mounts, containerMount{Target: layout.Outputs, Type: "tmpfs", Data: "mode=0777"})
	if spec.Manifest != "" {
		mounts = append(mounts, containerMount{Target: "/orca/manifest/sandbox.json", Bind: spec.Manifest, ReadOnly: true})
	}
	return mounts
}

// mountAll makes the usual mounts but those to do without, then the others.
func mountAll(spec containerSpec) error {
	for _, m := range usualMounts(spec) {
		if slices.Contains(spec.Without, m.Target) {
			continue
		}
		if err := m.mount(spec.Root); err != nil {
			return err
		}
	}
	if err := os.Symlink("pts/ptmx", spec.Root+"/dev/ptmx"); err != nil {
		return fmt.Errorf("linking the terminal multiplexer: %w", err)
	}
	for _, m := range spec.Mounts {
		if err := m.mount(spec.Root); err != nil {
			return err
		}
	}
	return nil
}

func (m containerMount) mount(root string) error {
	if m.BindInside != "" {
		m.Bind = root + m.BindInside
	}
	target := root + m.Target
	if err := m.makePlace(target); err != nil {
		return fmt.Errorf("making a place for the mount at %s: %w", m.Target, err)
	}
	var err error
	if m.Bind != "" {
		err = unix.Mount(m.Bind, target, "", unix.MS_BIND|unix.MS_REC, "")
	} else {
		err = unix.Mount(m.Type, target, m.Type, 0, m.Data)
	}
	if err != nil {
		return fmt.Errorf("mounting at %s: %w", m.Target, err)
	}
	if m.ReadOnly {
		return makeReadOnly(target, unix.AT_RECURSIVE)
	}
	return nil
}

// makePlace makes a directory, or a file where one is mounted.
func (m containerMount) makePlace(target string) error {
	if m.Bind != "" {
		info, err := os.Stat(m.Bind)
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return makeFile(target)
		}
	}
	return os.MkdirAll(target, 0o755)
}

func makeFile(path string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o644))
}

func makeReadOnly(path string, flags uint) error {
	attributes := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	if err := unix.MountSetattr(unix.AT_FDCWD, path, flags, &attributes); err != nil {
		return fmt.Errorf("making %s read-only: %w", path, err)
	}
	return nil
}
