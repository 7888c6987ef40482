// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package build makes the cluster's programs from their published source.
package build

import (
	"fmt"
	"slices"
	"strings"
)

// Program is one binary and where it comes from.
type Program struct {
	Name string
	// Module is the folder, below hack/cluster, of the Go module that pins it.
	Module string
	// Package is its main package.
	Package string
	// Tags are build tags.
	Tags []string
	// Version names the module whose version the program reports; VersionVars
	// are the linker symbols that it reads.
	Version     string
	VersionVars []string
}

const (
	kubernetesModule = "components/kubernetes"
	containerdModule = "components/containerd"
	containerdPath   = "github.com/containerd/containerd/v2"
)

// Programs are all of them, in the order of building: envtest's first, as
// they share most of their packages with the others.
var Programs = []Program{
	{Name: "etcd", Module: kubernetesModule, Package: "go.etcd.io/etcd/server/v3"},
	kubernetes("kube-apiserver"),
	kubernetes("kubectl"),
	kubernetes("kubelet"),
	kubernetes("kube-controller-manager"),
	kubernetes("kube-scheduler"),
	kubernetes("kube-proxy"),
	containerd("containerd"),
	containerd("containerd-shim-runc-v2"),
	containerd("ctr"),
	{Name: "provisioner", Module: "components/provisioner", Package: "."},
	{Name: "coredns", Module: "components/coredns", Package: "."},
	{Name: "pause", Module: ".", Package: "./pause"},
}

func kubernetes(name string) Program {
	return Program{
		Name:    name,
		Module:  kubernetesModule,
		Package: "k8s.io/kubernetes/cmd/" + name,
		Version: "k8s.io/kubernetes",
		// Without them the programs say v0.0.0, and clients that look at the
		// server's version take it for one older than all they know.
		VersionVars: []string{
			"k8s.io/component-base/version.gitVersion",
			"k8s.io/client-go/pkg/version.gitVersion",
		},
	}
}

func containerd(name string) Program {
	return Program{
		Name:        name,
		Module:      containerdModule,
		Package:     containerdPath + "/cmd/" + name,
		Tags:        []string{"no_btrfs", "no_zfs", "no_devmapper"},
		Version:     containerdPath,
		VersionVars: []string{containerdPath + "/version.Version"},
	}
}

// Select gives the named programs in building order; all if none is named.
func Select(names []string) ([]Program, error) {
	if len(names) == 0 {
		return Programs, nil
	}
	for _, name := range names {
		if !slices.ContainsFunc(Programs, func(p Program) bool { return p.Name == name }) {
			return nil, fmt.Errorf("--only: no program %q; there are %s", name, strings.Join(programNames(), ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(Programs), func(p Program) bool {
		return !slices.Contains(names, p.Name)
	}), nil
}

func programNames() []string {
	var names []string
	for _, p := range Programs {
		names = append(names, p.Name)
	}
	return names
}

// linkerFlags strip what only a debugger reads, and set the version.
func (p Program) linkerFlags(version string) string {
	flags := []string{"-s", "-w"}
	for _, symbol := range p.VersionVars {
		flags = append(flags, "-X "+symbol+"="+version)
	}
	return strings.Join(flags, " ")
}
