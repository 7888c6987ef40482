// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var plan = Plan{
	Server:      "https://10.0.0.1:6443",
	ServerHosts: []string{"10.0.0.1", "kubernetes.default.svc"},
	NodeName:    "orca",
	NodeIP:      "10.0.0.1",
}

func ensureAt(t *testing.T, dir string) {
	t.Helper()
	if err := Ensure(dir, plan, time.Now()); err != nil {
		t.Fatal(err)
	}
}

func readCert(t *testing.T, dir, name string) *x509.Certificate {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name+".crt"))
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(b)
	if block == nil {
		t.Fatalf("%s.crt is not in PEM", name)
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func verify(t *testing.T, dir, ca string, cert *x509.Certificate, host string, usage x509.ExtKeyUsage) error {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AddCert(readCert(t, dir, ca))
	_, err := cert.Verify(x509.VerifyOptions{Roots: roots, DNSName: host, KeyUsages: []x509.ExtKeyUsage{usage}})
	return err
}

func TestCertificatesServeTheirPurpose(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pki")
	ensureAt(t, dir)
	const client, server = x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth
	cases := map[string]struct {
		name, ca, host string
		usage          x509.ExtKeyUsage
		refused        bool
	}{
		"the API server by its address":                {name: "apiserver", ca: "ca", host: "10.0.0.1", usage: server},
		"the API server by the name of its Service":    {name: "apiserver", ca: "ca", host: "kubernetes.default.svc", usage: server},
		"the API server by somebody else's name":       {name: "apiserver", ca: "ca", host: "example.com", usage: server, refused: true},
		"the kubelet by its address":                   {name: "kubelet-server", ca: "ca", host: "10.0.0.1", usage: server},
		"the administrator as a client":                {name: Admin, ca: "ca", usage: client},
		"the administrator as a server":                {name: Admin, ca: "ca", usage: server, refused: true},
		"etcd on loopback":                             {name: "etcd", ca: "etcd-ca", host: "127.0.0.1", usage: server},
		"etcd's client":                                {name: "etcd-client", ca: "etcd-ca", usage: client},
		"aggregated servers' client":                   {name: FrontProxy, ca: "front-proxy-ca", usage: client},
		"aggregated servers' client of the cluster":    {name: FrontProxy, ca: "ca", usage: client, refused: true},
		"etcd does not take the cluster's own clients": {name: Admin, ca: "etcd-ca", usage: client, refused: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := verify(t, dir, tc.ca, readCert(t, dir, tc.name), tc.host, tc.usage)
			if (err != nil) != tc.refused {
				t.Errorf("verification = %v, want refused: %v", err, tc.refused)
			}
		})
	}
}

func TestSubjectsAreThoseThatRBACKnows(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pki")
	ensureAt(t, dir)
	cases := map[string]struct {
		user   string
		groups []string
	}{
		Admin:             {"orca-cluster-admin", []string{"system:masters"}},
		Kubelet:           {"system:node:orca", []string{"system:nodes"}},
		ControllerManager: {"system:kube-controller-manager", nil},
		Scheduler:         {"system:kube-scheduler", nil},
		Proxy:             {"system:kube-proxy", nil},
		Provisioner:       {"orca-cluster-provisioner", nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			subject := readCert(t, dir, name).Subject
			if subject.CommonName != tc.user || !slices.Equal(subject.Organization, tc.groups) {
				t.Errorf("subject = %q of %q, want %q of %q", subject.CommonName, subject.Organization, tc.user, tc.groups)
			}
		})
	}
}

func TestEnsureKeepsWhatIsThere(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "pki")
	ensureAt(t, dir)
	before := readCert(t, dir, "ca").SerialNumber
	ensureAt(t, dir)
	if readCert(t, dir, "ca").SerialNumber.Cmp(before) != 0 {
		t.Error("the authority was made a second time")
	}
	entries, err := os.ReadDir(parent)
	if err != nil || len(entries) != 1 {
		t.Errorf("beside the folder there is %v, %v", entries, err)
	}
}

func TestKeysAreSecretAndFit(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pki")
	ensureAt(t, dir)
	keys, err := filepath.Glob(filepath.Join(dir, "*.key"))
	if err != nil || len(keys) < 10 {
		t.Fatalf("found %d keys, %v", len(keys), err)
	}
	for _, key := range keys {
		if st, err := os.Stat(key); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v", key, st.Mode(), err)
		}
		cert := strings.TrimSuffix(key, ".key") + ".crt"
		if filepath.Base(key) == "service-account.key" {
			continue
		}
		if _, err := tls.LoadX509KeyPair(cert, key); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
}

func TestEveryClientHasAKubeconfig(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pki")
	ensureAt(t, dir)
	for name := range plan.clients() {
		b, err := os.ReadFile(filepath.Join(dir, name+".kubeconfig"))
		if err != nil {
			t.Error(err)
			continue
		}
		if !strings.Contains(string(b), "server: "+plan.Server+"\n") {
			t.Errorf("%s.kubeconfig does not name the server", name)
		}
	}
}
