// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/orca-agent-engine/orca-operator/controllers/certificates"
)

const serverName = "orca-webhook.orca-system.svc"

// greet connects to a manager's webhooks as an API server does that trusts a
// bundle, and returns the certificate that it meets.
func (p *process) greet(bundle []byte) (*x509.Certificate, error) {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(bundle)
	connection, err := tls.Dial("tcp", fmt.Sprintf("localhost:%d", p.webhookPort), &tls.Config{RootCAs: roots, ServerName: serverName})
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	return connection.ConnectionState().PeerCertificates[0], nil
}

func (c *cluster) secret(t *testing.T) *corev1.Secret {
	t.Helper()
	secret := &corev1.Secret{}
	if err := c.user.Get(t.Context(), client.ObjectKey{Namespace: "orca-system", Name: certificates.SecretName}, secret); err != nil {
		t.Fatal(err)
	}
	return secret
}

// P20: replicas that start at once have one CA, and all serve with it.
func TestReplicasShareOneCA(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	replicas := []*process{c.start(t), c.start(t), c.start(t)}
	for _, p := range replicas {
		await(t, "a manager to be ready", p.ready)
	}
	bundle := c.bundle(t)
	if got := c.secret(t).Data["ca.crt"]; !bytes.Equal(got, bundle) {
		t.Errorf("the Secret has another CA than the API servers trust")
	}
	if got := bytes.Count(bundle, []byte("BEGIN")); got != 1 {
		t.Errorf("%d CAs are trusted, want one", got)
	}
	var serial string
	for _, p := range replicas {
		served, err := p.greet(bundle)
		if err != nil {
			t.Fatalf("a manager that says it is ready: %v", err)
		}
		if serial != "" && serial != string(served.Signature) {
			t.Error("the replicas have different certificates")
		}
		serial = string(served.Signature)
	}
}

// identity is what applying again must not change of an object.
type identity struct {
	Generation      int64
	ResourceVersion string
}

func TestApplyingAgainChangesNothing(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	manifests := c.render(t)
	p := c.start(t)
	await(t, "the manager to be ready", p.ready)
	bundle, secret := c.bundle(t), c.secret(t)
	before := c.identities(t, manifests)
	c.apply(t, manifests)
	if diff := cmp.Diff(before, c.identities(t, manifests)); diff != "" {
		t.Errorf("objects after applying again (-want +got):\n%s", diff)
	}
	if !bytes.Equal(c.bundle(t), bundle) || len(bundle) == 0 {
		t.Errorf("the caBundle changed or is empty")
	}
	if diff := cmp.Diff(secret.Data, c.secret(t).Data); diff != "" || len(secret.Data) != 4 {
		t.Errorf("the Secret of %d keys changed (-want +got):\n%s", len(secret.Data), diff)
	}
}

// identities returns what is in the cluster of some manifests.
func (c *cluster) identities(t *testing.T, manifests []byte) map[string]identity {
	t.Helper()
	out := map[string]identity{}
	for document := range strings.SplitSeq(string(manifests), "\n---\n") {
		object := &metav1.PartialObjectMetadata{}
		if err := yaml.Unmarshal([]byte(document), object); err != nil {
			t.Fatal(err)
		}
		if err := c.user.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			t.Fatal(err)
		}
		out[object.Kind+" "+object.Name] = identity{object.Generation, object.ResourceVersion}
	}
	return out
}

