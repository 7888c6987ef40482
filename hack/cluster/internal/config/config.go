// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package config renders the configuration files of the cluster's components.
package config

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"text/template"

	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/cgroup"
	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/layout"
	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/network"
)

//go:embed templates
var templates embed.FS

// Files that Render makes.
const (
	Containerd = "containerd.toml"
	KubeletYML = "kubelet.yaml"
	ProxyYML   = "kube-proxy.yaml"
	CNI        = "10-orca.conflist"
	ResolvConf = "resolv.conf"
	DNS        = "dns.yaml"
	Storage    = "storage.yaml"
)

// Names that more than one component knows.
const (
	NodeName     = "orca"
	PauseImage   = "orca.dev/pause:dev"
	CoreDNSImage = "orca.dev/coredns:dev"
	// CNINetwork begins the names of the files that the plugins' library
	// leaves in a folder of the machine.
	CNINetwork = "orca-cluster"
)

// Values are what differs between machines and checkouts.
type Values struct {
	Layout layout.Layout
	// CNIPlugins is the folder of the network plugins, Runc the program; both
	// are the machine's.
	CNIPlugins, Runc string
}

// data are the templates' names for everything that they are filled with.
type data struct {
	layout.Layout
	CNIPlugins, Runc, CNINetwork, CNIConfig, IPAM              string
	NodeName, NodeIP, DNS, Pods, CgroupRoot                    string
	PauseImage, CoreDNSImage                                   string
	ContainerdSocket, ContainerdState, ContainerdRoot          string
	ShimSockets, RuncState, ResolvConf, PodLogs, VolumePlugins string
}

func newData(v Values) data {
	return data{
		Layout:           v.Layout,
		CNIPlugins:       v.CNIPlugins,
		Runc:             v.Runc,
		CNINetwork:       CNINetwork,
		CNIConfig:        v.Layout.State("cni"),
		IPAM:             layout.Run("ipam"),
		NodeName:         NodeName,
		NodeIP:           network.Node.String(),
		DNS:              network.DNS.String(),
		Pods:             network.Pods.String(),
		CgroupRoot:       cgroup.Name,
		PauseImage:       PauseImage,
		CoreDNSImage:     CoreDNSImage,
		ContainerdSocket: layout.ContainerdSocket(),
		ContainerdState:  layout.Run("containerd"),
		ContainerdRoot:   v.Layout.State("containerd"),
		ShimSockets:      layout.Run("shims"),
		RuncState:        layout.Run("runc"),
		ResolvConf:       v.Layout.State("config", ResolvConf),
		PodLogs:          v.Layout.State("pod-logs"),
		VolumePlugins:    v.Layout.State("volume-plugins"),
	}
}

// Render gives the contents of all files by name.
func Render(v Values) (map[string]string, error) {
	funcs := template.FuncMap{"json": toJSON}
	all, err := template.New("").Funcs(funcs).Option("missingkey=error").ParseFS(templates, "templates/*")
	if err != nil {
		return nil, fmt.Errorf("reading the templates: %w", err)
	}
	files := map[string]string{}
	for _, t := range all.Templates() {
		if t.Tree == nil {
			continue
		}
		var out bytes.Buffer
		if err := t.Execute(&out, newData(v)); err != nil {
			return nil, fmt.Errorf("rendering %s: %w", t.Name(), err)
		}
		files[t.Name()] = out.String()
	}
	return files, nil
}

// toJSON quotes a string so that YAML and JSON both read it back.
func toJSON(v string) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}
