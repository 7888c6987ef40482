// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/machine"
)

const (
	// podLinkPrefix begins the names that the ptp plugin gives to the pods'
	// interfaces on the node's side.
	podLinkPrefix = "veth"
	filterTable   = "inet orca-cluster"
)

// ownTables are all nftables tables that the cluster makes; the last two are
// kube-proxy's.
var ownTables = []string{filterTable, "ip kube-proxy", "ip6 kube-proxy"}

// filterRules keep the cluster to itself: nobody outside this machine reaches
// its addresses, though this machine would forward to them, and no pod reaches
// anything outside.
func filterRules() string {
	return fmt.Sprintf(`table %[1]s
flush table %[1]s
table %[1]s {
	chain input {
		type filter hook input priority filter - 10
		iifname != "lo" iifname != "%[2]s*" ip daddr %[3]s drop
	}
	chain forward {
		type filter hook forward priority filter - 10
		ip saddr %[3]s ip daddr != %[3]s reject with icmpx admin-prohibited
		ip daddr %[3]s ip saddr != %[3]s drop
		iifname != "%[2]s*" ip daddr %[3]s drop
	}
}
`, filterTable, podLinkPrefix, Cluster)
}

func removeTables(ctx context.Context) error {
	out, err := machine.Run(ctx, "nft", "list", "tables")
	if err != nil {
		return err
	}
	for line := range strings.Lines(out) {
		table := strings.TrimPrefix(strings.TrimSpace(line), "table ")
		if !slices.Contains(ownTables, table) {
			continue
		}
		if _, err := machine.Run(ctx, "nft", append([]string{"delete", "table"}, strings.Fields(table)...)...); err != nil {
			return err
		}
	}
	return nil
}
