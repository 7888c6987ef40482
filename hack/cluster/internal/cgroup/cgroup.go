// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cgroup keeps the cluster's pods in a control group of their own, by
// which all their processes can be found and which can be removed as a whole.
package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Name is the control group, as the kubelet's cgroupRoot.
const Name = "/orca-cluster"

// v2Controllers are those that the kubelet wants under the unified hierarchy, as
// far as the kernel has them.
var v2Controllers = []string{"cpuset", "cpu", "io", "memory", "hugetlb", "pids"}

// hierarchy is one mounted control group tree.
type hierarchy struct {
	dir     string
	unified bool
	cpuset  bool
}

func (h hierarchy) group() string { return filepath.Join(h.dir, Name) }

// Create makes the group in every hierarchy.
func Create() error {
	all, err := hierarchies()
	if err != nil {
		return err
	}
	for _, h := range all {
		if err := h.create(); err != nil {
			return fmt.Errorf("creating the control group %s: %w", h.group(), err)
		}
	}
	return nil
}

func hierarchies() ([]hierarchy, error) {
	b, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("listing control groups: %w", err)
	}
	return parse(string(b)), nil
}

func parse(mountinfo string) []hierarchy {
	var found []hierarchy
	for line := range strings.Lines(mountinfo) {
		left, right, ok := strings.Cut(line, " - ")
		fields, kind := strings.Fields(left), strings.Fields(right)
		if !ok || len(fields) < 5 || len(kind) < 3 || !strings.HasPrefix(kind[0], "cgroup") {
			continue
		}
		found = append(found, hierarchy{
			dir:     fields[4],
			unified: kind[0] == "cgroup2",
			cpuset:  slices.Contains(strings.Split(kind[2], ","), "cpuset"),
		})
	}
	return found
}

func (h hierarchy) create() error {
	if h.unified {
		if err := delegate(h.dir); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(h.group(), 0o755); err != nil {
		return err
	}
	if h.unified {
		return delegate(h.group())
	}
	if h.cpuset {
		return h.inheritCPUSet()
	}
	return nil
}

// delegate hands the controllers that the group has down to its children.
func delegate(group string) error {
	b, err := os.ReadFile(filepath.Join(group, "cgroup.controllers"))
	if err != nil {
		return err
	}
	for c := range strings.FieldsSeq(string(b)) {
		if !slices.Contains(v2Controllers, c) {
			continue
		}
		if err := os.WriteFile(filepath.Join(group, "cgroup.subtree_control"), []byte("+"+c), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// inheritCPUSet copies what a new group of this controller lacks and without
// which no process can enter it.
func (h hierarchy) inheritCPUSet() error {
	for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
		b, err := os.ReadFile(filepath.Join(h.dir, file))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(h.group(), file), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Kill ends all processes in the group and waits until they are gone.
func Kill(limit time.Duration) error {
	for deadline := time.Now().Add(limit); ; time.Sleep(20 * time.Millisecond) {
		pids, err := processes()
		if err != nil || len(pids) == 0 {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("processes %v in the control group %s don't end", pids, Name)
		}
		for _, pid := range pids {
			if err := unix.Kill(pid, unix.SIGKILL); err != nil && err != unix.ESRCH {
				return fmt.Errorf("killing process %d of the control group %s: %w", pid, Name, err)
			}
		}
	}
}

// processes are the ids of all processes in the group and those below it.
func processes() ([]int, error) {
	var pids []int
	err := walkGroups(func(dir string) error {
		b, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		if err != nil {
			return ignoreGone(err)
		}
		for field := range strings.FieldsSeq(string(b)) {
			if pid, err := strconv.Atoi(field); err == nil && pid > 0 {
				pids = append(pids, pid)
			}
		}
		return nil
	})
	slices.Sort(pids)
	return slices.Compact(pids), err
}

// Remove removes the group from every hierarchy, from the leaves up.
func Remove() error {
	var dirs []string
	err := walkGroups(func(dir string) error {
		dirs = append(dirs, dir)
		return nil
	})
	if err != nil {
		return err
	}
	for _, dir := range slices.Backward(dirs) {
		if err := removeGroup(dir); err != nil {
			return fmt.Errorf("removing the control group %s: %w", dir, err)
		}
	}
	return nil
}

// removeGroup tries for a while: a group stays busy for a moment after its
// last process has ended.
func removeGroup(dir string) error {
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		err := ignoreGone(os.Remove(dir))
		if !errors.Is(err, unix.EBUSY) || time.Now().After(deadline) {
			return err
		}
	}
}

// walkGroups visits the group and those below it, parents first, in every
// hierarchy.
func walkGroups(visit func(dir string) error) error {
	all, err := hierarchies()
	if err != nil {
		return err
	}
	for _, h := range all {
		err := filepath.WalkDir(h.group(), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.IsDir() {
				return ignoreGone(err)
			}
			return visit(path)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENODEV) {
		return nil
	}
	return err
}
