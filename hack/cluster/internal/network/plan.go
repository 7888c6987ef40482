// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package network gives the cluster its addresses on this machine, and keeps
// them apart from the machine's own network.
package network

import (
	"encoding/json"
	"fmt"
	"net/netip"
)

// The cluster's addresses. All lie in one private /16 that is rarely used.
var (
	// Cluster holds all the others.
	Cluster = netip.MustParsePrefix("10.213.0.0/16")
	// Node is the address of the only node and of the API server.
	Node = netip.MustParseAddr("10.213.0.1")
	// Pods is the range of pods.
	Pods = netip.MustParsePrefix("10.213.64.0/18")
	// Services is the range of Services.
	Services = netip.MustParsePrefix("10.213.128.0/20")
	// API is the Service "kubernetes", the first address of the range.
	API = netip.MustParseAddr("10.213.128.1")
	// DNS is the Service "kube-dns".
	DNS = netip.MustParseAddr("10.213.128.10")
)

// Device is the interface that has the node's address: a bridge without
// ports, as every kernel that runs containers has bridges.
const Device = "orca0"

// route is a line of `ip -json route`.
type route struct {
	Dst string `json:"dst"`
	Dev string `json:"dev"`
}

// conflict finds a route of somebody else's into the cluster's addresses. The
// default route is none: it is what remains when nothing better matches.
func conflict(routesJSON string) (string, error) {
	var routes []route
	if err := json.Unmarshal([]byte(routesJSON), &routes); err != nil {
		return "", fmt.Errorf("reading the routes of this machine: %w", err)
	}
	for _, r := range routes {
		dst, ok := parseDestination(r.Dst)
		if ok && dst.Bits() > 0 && dst.Overlaps(Cluster) && r.Dev != Device {
			return fmt.Sprintf("%s on %s", r.Dst, r.Dev), nil
		}
	}
	return "", nil
}

func parseDestination(dst string) (netip.Prefix, bool) {
	if prefix, err := netip.ParsePrefix(dst); err == nil {
		return prefix, true
	}
	addr, err := netip.ParseAddr(dst)
	if err != nil {
		return netip.Prefix{}, false
	}
	return netip.PrefixFrom(addr, addr.BitLen()), true
}
