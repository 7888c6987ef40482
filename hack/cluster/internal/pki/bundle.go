// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"time"
)

// Users of the API server; each gets a certificate and a kubeconfig, both
// under this name.
const (
	Admin             = "admin"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Kubelet           = "kubelet"
	Proxy             = "kube-proxy"
	Provisioner       = "provisioner"
	// KubeletClient is the API server as a client of the kubelet.
	KubeletClient = "kubelet-client"
	// FrontProxy is the API server as a client of aggregated servers; it has
	// no kubeconfig.
	FrontProxy = "front-proxy-client"
)

// Plan is what the certificates depend on.
type Plan struct {
	// Server is the API server's address as clients reach it.
	Server string
	// ServerHosts are all names and addresses of the API server.
	ServerHosts []string
	// NodeName and NodeIP are the kubelet's.
	NodeName, NodeIP string
}

func (p Plan) clients() map[string]Subject {
	return map[string]Subject{
		Admin:             {Name: "orca-cluster-admin", Groups: []string{"system:masters"}},
		ControllerManager: {Name: "system:kube-controller-manager"},
		Scheduler:         {Name: "system:kube-scheduler"},
		Kubelet:           {Name: "system:node:" + p.NodeName, Groups: []string{"system:nodes"}},
		Proxy:             {Name: "system:kube-proxy"},
		Provisioner:       {Name: "orca-cluster-provisioner"},
		KubeletClient:     {Name: "kube-apiserver-kubelet-client", Groups: []string{"system:masters"}},
	}
}

func (p Plan) servers() map[string]Subject {
	return map[string]Subject{
		"apiserver":      {Name: "kube-apiserver", Hosts: p.ServerHosts},
		"kubelet-server": {Name: p.NodeName, Hosts: []string{p.NodeName, p.NodeIP}},
	}
}

// Ensure makes the folder with all keys, certificates and kubeconfigs, unless
// it is there. It appears as a whole or not at all.
func Ensure(dir string, plan Plan, now time.Time) error {
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	files, err := generate(plan, now)
	if err != nil {
		return fmt.Errorf("making the cluster's certificates: %w", err)
	}
	if err := writeAtomically(dir, files); err != nil {
		return fmt.Errorf("writing the cluster's certificates: %w", err)
	}
	return nil
}

// generate gives the contents of all files by name.
func generate(plan Plan, now time.Time) (map[string][]byte, error) {
	files := map[string][]byte{}
	ca, err := newAuthority("orca-cluster", now)
	if err != nil {
		return nil, err
	}
	addPair(files, "ca", ca.Pair)
	if err := issueAll(files, ca, plan.servers(), now); err != nil {
		return nil, err
	}
	if err := issueAll(files, ca, plan.clients(), now); err != nil {
		return nil, err
	}
	for name := range plan.clients() {
		files[name+".kubeconfig"] = kubeconfig(plan.Server, ca.Cert, Pair{files[name+".crt"], files[name+".key"]})
	}
	if err := addEtcd(files, now); err != nil {
		return nil, err
	}
	if err := addFrontProxy(files, now); err != nil {
		return nil, err
	}
	return files, addServiceAccountKeys(files)
}

func issueAll(files map[string][]byte, ca authority, subjects map[string]Subject, now time.Time) error {
	for name, subject := range subjects {
		pair, err := ca.issue(subject, now)
		if err != nil {
			return err
		}
		addPair(files, name, pair)
	}
	return nil
}

// addEtcd gives etcd an authority of its own: whoever holds one of its
// certificates reads and writes everything, past all access rules.
func addEtcd(files map[string][]byte, now time.Time) error {
	ca, err := newAuthority("orca-cluster-etcd", now)
	if err != nil {
		return err
	}
	addPair(files, "etcd-ca", ca.Pair)
	return issueAll(files, ca, map[string]Subject{
		"etcd":        {Name: "etcd", Hosts: []string{"127.0.0.1", "localhost"}},
		"etcd-client": {Name: "kube-apiserver"},
	}, now)
}

// addFrontProxy gives the API server an authority by which aggregated servers
// know that a request comes from it, and believe whom it names as the user.
func addFrontProxy(files map[string][]byte, now time.Time) error {
	ca, err := newAuthority("orca-cluster-front-proxy", now)
	if err != nil {
		return err
	}
	addPair(files, "front-proxy-ca", ca.Pair)
	return issueAll(files, ca, map[string]Subject{FrontProxy: {Name: FrontProxy}}, now)
}

func addServiceAccountKeys(files map[string][]byte) error {
	key, private, err := newKey()
	if err != nil {
		return err
	}
	public, err := encodePublic(key)
	if err != nil {
		return err
	}
	files["service-account.key"], files["service-account.pub"] = private, public
	return nil
}

func addPair(files map[string][]byte, name string, pair Pair) {
	maps.Copy(files, map[string][]byte{name + ".crt": pair.Cert, name + ".key": pair.Key})
}

func writeAtomically(dir string, files map[string][]byte) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), ".pki-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(tmp, name), content, 0o600); err != nil {
			return err
		}
	}
	return os.Rename(tmp, dir)
}
