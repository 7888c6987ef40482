// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cluster brings the parts together: it starts the local cluster,
// gives it images, tells how it is, and takes it away.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/build"
	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/component"
	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/image"
	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/layout"
	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/machine"
	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/progress"
)

// Cluster is the cluster of one state folder.
type Cluster struct {
	Layout   layout.Layout
	Progress progress.Printer
	// machineLock is held while components are started or stopped.
	machineLock *os.File
}

func claim() machine.Claim { return machine.Claim{Path: layout.Run("claim")} }

// holding reads the claim, and fails if another state folder holds the machine.
func (c *Cluster) holding() (machine.Holding, error) {
	h, err := claim().Read()
	if err != nil {
		return machine.Holding{}, err
	}
	if h.Dir != "" && h.Dir != c.Layout.Dir {
		return machine.Holding{}, fmt.Errorf("this machine runs the cluster of %[1]s, and there can be one at a time; `orca-cluster down --dir %[1]q` ends it", h.Dir)
	}
	return h, nil
}

func (c *Cluster) runner() component.Runner {
	return component.Runner{
		RecordDir: layout.Run("records"),
		LogDir:    c.Layout.LogDir(),
		Lock:      c.machineLock,
	}
}

func (c *Cluster) builder() build.Builder {
	return build.Builder{Layout: c.Layout, Progress: c.Progress}
}

// sysctls keeps the saved values where a restart of the machine, after which
// they mean nothing, usually removes them.
func sysctls() machine.Sysctls {
	return machine.Sysctls{Saved: layout.Run("sysctls.json"), Dir: "/proc/sys"}
}

// Build builds the named programs; all if none is named.
func (c *Cluster) Build(ctx context.Context, only []string) error {
	programs, err := build.Select(only)
	if err != nil {
		return err
	}
	unlock, err := c.lockState(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return c.builder().Ensure(ctx, programs)
}

// Images makes the named images, or all of the list, and imports them.
func (c *Cluster) Images(ctx context.Context, names []string) error {
	if err := requireRoot(); err != nil {
		return err
	}
	unlock, err := c.lockState(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := c.holding(); err != nil {
		return err
	}
	_, alive, err := c.runner().Running(containerdName)
	if err != nil {
		return err
	}
	if !alive {
		return errors.New("no cluster is running; `orca-cluster up` starts it")
	}
	return c.importImages(ctx, names)
}

func (c *Cluster) importImages(ctx context.Context, names []string) error {
	file, err := image.Load(c.Layout.ImagesFile())
	if err != nil {
		return err
	}
	specs, err := file.Select(names)
	if err != nil {
		return err
	}
	importer := image.Importer{
		Builder: image.Builder{Layout: c.Layout, File: file, Progress: c.Progress},
		Ctr:     c.Layout.Bin("ctr"),
		Socket:  layout.ContainerdSocket(),
	}
	return importer.Ensure(ctx, specs)
}

func requireRoot() error {
	if os.Geteuid() != 0 {
		return errors.New("the local cluster runs containers and must be started by root; try sudo")
	}
	return nil
}

// lockState keeps a second orca-cluster from the same state folder.
func (c *Cluster) lockState(ctx context.Context) (unlock func(), err error) {
	file, err := machine.Lock(ctx, c.Layout.Lock(), c.Progress)
	if err != nil {
		return nil, err
	}
	return func() { file.Close() }, nil
}

// lockMachine keeps a second orca-cluster from this machine.
func (c *Cluster) lockMachine(ctx context.Context) (unlock func(), err error) {
	file, err := machine.Lock(ctx, layout.Run("lock"), c.Progress)
	if err != nil {
		return nil, err
	}
	c.machineLock = file
	return func() { file.Close(); c.machineLock = nil }, nil
}
