// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"time"

	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/config"
	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/network"
	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/pki"
)

// probeLimit bounds one attempt to reach a component.
const probeLimit = 3 * time.Second

type probe func(context.Context) error

// get asks a server of the authority, as the named client.
func (c *Cluster) get(ca, client, url string) probe {
	return func(ctx context.Context) error {
		_, err := c.fetch(ctx, ca, client, url)
		return err
	}
}

func (c *Cluster) fetch(ctx context.Context, ca, client, url string) ([]byte, error) {
	authority, err := os.ReadFile(c.Layout.PKI(ca + ".crt"))
	if err != nil {
		return nil, err
	}
	pair, err := tls.LoadX509KeyPair(c.Layout.PKI(client+".crt"), c.Layout.PKI(client+".key"))
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	return fetchWith(ctx, &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}}, url)
}

// insecureGet asks a component that made its own certificate, on loopback.
func insecureGet(url string) probe {
	return func(ctx context.Context) error {
		_, err := fetchWith(ctx, &tls.Config{InsecureSkipVerify: true}, url)
		return err
	}
}

func plainGet(url string) probe {
	return func(ctx context.Context) error {
		_, err := fetchWith(ctx, nil, url)
		return err
	}
}

func fetchWith(ctx context.Context, config *tls.Config, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	// No proxy: the terminal's environment says nothing about this machine's
	// own addresses.
	client := http.Client{Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %s: %.300s", url, resp.Status, body)
	}
	return body, nil
}

// nodeReady looks at the node's Ready condition.
func (c *Cluster) nodeReady(ctx context.Context) error {
	body, err := c.fetch(ctx, "ca", pki.Admin, serverURL()+"/api/v1/nodes/"+config.NodeName)
	if err != nil {
		return err
	}
	return readyCondition(body)
}

func readyCondition(nodeJSON []byte) error {
	var node struct {
		Status struct {
			Conditions []struct{ Type, Status, Message string }
		}
	}
	if err := json.Unmarshal(nodeJSON, &node); err != nil {
		return fmt.Errorf("reading the node: %w", err)
	}
	for _, cond := range node.Status.Conditions {
		if cond.Type == "Ready" {
			if cond.Status == "True" {
				return nil
			}
			return fmt.Errorf("the node is not ready: %s", cond.Message)
		}
	}
	return fmt.Errorf("the node has no Ready condition yet")
}

// dnsReady asks for the API server's name the way pods do: at the Service's
// address, through kube-proxy's rules.
func dnsReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	resolver := net.Resolver{
		PreferGo: true,
		Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "udp", net.JoinHostPort(network.DNS.String(), "53"))
		},
	}
	addrs, err := resolver.LookupHost(ctx, "kubernetes.default.svc.cluster.local.")
	if err != nil {
		return err
	}
	if len(addrs) != 1 || addrs[0] != network.API.String() {
		return fmt.Errorf("kubernetes.default resolves to %v, want %s", addrs, network.API)
	}
	return nil
}

func command(ctx context.Context, path string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, args...).CombinedOutput()
	return string(out), err
}
