// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"slices"
	"strings"
	"testing"

	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/layout"
)

func TestIsShim(t *testing.T) {
	const program, socket = "/s/bin/containerd-shim-runc-v2", "/run/orca-cluster/containerd.sock"
	cases := map[string]struct {
		args []string
		want bool
	}{
		"one of this cluster":        {[]string{program, "-namespace", "k8s.io", "-id", "x", "-address", socket}, true},
		"one of another containerd":  {[]string{program, "-namespace", "k8s.io", "-address", "/run/containerd/containerd.sock"}, false},
		"another program":            {[]string{"/usr/bin/containerd-shim-runc-v2", "-address", socket}, false},
		"the socket without a flag":  {[]string{program, socket}, false},
		"the flag without a socket":  {[]string{program, "-address"}, false},
		"a kernel thread":            {[]string{""}, false},
		"one that is told of itself": {[]string{"vi", program, "-address", socket}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			cmdline := strings.Join(tc.args, "\x00") + "\x00"
			if got := isShim([]byte(cmdline), program, socket); got != tc.want {
				t.Errorf("isShim() = %v, want %v", got, tc.want)
			}
		})
	}
	if isShim(nil, program, socket) {
		t.Error("a process without a command line is taken for a shim")
	}
}

func TestReadyCondition(t *testing.T) {
	cases := map[string]struct {
		node    string
		wantErr string
	}{
		"ready":            {node: `{"status":{"conditions":[{"type":"MemoryPressure","status":"False"},{"type":"Ready","status":"True"}]}}`},
		"not ready":        {node: `{"status":{"conditions":[{"type":"Ready","status":"False","message":"no network"}]}}`, wantErr: "no network"},
		"just registered":  {node: `{"status":{}}`, wantErr: "no Ready condition"},
		"something broken": {node: `{`, wantErr: "reading the node"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := readyCondition([]byte(tc.node))
			if tc.wantErr == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("readyCondition() = %v, want %q", err, tc.wantErr)
			}
		})
	}
}

func TestEveryComponentIsStartedAndStopped(t *testing.T) {
	c := &Cluster{Layout: layout.Layout{Root: "/src", Dir: "/src/.orca"}}
	specs := c.specs(map[string]string{})
	if len(specs) != len(componentNames) {
		t.Errorf("%d specs for %d names", len(specs), len(componentNames))
	}
	stopped := map[string]bool{}
	for _, name := range slices.Concat(stopFirst, stopNext, stopLast) {
		stopped[name] = true
	}
	for _, name := range componentNames {
		if spec := specs[name]; spec.Path != "/src/.orca/bin/"+name || spec.Ready == nil {
			t.Errorf("%s: path %q, ready %v", name, spec.Path, spec.Ready != nil)
		}
		if !stopped[name] {
			t.Errorf("%s is never stopped", name)
		}
	}
}

func TestComponentsListenOnTheirOwnAddressesOnly(t *testing.T) {
	c := &Cluster{Layout: layout.Layout{Root: "/src", Dir: "/src/.orca"}}
	for name, spec := range c.specs(map[string]string{}) {
		for _, arg := range spec.Args {
			if strings.Contains(arg, "0.0.0.0") || strings.Contains(arg, "[::]") {
				t.Errorf("%s listens everywhere: %s", name, arg)
			}
		}
	}
}
