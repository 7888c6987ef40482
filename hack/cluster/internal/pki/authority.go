// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package pki makes the cluster's throw-away keys and certificates. They are
// made once for each cluster and go with its state.
package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

// validity outlives any local cluster, so nothing needs to renew a certificate.
const validity = 10 * 365 * 24 * time.Hour

// Pair is a certificate with its key, both in PEM.
type Pair struct{ Cert, Key []byte }

// authority signs certificates.
type authority struct {
	Pair
	cert *x509.Certificate
	key  crypto.Signer
}

// Subject says whom a certificate is for.
type Subject struct {
	Name string
	// Groups become organizations, which Kubernetes reads as groups.
	Groups []string
	// Hosts are DNS names and addresses; a subject without any is a client only.
	Hosts []string
}

func newAuthority(name string, now time.Time) (authority, error) {
	template, err := newTemplate(Subject{Name: name}, now)
	if err != nil {
		return authority{}, err
	}
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	key, keyPEM, err := newKey()
	if err != nil {
		return authority{}, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return authority{}, fmt.Errorf("signing the authority %q: %w", name, err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return authority{}, err
	}
	return authority{Pair{encodeCert(der), keyPEM}, cert, key}, nil
}

// issue makes a certificate that serves as a client's, and as a server's if
// the subject has hosts.
func (a authority) issue(s Subject, now time.Time) (Pair, error) {
	template, err := newTemplate(s, now)
	if err != nil {
		return Pair{}, err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if len(s.Hosts) > 0 {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	key, keyPEM, err := newKey()
	if err != nil {
		return Pair{}, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return Pair{}, fmt.Errorf("signing the certificate of %q: %w", s.Name, err)
	}
	return Pair{encodeCert(der), keyPEM}, nil
}

func newTemplate(s Subject, now time.Time) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: s.Name, Organization: s.Groups},
		// A machine's clock may be set back a little after the start.
		NotBefore: now.Add(-time.Hour),
		NotAfter:  now.Add(validity),
	}
	for _, host := range s.Hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	return template, nil
}

func newKey() (*ecdsa.PrivateKey, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("generating a key: %w", err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	return key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), nil
}

func encodeCert(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func encodePublic(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), nil
}
