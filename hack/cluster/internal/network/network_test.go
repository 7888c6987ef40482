// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/machine"
)

func TestPlanIsConsistent(t *testing.T) {
	for name, addr := range map[string]netip.Addr{"node": Node, "pods": Pods.Addr(), "services": Services.Addr()} {
		if !Cluster.Contains(addr) {
			t.Errorf("%s (%s) is outside %s", name, addr, Cluster)
		}
	}
	for name, addr := range map[string]netip.Addr{"API": API, "DNS": DNS} {
		if !Services.Contains(addr) {
			t.Errorf("%s (%s) is outside the Services' range %s", name, addr, Services)
		}
	}
	if Pods.Overlaps(Services) || Pods.Contains(Node) || Services.Contains(Node) {
		t.Error("the ranges overlap")
	}
	if first := Services.Addr().Next(); first != API {
		t.Errorf("the API server's Service gets %s, not %s", first, API)
	}
}

func TestConflict(t *testing.T) {
	cases := map[string]struct {
		routes string
		want   string
	}{
		"only a default route":               {routes: `[{"dst":"default","dev":"eth0"}]`},
		"another private network":            {routes: `[{"dst":"10.0.0.0/16","dev":"eth0"}]`},
		"a network that holds the cluster's": {routes: `[{"dst":"10.0.0.0/8","dev":"tun0"}]`, want: "10.0.0.0/8 on tun0"},
		"a network inside the cluster's":     {routes: `[{"dst":"10.213.5.0/24","dev":"docker0"}]`, want: "10.213.5.0/24 on docker0"},
		"a single address of the cluster's":  {routes: `[{"dst":"10.213.0.1","dev":"lo"}]`, want: "10.213.0.1 on lo"},
		"the cluster's own interface":        {routes: `[{"dst":"10.213.0.0/16","dev":"orca0"}]`},
		"IPv6":                               {routes: `[{"dst":"fe80::/64","dev":"eth0"},{"dst":"::1","dev":"lo"}]`},
		"everything, written as a range":     {routes: `[{"dst":"0.0.0.0/0","dev":"eth0"}]`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := conflict(tc.routes)
			if err != nil || got != tc.want {
				t.Errorf("conflict() = %q, %v, want %q", got, err, tc.want)
			}
		})
	}
	if _, err := conflict("no json"); err == nil {
		t.Error("conflict() accepts what it can't read")
	}
}

func TestParseFilters(t *testing.T) {
	const ruleset = `{"nftables": [
		{"metainfo": {"version": "1.0.6"}},
		{"table": {"family": "ip", "name": "filter", "handle": 1}},
		{"chain": {"family": "ip", "table": "filter", "name": "FORWARD", "handle": 1, "type": "filter", "hook": "forward", "prio": 0, "policy": "drop"}},
		{"chain": {"family": "ip", "table": "filter", "name": "OUTPUT", "handle": 2, "type": "filter", "hook": "output", "prio": 0, "policy": "accept"}},
		{"chain": {"family": "ip", "table": "filter", "name": "DOCKER", "handle": 3}},
		{"chain": {"family": "ip", "table": "nat", "name": "INPUT", "handle": 3, "type": "nat", "hook": "input", "prio": 0, "policy": "accept"}},
		{"chain": {"family": "ip6", "table": "filter", "name": "FORWARD", "handle": 4, "type": "filter", "hook": "forward", "prio": 0, "policy": "drop"}},
		{"chain": {"family": "inet", "table": "firewalld", "name": "filter_INPUT", "handle": 5, "type": "filter", "hook": "input", "prio": 10, "policy": "accept"}},
		{"chain": {"family": "ip", "table": "kube-proxy", "name": "filter-forward", "handle": 6, "type": "filter", "hook": "forward", "prio": -110, "policy": "accept"}},
		{"chain": {"family": "inet", "table": "orca-cluster", "name": "forward", "handle": 7, "type": "filter", "hook": "forward", "prio": -10, "policy": "accept"}},
		{"rule": {"family": "ip", "table": "filter", "chain": "FORWARD", "handle": 9, "comment": "orca-cluster", "expr": [{"accept": null}]}},
		{"rule": {"family": "ip", "table": "filter", "chain": "FORWARD", "handle": 8, "comment": "mine", "expr": [{"xt": null}]}}
	]}`
	chains, rules, err := parseFilters(ruleset)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range chains {
		got = append(got, strings.Join(c.path(), " "))
	}
	if want := []string{"ip filter FORWARD", "inet firewalld filter_INPUT"}; !slices.Equal(got, want) {
		t.Errorf("chains = %q, want %q", got, want)
	}
	if len(rules) != 1 || rules[0].Handle != 9 {
		t.Errorf("rules = %+v, want the one of handle 9", rules)
	}
}

func TestPodLinks(t *testing.T) {
	got := podLinks("10.213.64.2 dev veth1a scope host \n10.213.64.9 dev vethff scope host \n10.213.64.0/24 dev eth0 \n")
	if want := []string{"veth1a", "vethff"}; !slices.Equal(got, want) {
		t.Errorf("podLinks() = %q, want %q", got, want)
	}
}

// TestFilterRules has the real program check the rules, without applying them.
func TestFilterRules(t *testing.T) {
	nft, err := machine.Find("nft")
	if err != nil || os.Geteuid() != 0 {
		t.Skip("needs root and nft")
	}
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), nft, "--check", "-f", "-")
	cmd.Stdin = strings.NewReader(filterRules())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("nft refuses the rules: %v\n%s", err, out)
	}
}
