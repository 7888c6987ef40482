// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
)

// trusted returns why an API server that knows a configuration would not trust
// a certificate, and nil if it does.
func trusted(configuration *admissionregistrationv1.ValidatingWebhookConfiguration, certificate *x509.Certificate, now time.Time) error {
	if len(configuration.Webhooks) == 0 {
		return fmt.Errorf("ValidatingWebhookConfiguration %q has no webhooks", configuration.Name)
	}
	for _, webhook := range configuration.Webhooks {
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(webhook.ClientConfig.CABundle) {
			return fmt.Errorf("webhook %q has no caBundle yet", webhook.Name)
		}
		_, err := certificate.Verify(x509.VerifyOptions{Roots: roots, DNSName: host(webhook.ClientConfig), CurrentTime: now})
		if err != nil {
			return fmt.Errorf("the caBundle of webhook %q does not vouch for the certificate: %w", webhook.Name, err)
		}
	}
	return nil
}

// host returns the name by which an API server knows a webhook's server.
func host(where admissionregistrationv1.WebhookClientConfig) string {
	if where.Service != nil {
		return where.Service.Name + "." + where.Service.Namespace + ".svc"
	}
	if where.URL == nil {
		return ""
	}
	address, err := url.Parse(*where.URL)
	if err != nil {
		return ""
	}
	return address.Hostname()
}

// leaf returns the certificate of a pair.
func leaf(cert, key []byte) (*x509.Certificate, error) {
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, err
	}
	return pair.Leaf, nil
}

// chain returns the CA that signs now and after it, while it is valid, the one
// that did before: pairs that the earlier one signed are served for a while.
func chain(current, before []byte, now time.Time) []byte {
	first, _ := pem.Decode(current)
	previous, _ := pem.Decode(before)
	if first == nil || previous == nil || bytes.Equal(first.Bytes, previous.Bytes) {
		return current
	}
	ca, err := x509.ParseCertificate(previous.Bytes)
	if err != nil || now.After(ca.NotAfter) {
		return current
	}
	return append(pem.EncodeToMemory(first), pem.EncodeToMemory(previous)...)
}

var errNotInPlace = errors.New("no pair of certificate and key is in place")
