// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/machine"
)

// A packet must be accepted by every firewall on the machine. Many drop what
// they don't know, forwarded packets above all (Docker's does), so the cluster
// puts one rule before theirs, for packets between its own addresses, and
// knows it again by its comment.
const passComment = "orca-cluster"

// nftObject is an element of nft's JSON output, as far as it matters here.
type nftObject struct {
	Chain *nftChain `json:"chain"`
	Rule  *nftRule  `json:"rule"`
}

type nftChain struct {
	Family string `json:"family"`
	Table  string `json:"table"`
	Name   string `json:"name"`
	Type   string `json:"type"`
	Hook   string `json:"hook"`
}

type nftRule struct {
	Family  string `json:"family"`
	Table   string `json:"table"`
	Chain   string `json:"chain"`
	Handle  int    `json:"handle"`
	Comment string `json:"comment"`
}

func (c nftChain) path() []string { return []string{c.Family, c.Table, c.Name} }

func (r nftRule) path() []string { return []string{r.Family, r.Table, r.Chain} }

// filters reports whether the chain is a firewall of somebody else's that the
// cluster's packets go through.
func (c nftChain) filters() bool {
	return c.Type == "filter" &&
		(c.Hook == "input" || c.Hook == "forward") &&
		(c.Family == "ip" || c.Family == "inet") &&
		!slices.Contains(ownTables, c.Family+" "+c.Table)
}

// ensurePass puts the rule before those of every firewall that lacks it.
func ensurePass(ctx context.Context) error {
	chains, rules, err := listFilters(ctx)
	if err != nil {
		return err
	}
	for _, chain := range chains {
		if slices.ContainsFunc(rules, func(r nftRule) bool { return slices.Equal(r.path(), chain.path()) }) {
			continue
		}
		rule := append(append([]string{"insert", "rule"}, chain.path()...),
			"ip", "saddr", Cluster.String(), "ip", "daddr", Cluster.String(), "accept", "comment", strconv.Quote(passComment))
		if _, err := machine.Run(ctx, "nft", rule...); err != nil {
			return fmt.Errorf("letting the cluster's packets through the firewall: %w", err)
		}
	}
	return nil
}

func removePass(ctx context.Context) error {
	_, rules, err := listFilters(ctx)
	if err != nil {
		return err
	}
	for _, rule := range rules {
		args := append(append([]string{"delete", "rule"}, rule.path()...), "handle", strconv.Itoa(rule.Handle))
		if _, err := machine.Run(ctx, "nft", args...); err != nil {
			return err
		}
	}
	return nil
}

// listFilters gives the firewalls' chains and the cluster's rules in them.
func listFilters(ctx context.Context) ([]nftChain, []nftRule, error) {
	out, err := machine.Run(ctx, "nft", "--json", "list", "ruleset")
	if err != nil {
		return nil, nil, err
	}
	return parseFilters(out)
}

func parseFilters(ruleset string) (chains []nftChain, rules []nftRule, err error) {
	var all struct {
		Objects []nftObject `json:"nftables"`
	}
	if err := json.Unmarshal([]byte(ruleset), &all); err != nil {
		return nil, nil, fmt.Errorf("reading the nftables rules of this machine: %w", err)
	}
	for _, o := range all.Objects {
		if o.Chain != nil && o.Chain.filters() {
			chains = append(chains, *o.Chain)
		}
		if o.Rule != nil && o.Rule.Comment == passComment {
			rules = append(rules, *o.Rule)
		}
	}
	return chains, rules, nil
}
