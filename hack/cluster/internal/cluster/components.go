// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"net"
	"strings"

	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/component"
	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/config"
	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/layout"
	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/network"
	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/pki"
)

// Names of the components, which are also those of their programs.
const (
	etcdName       = "etcd"
	apiserverName  = "kube-apiserver"
	controllerName = "kube-controller-manager"
	schedulerName  = "kube-scheduler"
	containerdName = "containerd"
	kubeletName    = "kubelet"
	proxyName      = "kube-proxy"
	// provisionerName is of the one that makes persistent volumes.
	provisionerName = "provisioner"
)

// componentNames are in the order of starting.
var componentNames = []string{etcdName, containerdName, apiserverName, controllerName, schedulerName, kubeletName, proxyName, provisionerName}

const (
	etcdClient = "https://127.0.0.1:12379"
	etcdPeer   = "https://127.0.0.1:12380"
	apiPort    = "6443"
	// provisionerPort is on loopback.
	provisionerPort = "10270"
)

func serverURL() string { return "https://" + net.JoinHostPort(network.Node.String(), apiPort) }

// specs describes all components by name. Files are the rendered
// configurations.
func (c *Cluster) specs(files map[string]string) map[string]component.Spec {
	all := []component.Spec{
		c.etcd(), c.containerd(files), c.apiserver(), c.controllerManager(), c.scheduler(), c.kubelet(files), c.proxy(files), c.provisioner(),
	}
	byName := map[string]component.Spec{}
	for _, s := range all {
		s.Path = c.Layout.Bin(s.Name)
		s.Env = []string{
			"PATH=" + c.Layout.BinDir() + ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
			"HOME=" + c.Layout.State(),
		}
		byName[s.Name] = s
	}
	return byName
}

func (c *Cluster) etcd() component.Spec {
	return component.Spec{
		Name: etcdName,
		Args: []string{
			"--name=orca",
			"--data-dir=" + c.Layout.State("etcd"),
			// The data lives no longer than the cluster.
			"--unsafe-no-fsync",
			"--listen-client-urls=" + etcdClient,
			"--advertise-client-urls=" + etcdClient,
			"--listen-peer-urls=" + etcdPeer,
			"--initial-advertise-peer-urls=" + etcdPeer,
			"--initial-cluster=orca=" + etcdPeer,
			"--client-cert-auth", "--peer-client-cert-auth",
			"--trusted-ca-file=" + c.Layout.PKI("etcd-ca.crt"),
			"--peer-trusted-ca-file=" + c.Layout.PKI("etcd-ca.crt"),
			"--cert-file=" + c.Layout.PKI("etcd.crt"),
			"--key-file=" + c.Layout.PKI("etcd.key"),
			"--peer-cert-file=" + c.Layout.PKI("etcd.crt"),
			"--peer-key-file=" + c.Layout.PKI("etcd.key"),
			"--log-level=warn",
		},
		Ready: c.get("etcd-ca", "etcd-client", etcdClient+"/health"),
	}
}

func (c *Cluster) apiserver() component.Spec {
	return component.Spec{
		Name: apiserverName,
		Args: []string{
			"--etcd-servers=" + etcdClient,
			"--etcd-cafile=" + c.Layout.PKI("etcd-ca.crt"),
			"--etcd-certfile=" + c.Layout.PKI("etcd-client.crt"),
			"--etcd-keyfile=" + c.Layout.PKI("etcd-client.key"),
			"--bind-address=" + network.Node.String(),
			"--advertise-address=" + network.Node.String(),
			"--secure-port=" + apiPort,
			"--tls-cert-file=" + c.Layout.PKI("apiserver.crt"),
			"--tls-private-key-file=" + c.Layout.PKI("apiserver.key"),
			"--client-ca-file=" + c.Layout.PKI("ca.crt"),
			"--service-cluster-ip-range=" + network.Services.String(),
			"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
			"--service-account-key-file=" + c.Layout.PKI("service-account.pub"),
			"--service-account-signing-key-file=" + c.Layout.PKI("service-account.key"),
			"--authorization-mode=Node,RBAC",
			"--enable-admission-plugins=NodeRestriction",
			"--allow-privileged=true",
			"--kubelet-certificate-authority=" + c.Layout.PKI("ca.crt"),
			"--kubelet-client-certificate=" + c.Layout.PKI(pki.KubeletClient+".crt"),
			"--kubelet-client-key=" + c.Layout.PKI(pki.KubeletClient+".key"),
			"--requestheader-client-ca-file=" + c.Layout.PKI("front-proxy-ca.crt"),
			"--requestheader-allowed-names=" + pki.FrontProxy,
			"--requestheader-username-headers=X-Remote-User",
			"--requestheader-group-headers=X-Remote-Group",
			"--requestheader-extra-headers-prefix=X-Remote-Extra-",
			"--proxy-client-cert-file=" + c.Layout.PKI(pki.FrontProxy+".crt"),
			"--proxy-client-key-file=" + c.Layout.PKI(pki.FrontProxy+".key"),
			// The node's name is in no DNS; logs and exec go to its address.
			"--kubelet-preferred-address-types=InternalIP",
			// Webhooks are called at their pods' addresses.
			"--enable-aggregator-routing=true",
			"--profiling=false",
		},
		Ready: c.get("ca", pki.Admin, serverURL()+"/readyz"),
	}
}