// F39: certificates and their CA run out and are replaced. At no moment is
// there an API server that a replica could not answer, though it heard of the
// last CA a little late.
func TestRotationIsNotNoticed(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	const lifetime = 12 * time.Second
	flag := "--webhook-certificate-lifetime=" + lifetime.String()
	replicas := []*process{c.start(t, flag), c.start(t, flag)}
	c.reach(t, forward(t, replicas[0].webhookPort, replicas[1].webhookPort))
	for _, p := range replicas {
		await(t, "a manager to be ready", p.ready)
	}
	first, served := signer(t, c.bundle(t)), map[string]bool{}
	known := c.bundle(t)
	for deadline := time.Now().Add(10 * lifetime); ; {
		if err := c.tryToMake(t.Context()); err != nil {
			t.Fatalf("making an environment: %v", err)
		}
		bundle := c.bundle(t)
		renewed := true
		for i, p := range replicas {
			if _, err := p.greet(known); err != nil {
				t.Fatalf("replica %d, by what was trusted a moment ago: %v", i, err)
			}
			certificate, err := p.greet(bundle)
			if err != nil {
				t.Fatalf("replica %d: %v", i, err)
			}
			served[string(certificate.Signature)] = true
			renewed = renewed && certificate.CheckSignatureFrom(first) != nil
		}
		if renewed {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("no other CA within %s", 10*lifetime)
		}
		known = bundle
		time.Sleep(interval)
	}
	if len(served) < 4 {
		t.Errorf("%d certificates were served in the lifetime of a CA, want several", len(served))
	}
	for i, p := range replicas {
		if !p.ready() {
			t.Errorf("replica %d is not ready", i)
		}
	}
}

// signer returns the first CA of a bundle.
func signer(t *testing.T, bundle []byte) *x509.Certificate {
	t.Helper()
	block, _ := pem.Decode(bundle)
	ca, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return ca
}

// F48: the webhooks of a replica answer though it isn't the leader, and the
// leader is gone.
func TestEveryReplicaAnswers(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	leader := c.start(t)
	await(t, "the first manager to be ready", leader.ready)
	other := c.start(t)
	await(t, "the second manager to be ready", other.ready)
	holder := c.leader(t)
	leader.kill(t)
	c.reach(t, other.webhookPort)
	await(t, "the API server to reach the second manager", func() bool { return c.tryToMake(t.Context()) == nil })
	if got := c.leader(t); got != holder {
		t.Skipf("the lease has gone over from %s to %s before the answer came", holder, got)
	}
}

func (c *cluster) leader(t *testing.T) string {
	t.Helper()
	lease := &coordinationv1.Lease{}
	if err := c.user.Get(t.Context(), client.ObjectKey{Namespace: "orca-system", Name: "orca-manager"}, lease); err != nil {
		t.Fatal(err)
	}
	return *lease.Spec.HolderIdentity
}

// F39: with certificates from somebody else, readiness follows whether the API
// servers trust the pair, and another pair is served without a restart.
func TestReadinessFollowsTheTrustInThePair(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	p := c.start(t, "--webhook-self-signed=false")
	trust := func(bundle []byte) {
		c.changeWebhooks(t, func(where *admissionregistrationv1.WebhookClientConfig) { where.CABundle = bundle })
	}
	await(t, "the manager to say that it isn't ready", func() bool { return strings.Contains(p.readiness(), "webhook-certificate failed") })
	one, another := newPair(t), newPair(t)
	p.give(t, one)
	trust(another.cert)
	await(t, "the pair to be served", func() bool { _, err := p.greet(one.cert); return err == nil })
	if p.ready() {
		t.Fatal("it is ready though no API server trusts its certificate")
	}
	trust(one.cert)
	await(t, "readiness once the pair is trusted", p.ready)
	trust(another.cert)
	await(t, "no readiness once another CA is trusted", func() bool { return !p.ready() })
	p.give(t, another)
	await(t, "readiness with the other pair", p.ready)
	if _, err := p.greet(another.cert); err != nil {
		t.Error(err)
	}
	if data := c.secret(t).Data; len(data) > 0 {
		t.Errorf("the manager made certificates of its own")
	}
}

type pair struct{ cert, key []byte }

func newPair(t *testing.T) pair {
	t.Helper()
	certificate, key, err := cert.GenerateSelfSignedCertKey(serverName, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return pair{certificate, key}
}

// give puts a pair into the manager's folder.
func (p *process) give(t *testing.T, pair pair) {
	t.Helper()
	if err := os.MkdirAll(p.folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"tls.key": pair.key, "tls.crt": pair.cert} {
		if err := os.WriteFile(filepath.Join(p.folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
