// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
)

// Status lists the components, and the node and DNS as a user of the cluster
// sees them.
func (c *Cluster) Status(ctx context.Context, out io.Writer) error {
	holding, err := c.holding()
	if err != nil {
		return err
	}
	if holding.Dir == "" {
		_, err := fmt.Fprintln(out, "no cluster is running")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "COMPONENT\tPID\tSTATE")
	specs := c.specs(nil)
	for _, name := range componentNames {
		pid, state := c.componentState(ctx, name, specs[name].Ready)
		fmt.Fprintf(w, "%s\t%s\t%s\n", name, pid, state)
	}
	fmt.Fprintf(w, "node\t-\t%s\n", describe(c.nodeReady(ctx)))
	fmt.Fprintf(w, "dns\t-\t%s\n", describe(dnsReady(ctx)))
	return w.Flush()
}

func (c *Cluster) componentState(ctx context.Context, name string, ready probe) (pid, state string) {
	rec, alive, err := c.runner().Running(name)
	if err != nil {
		return "-", err.Error()
	}
	if !alive {
		return "-", "not running"
	}
	return fmt.Sprint(rec.PID), describe(ready(ctx))
}

func describe(err error) string {
	if err != nil {
		return "not ready: " + err.Error()
	}
	return "ready"
}
