// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/layout"
)

// A folder whose name needs quoting in every format.
var values = Values{
	Layout:     layout.Layout{Root: "/src", Dir: `/home/a "b" c/.orca`},
	CNIPlugins: "/usr/lib/cni",
	Runc:       "/usr/sbin/runc",
}

func render(t *testing.T) map[string]string {
	t.Helper()
	files, err := Render(values)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestRenderMakesEveryFile(t *testing.T) {
	files := render(t)
	for _, name := range []string{Containerd, KubeletYML, ProxyYML, CNI, ResolvConf, DNS, Storage} {
		content, ok := files[name]
		if !ok {
			t.Errorf("no file %s", name)
		}
		if strings.Contains(content, "{{") || strings.Contains(content, "<no value>") {
			t.Errorf("%s was not filled in:\n%s", name, content)
		}
	}
}

func TestYAMLFilesKeepTheirPaths(t *testing.T) {
	files := render(t)
	var kubelet struct {
		TLSCertFile  string `json:"tlsCertFile"`
		FailCgroupV1 *bool  `json:"failCgroupV1"`
		CgroupDriver string `json:"cgroupDriver"`
		ResolvConf   string `json:"resolvConf"`
	}
	if err := yaml.Unmarshal([]byte(files[KubeletYML]), &kubelet); err != nil {
		t.Fatal(err)
	}
	if want := values.Layout.PKI("kubelet-server.crt"); kubelet.TLSCertFile != want {
		t.Errorf("tlsCertFile = %q, want %q", kubelet.TLSCertFile, want)
	}
	if kubelet.FailCgroupV1 == nil || *kubelet.FailCgroupV1 || kubelet.CgroupDriver != "cgroupfs" {
		t.Errorf("the kubelet would refuse control groups of version 1: %+v", kubelet)
	}
	var proxy struct {
		Mode             string `json:"mode"`
		ClientConnection struct {
			Kubeconfig string `json:"kubeconfig"`
		} `json:"clientConnection"`
	}
	if err := yaml.Unmarshal([]byte(files[ProxyYML]), &proxy); err != nil {
		t.Fatal(err)
	}
	if want := values.Layout.PKI("kube-proxy.kubeconfig"); proxy.ClientConnection.Kubeconfig != want || proxy.Mode != "nftables" {
		t.Errorf("kube-proxy reads %q in mode %q, want %q", proxy.ClientConnection.Kubeconfig, proxy.Mode, want)
	}
}

func TestNetworkConfigurationIsJSON(t *testing.T) {
	var conf struct {
		Name    string
		Plugins []struct {
			Type string
			IPAM struct{ DataDir string }
		}
	}
	if err := json.Unmarshal([]byte(render(t)[CNI]), &conf); err != nil {
		t.Fatal(err)
	}
	if conf.Name != CNINetwork || len(conf.Plugins) != 1 || conf.Plugins[0].IPAM.DataDir != newData(values).IPAM {
		t.Errorf("the configuration reads as %+v", conf)
	}
}

func TestManifestsAreYAML(t *testing.T) {
	files := render(t)
	for doc := range strings.SplitSeq(files[DNS]+"---\n"+files[Storage], "\n---\n") {
		var object struct{ Kind string }
		if err := yaml.Unmarshal([]byte(doc), &object); err != nil || object.Kind == "" {
			t.Errorf("not an object (%v):\n%s", err, doc)
		}
	}
}

// TestSocketsFitIntoTheirLimit guards the reason for the folder below /run.
func TestSocketsFitIntoTheirLimit(t *testing.T) {
	const limit = 107
	for _, socket := range []string{
		layout.ContainerdSocket() + ".ttrpc",
		newData(values).ShimSockets + "/" + strings.Repeat("f", 64),
		layout.KubeletDir() + "/pod-resources/kubelet.sock",
	} {
		if len(socket) > limit {
			t.Errorf("the socket %s has %d bytes, more than %d", socket, len(socket), limit)
		}
	}
	// containerd has a limit of its own for the shims' folder.
	if got := len(newData(values).ShimSockets); got > 38 {
		t.Errorf("the shims' folder has %d bytes, more than 38", got)
	}
}
