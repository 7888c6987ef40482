// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/config"
)

// The kubelet and the network plugins' library write to some folders of the
// machine that can't be moved.
const (
	containerLogs = "/var/log/containers"
	cniResults    = "/var/lib/cni/results"
)

// fixedDirs are made by components at places that can't be moved, deepest
// first. They are removed only while empty.
var fixedDirs = []string{
	containerLogs,
	cniResults,
	"/var/lib/cni",
	"/var/lib/kubelet/device-plugins",
	"/var/lib/kubelet",
}

// removeStrays removes the cluster's own entries from these folders, and the
// folders if nobody else has anything there.
func (c *Cluster) removeStrays() error {
	return errors.Join(
		removeEntries(containerLogs, c.isOwnLog),
		removeEntries(cniResults, isOwnResult),
		removeEntries("/var/lib/kubelet/device-plugins", isDeadSocket),
		removeEmpty(fixedDirs),
	)
}

// isOwnLog is true of links to logs below the state folder.
func (c *Cluster) isOwnLog(path string) bool {
	target, err := os.Readlink(path)
	return err == nil && strings.HasPrefix(target, c.Layout.State()+"/")
}

func isOwnResult(path string) bool {
	return strings.HasPrefix(filepath.Base(path), config.CNINetwork+"-")
}

// isDeadSocket is true of the device plugins' socket of a kubelet that is
// gone, and of the file that it kept beside it.
func isDeadSocket(path string) bool {
	switch filepath.Base(path) {
	case "kubelet.sock", "kubelet_internal_checkpoint", "DEPRECATION":
		return true
	}
	return false
}

func removeEntries(dir string, own func(path string) bool) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		if !own(path) {
			continue
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func removeEmpty(dirs []string) error {
	for _, dir := range dirs {
		err := os.Remove(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTEMPTY) {
			return err
		}
	}
	return nil
}
