// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/build"
	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/cgroup"
	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/config"
	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/layout"
	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/machine"
	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/mounts"
	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/network"
	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/pki"
)

// componentLimit is how long one component may take to serve. The API server
// is the slowest, on a machine that does other things besides.
const componentLimit = 3 * time.Minute

// Up starts whatever of the cluster doesn't run, and returns when the node is
// ready and names resolve.
func (c *Cluster) Up(ctx context.Context) error {
	if err := requireRoot(); err != nil {
		return err
	}
	unlock, err := c.lockState(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	// It is asked again under the machine's lock; here it saves the time of
	// building for nothing.
	if _, err := c.holding(); err != nil {
		return err
	}
	if err := machine.Ensure(ctx, machine.NodeNeeds(), c.Progress); err != nil {
		return err
	}
	if err := c.builder().Ensure(ctx, build.Programs); err != nil {
		return err
	}
	unlockMachine, err := c.lockMachine(ctx)
	if err != nil {
		return err
	}
	defer unlockMachine()
	return c.start(ctx)
}

func (c *Cluster) start(ctx context.Context) error {
	if err := c.hold(ctx); err != nil {
		return err
	}
	files, err := c.prepare(ctx)
	if err != nil {
		return err
	}
	if err := c.startComponents(ctx, files); err != nil {
		return err
	}
	if err := c.applyAddons(ctx, files[config.DNS], files[config.Storage]); err != nil {
		return err
	}
	if err := c.awaitNode(ctx); err != nil {
		return err
	}
	return c.publish()
}

// hold claims the machine for this state folder. What a folder that doesn't
// hold it yet has of state is from before a restart of the machine, in the
// middle of which it may have been cut off, and is thrown away.
func (c *Cluster) hold(ctx context.Context) error {
	holding, err := c.holding()
	if err != nil {
		return err
	}
	if holding.Dir != "" && !holding.Leaving {
		return nil
	}
	if holding.Leaving {
		if err := c.takeDown(ctx); err != nil {
			return fmt.Errorf("finishing an interrupted down: %w", err)
		}
	}
	return c.claimAfresh(ctx)
}

func (c *Cluster) claimAfresh(ctx context.Context) error {
	if err := network.CheckFree(ctx); err != nil {
		return err
	}
	if err := c.removeState(); err != nil {
		return fmt.Errorf("removing the state of an earlier cluster: %w", err)
	}
	if err := os.RemoveAll(c.Layout.LogDir()); err != nil {
		return fmt.Errorf("removing the logs of an earlier cluster: %w", err)
	}
	if err := claim().Take(c.Layout.Dir); err != nil {
		return fmt.Errorf("claiming this machine: %w", err)
	}
	return nil
}

// prepare makes everything that components find when they start.
func (c *Cluster) prepare(ctx context.Context) (files map[string]string, err error) {
	if err := pki.Ensure(c.Layout.State("pki"), certificatePlan(), time.Now()); err != nil {
		return nil, err
	}
	if files, err = c.writeConfig(); err != nil {
		return nil, fmt.Errorf("writing the configuration: %w", err)
	}
	if err := sysctls().Apply(); err != nil {
		return nil, err
	}
	if err := cgroup.Create(); err != nil {
		return nil, err
	}
	if err := c.mountKubeletDir(); err != nil {
		return nil, err
	}
	return files, network.Ensure(ctx)
}

func certificatePlan() pki.Plan {
	return pki.Plan{
		Server:   serverURL(),
		NodeName: config.NodeName,
		NodeIP:   network.Node.String(),
		ServerHosts: []string{
			network.Node.String(), network.API.String(),
			"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
		},
	}
}

func (c *Cluster) writeConfig() (map[string]string, error) {
	plugins, err := machine.CNIDir()
	if err != nil {
		return nil, err
	}
	runc, err := machine.Find("runc")
	if err != nil {
		return nil, err
	}
	files, err := config.Render(config.Values{Layout: c.Layout, CNIPlugins: plugins, Runc: runc})
	if err != nil {
		return nil, err
	}
	for name, content := range files {
		dir := c.Layout.State("config")
		if name == config.CNI {
			dir = c.Layout.State("cni")
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
		if err := replaceFile(filepath.Join(dir, name), []byte(content)); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// mountKubeletDir shows the kubelet's folder at a short path.
func (c *Cluster) mountKubeletDir() error {
	for _, dir := range []string{c.Layout.State("kubelet"), layout.KubeletDir()} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("creating the kubelet's folder: %w", err)
		}
	}
	mounted, err := mounts.IsMountPoint(layout.KubeletDir())
	if err != nil || mounted {
		return err
	}
	return mounts.Bind(c.Layout.State("kubelet"), layout.KubeletDir())
}

// startComponents starts them in order, each when the one before serves.
func (c *Cluster) startComponents(ctx context.Context, files map[string]string) error {
	specs := c.specs(files)
	for _, name := range componentNames {
		spec := specs[name]
		began := time.Now()
		started, err := c.runner().Ensure(ctx, spec)
		if err != nil {
			return err
		}
		if err := c.runner().WaitReady(ctx, spec, componentLimit); err != nil {
			return err
		}
		if started {
			c.Progress.Say("%s: serving after %s", name, time.Since(began).Round(100*time.Millisecond))
		}
	}
	return nil
}

// awaitNode waits for what only the components together bring about.
func (c *Cluster) awaitNode(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, componentLimit)
	defer cancel()
	if err := poll(ctx, c.nodeReady); err != nil {
		return fmt.Errorf("the node did not become ready; see %s: %w", c.runner().LogPath(kubeletName), err)
	}
	if err := poll(ctx, dnsReady); err != nil {
		return fmt.Errorf("DNS does not answer at %s; see the pods in kube-system and %s: %w", network.DNS, c.runner().LogPath(proxyName), err)
	}
	return nil
}

// poll repeats the probe until it succeeds; at the end of the time it gives
// the probe's own last error.
func poll(ctx context.Context, try probe) error {
	for {
		err := try(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// publish writes the administrator's kubeconfig where everybody looks for it.
func (c *Cluster) publish() error {
	content, err := os.ReadFile(c.Layout.PKI(pki.Admin + ".kubeconfig"))
	if err != nil {
		return err
	}
	if err := replaceFile(c.Layout.Kubeconfig(), content); err != nil {
		return fmt.Errorf("writing the kubeconfig: %w", err)
	}
	c.Progress.Say("the cluster is ready: export KUBECONFIG=%s", c.Layout.Kubeconfig())
	return nil
}

// replaceFile never leaves half a file behind.
func replaceFile(path string, content []byte) error {
	tmp := path + ".tmp"
	if err := os.WriteFile(tmp, content, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}
