// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/cgroup"
	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/layout"
	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/mounts"
	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/network"
)

// Down ends the cluster and removes all of it but the built programs, the
// cached root file systems, and the logs.
func (c *Cluster) Down(ctx context.Context) (err error) {
	if err := requireRoot(); err != nil {
		return err
	}
	unlock, err := c.lockState(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	unlockMachine, err := c.lockMachine(ctx)
	if err != nil {
		return err
	}
	defer unlockMachine()
	if _, err := c.holding(); err != nil {
		return fmt.Errorf("nothing was stopped: %w", err)
	}
	defer c.Progress.Step("stopping the cluster")(&err)
	return c.takeDown(ctx)
}

// takeDown also finishes what an earlier one left half done.
func (c *Cluster) takeDown(ctx context.Context) error {
	if err := claim().Leave(c.Layout.Dir); err != nil {
		return err
	}
	if err := c.stop(); err != nil {
		return err
	}
	return c.remove(ctx)
}

// Components in the order of stopping: what would start others, and pods; then,
// without its clients, the API server, which waits for them; then its storage.
var (
	stopFirst = []string{provisionerName, proxyName, kubeletName, schedulerName, controllerName, containerdName}
	stopNext  = []string{apiserverName}
	stopLast  = []string{etcdName}
)

// stop ends every process: the components, and the pods, which would live on
// without them.
func (c *Cluster) stop() error {
	if err := c.runner().StopAll(stopFirst...); err != nil {
		return err
	}
	if err := stopShims(c.Layout.Bin(shimProgram), layout.ContainerdSocket()); err != nil {
		return err
	}
	if err := cgroup.Kill(30 * time.Second); err != nil {
		return err
	}
	if err := c.runner().StopAll(stopNext...); err != nil {
		return err
	}
	return c.runner().StopAll(stopLast...)
}

// remove takes away what the processes left. The claim goes with the last of
// it: until then another `down` can finish what this one began.
func (c *Cluster) remove(ctx context.Context) error {
	if err := mounts.UnmountBelow(c.Layout.State(), layout.RunDir); err != nil {
		return err
	}
	if err := network.Remove(ctx); err != nil {
		return fmt.Errorf("removing the cluster's network: %w", err)
	}
	if err := errors.Join(cgroup.Remove(), sysctls().Restore(), c.removeStrays()); err != nil {
		return err
	}
	if err := c.removeState(); err != nil {
		return fmt.Errorf("removing the cluster's state: %w", err)
	}
	return removeRunDir()
}

// removeState removes the folder of state, after making sure that nothing is
// mounted in it: a removal would go on into what is.
func (c *Cluster) removeState() error {
	if err := mounts.UnmountBelow(c.Layout.State(), layout.KubeletDir()); err != nil {
		return err
	}
	return errors.Join(os.RemoveAll(c.Layout.State()), os.RemoveAll(c.Layout.Kubeconfig()))
}

// removeRunDir removes the lock with the rest; see machine.Lock.
func removeRunDir() error { return os.RemoveAll(layout.RunDir) }
