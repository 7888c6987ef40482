// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package layout names the folders and files of the local cluster, so that no
// other package puts a path together by hand.
package layout

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// RunDir holds sockets, process records and what else must be short or shared
// by every checkout. One machine runs one cluster, so it is the same for all:
// a unix socket's path may have no more than 107 bytes, and a checkout's path
// may be longer than that.
const RunDir = "/run/orca-cluster"

// marker is the file by which a folder is known to be the repository's root.
const marker = "hack/cluster/images.yaml"

// Layout is where one checkout keeps its cluster.
type Layout struct {
	// Root is the repository's root, absolute.
	Root string
	// Dir is the state folder (.orca under the root by default), absolute.
	Dir string
}

// New finds the repository from the working folder or else from the program's
// own place. An empty dir means .orca under the repository's root; a relative
// one is taken from the working folder.
func New(dir string) (Layout, error) {
	root, err := findRoot()
	if err != nil {
		return Layout{}, err
	}
	if dir == "" {
		return Layout{Root: root, Dir: filepath.Join(root, ".orca")}, nil
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Layout{}, fmt.Errorf("resolving --dir %q: %w", dir, err)
	}
	return Layout{Root: root, Dir: abs}, nil
}

func findRoot() (string, error) {
	var starts []string
	if wd, err := os.Getwd(); err == nil {
		starts = append(starts, wd)
	}
	if exe, err := os.Executable(); err == nil {
		starts = append(starts, filepath.Dir(exe))
	}
	for _, start := range starts {
		if root, ok := rootAbove(start); ok {
			return root, nil
		}
	}
	return "", errors.New("not inside the repository: no folder from here upward has " + marker)
}

func rootAbove(dir string) (string, bool) {
	for {
		if _, err := os.Stat(filepath.Join(dir, marker)); err == nil {
			return dir, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", false
		}
		dir = parent
	}
}

// Module is the folder of a Go module that pins programs of the cluster.
func (l Layout) Module(name string) string {
	return filepath.Join(l.Root, "hack", "cluster", name)
}

// ImagesFile lists the images that the cluster is given.
func (l Layout) ImagesFile() string { return filepath.Join(l.Root, marker) }

// BinDir is the cache of built programs; it outlives the cluster.
func (l Layout) BinDir() string { return filepath.Join(l.Dir, "bin") }

// Bin is one built program.
func (l Layout) Bin(name string) string { return filepath.Join(l.BinDir(), name) }

// ImageCache holds root file systems; it outlives the cluster.
func (l Layout) ImageCache() string { return filepath.Join(l.Dir, "images") }

// LogDir holds one log for each component; it outlives the cluster until the
// next one starts.
func (l Layout) LogDir() string { return filepath.Join(l.Dir, "log") }

// Kubeconfig is the administrator's configuration.
func (l Layout) Kubeconfig() string { return filepath.Join(l.Dir, "kubeconfig") }

// Lock is held by whoever changes the state folder.
func (l Layout) Lock() string { return filepath.Join(l.Dir, "lock") }

// State is a file or folder of the running cluster; all of it goes with it.
func (l Layout) State(elem ...string) string {
	return filepath.Join(append([]string{l.Dir, "state"}, elem...)...)
}

// PKI is a file among the keys and certificates.
func (l Layout) PKI(name string) string { return l.State("pki", name) }

// Run is a file or folder below RunDir.
func Run(elem ...string) string {
	return filepath.Join(append([]string{RunDir}, elem...)...)
}

// KubeletDir is where the kubelet sees its root folder: a bind mount of the
// folder below the state, for the sake of the sockets in it.
func KubeletDir() string { return Run("kubelet") }

// ContainerdSocket is where containerd listens.
func ContainerdSocket() string { return Run("containerd.sock") }