func (c *Cluster) controllerManager() component.Spec {
	kubeconfig := c.Layout.PKI(pki.ControllerManager + ".kubeconfig")
	return component.Spec{
		Name: controllerName,
		Args: []string{
			"--kubeconfig=" + kubeconfig,
			"--authentication-kubeconfig=" + kubeconfig,
			"--authorization-kubeconfig=" + kubeconfig,
			"--bind-address=127.0.0.1",
			"--leader-elect=false",
			"--use-service-account-credentials=true",
			"--service-account-private-key-file=" + c.Layout.PKI("service-account.key"),
			"--root-ca-file=" + c.Layout.PKI("ca.crt"),
			"--cluster-signing-cert-file=" + c.Layout.PKI("ca.crt"),
			"--cluster-signing-key-file=" + c.Layout.PKI("ca.key"),
			"--allocate-node-cidrs=false",
			"--flex-volume-plugin-dir=" + c.Layout.State("volume-plugins"),
			"--profiling=false",
		},
		Ready: insecureGet("https://127.0.0.1:10257/healthz"),
	}
}

func (c *Cluster) scheduler() component.Spec {
	kubeconfig := c.Layout.PKI(pki.Scheduler + ".kubeconfig")
	return component.Spec{
		Name: schedulerName,
		Args: []string{
			"--kubeconfig=" + kubeconfig,
			"--authentication-kubeconfig=" + kubeconfig,
			"--authorization-kubeconfig=" + kubeconfig,
			"--bind-address=127.0.0.1",
			"--leader-elect=false",
			"--profiling=false",
		},
		Ready: insecureGet("https://127.0.0.1:10259/healthz"),
	}
}

func (c *Cluster) containerd(files map[string]string) component.Spec {
	return component.Spec{
		Name:   containerdName,
		Args:   []string{"--config", c.Layout.State("config", config.Containerd)},
		Inputs: []string{files[config.Containerd]},
		Ready:  c.containerdReady,
	}
}

func (c *Cluster) kubelet(files map[string]string) component.Spec {
	return component.Spec{
		Name: kubeletName,
		Args: []string{
			"--config=" + c.Layout.State("config", config.KubeletYML),
			"--kubeconfig=" + c.Layout.PKI(pki.Kubelet+".kubeconfig"),
			"--root-dir=" + layout.KubeletDir(),
			"--cert-dir=" + c.Layout.State("kubelet-certs"),
			"--hostname-override=" + config.NodeName,
			"--node-ip=" + network.Node.String(),
		},
		Inputs: []string{files[config.KubeletYML]},
		Ready:  plainGet("http://127.0.0.1:10248/healthz"),
	}
}

func (c *Cluster) proxy(files map[string]string) component.Spec {
	return component.Spec{
		Name:   proxyName,
		Args:   []string{"--config=" + c.Layout.State("config", config.ProxyYML)},
		Inputs: []string{files[config.ProxyYML]},
		Ready:  plainGet("http://127.0.0.1:10256/livez"),
	}
}

// provisioner makes a folder for each claim of the default storage class. They
// are part of the state: no volume outlives the cluster, whose claims don't.
func (c *Cluster) provisioner() component.Spec {
	return component.Spec{
		Name: provisionerName,
		Args: []string{
			"--kubeconfig=" + c.Layout.PKI(pki.Provisioner+".kubeconfig"),
			"--dir=" + c.Layout.State("volumes"),
			"--node=" + config.NodeName,
			"--port=" + provisionerPort,
		},
		Ready: plainGet("http://" + net.JoinHostPort("127.0.0.1", provisionerPort) + "/metrics"),
	}
}

// containerdReady asks for the version over the socket.
func (c *Cluster) containerdReady(ctx context.Context) error {
	out, err := command(ctx, c.Layout.Bin("ctr"), "--address", layout.ContainerdSocket(), "version")
	if err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(out))
	}
	return nil
}
