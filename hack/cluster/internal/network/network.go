// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/machine"
)

// CheckFree refuses a machine whose network already uses what the cluster is
// about to use. It is asked only before the first start.
func CheckFree(ctx context.Context) error {
	out, err := machine.Run(ctx, "ip", "-json", "route", "show", "table", "all")
	if err != nil {
		return err
	}
	found, err := conflict(out)
	if err != nil {
		return err
	}
	if found != "" {
		return fmt.Errorf("the cluster's addresses %s are in use on this machine: route %s", Cluster, found)
	}
	tables, err := machine.Run(ctx, "nft", "list", "tables")
	if err != nil {
		return err
	}
	if strings.Contains(tables, "ip kube-proxy\n") {
		return errors.New("another kube-proxy works on this machine: nftables has a table \"ip kube-proxy\"")
	}
	return nil
}

// Ensure makes the interface and the packet filter; both may be there already.
func Ensure(ctx context.Context) error {
	if err := ensureDevice(ctx); err != nil {
		return fmt.Errorf("setting up the interface %s: %w", Device, err)
	}
	if _, err := machine.RunInput(ctx, filterRules(), "nft", "-f", "-"); err != nil {
		return fmt.Errorf("setting up the packet filter: %w", err)
	}
	return ensurePass(ctx)
}

func ensureDevice(ctx context.Context) error {
	if !linkExists(Device) {
		if _, err := machine.Run(ctx, "ip", "link", "add", Device, "type", "bridge"); err != nil {
			return err
		}
	}
	// The address covers the whole range: what has no better route ends at
	// this interface, behind which there is nobody, and not at the machine's
	// default gateway.
	address := fmt.Sprintf("%s/%d", Node, Cluster.Bits())
	if _, err := machine.Run(ctx, "ip", "address", "replace", address, "dev", Device); err != nil {
		return err
	}
	_, err := machine.Run(ctx, "ip", "link", "set", Device, "up")
	return err
}

func linkExists(name string) bool {
	_, err := net.InterfaceByName(name)
	return err == nil
}

// Remove takes away all interfaces and rules of the cluster, those that its
// components made included.
func Remove(ctx context.Context) error {
	return errors.Join(removePodLinks(ctx), removeDevice(ctx), removeTables(ctx), removePass(ctx))
}

// removePodLinks finds the pods' interfaces by their routes.
func removePodLinks(ctx context.Context) error {
	out, err := machine.Run(ctx, "ip", "route", "show", "root", Pods.String())
	if err != nil {
		return err
	}
	for _, dev := range podLinks(out) {
		// A pod's interface goes by itself with the pod's network namespace.
		if _, err := machine.Run(ctx, "ip", "link", "delete", dev); err != nil && linkExists(dev) {
			return err
		}
	}
	return nil
}

// podLinks reads lines such as "10.213.64.5 dev veth12ab scope host".
func podLinks(routes string) []string {
	var devs []string
	for line := range strings.Lines(routes) {
		fields := strings.Fields(line)
		if len(fields) >= 3 && fields[1] == "dev" && strings.HasPrefix(fields[2], podLinkPrefix) {
			devs = append(devs, fields[2])
		}
	}
	return devs
}

func removeDevice(ctx context.Context) error {
	if !linkExists(Device) {
		return nil
	}
	_, err := machine.Run(ctx, "ip", "link", "delete", Device)
	return err
}
