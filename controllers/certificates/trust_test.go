// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"slices"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
)

const dnsName = "orca-webhook.orca-system.svc"

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// authority is a CA.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte
}

func newAuthority(t *testing.T, until time.Time) authority {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(until.Unix()), NotBefore: now.Add(-time.Hour), NotAfter: until,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	return signed(t, template, authority{})
}

// signed returns a certificate that a CA signs, or itself.
func signed(t *testing.T, template *x509.Certificate, by authority) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if by.certificate == nil {
		by = authority{certificate: template, key: key}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, by.certificate, &key.PublicKey, by.key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return authority{certificate, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
}

func (a authority) issue(t *testing.T, name string) *x509.Certificate {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{name}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	return signed(t, template, a).certificate
}

// trusting returns a configuration with one webhook for each bundle.
func trusting(bundles ...[]byte) *admissionregistrationv1.ValidatingWebhookConfiguration {
	out := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	for _, bundle := range bundles {
		out.Webhooks = append(out.Webhooks, admissionregistrationv1.ValidatingWebhook{ClientConfig: admissionregistrationv1.WebhookClientConfig{
			Service:  &admissionregistrationv1.ServiceReference{Name: "orca-webhook", Namespace: "orca-system"},
			CABundle: bundle,
		}})
	}
	return out
}

func TestWhatAPIServersTrust(t *testing.T) {
	one, other := newAuthority(t, now.Add(time.Hour)), newAuthority(t, now.Add(2*time.Hour))
	both := slices.Concat(one.pem, other.pem)
	byURL := trusting(one.pem)
	byURL.Webhooks[0].ClientConfig.Service, byURL.Webhooks[0].ClientConfig.URL = nil, new("https://orca.test:9443/validate")
	cases := map[string]struct {
		configuration *admissionregistrationv1.ValidatingWebhookConfiguration
		certificate   *x509.Certificate
		at            time.Time
		want          bool
	}{
		"what the CA signed":               {trusting(one.pem, one.pem), one.issue(t, dnsName), now, true},
		"what one of the CAs signed":       {trusting(both), other.issue(t, dnsName), now, true},
		"not what another CA signed":       {trusting(other.pem), one.issue(t, dnsName), now, false},
		"not what one webhook's CA didn't": {trusting(one.pem, other.pem), one.issue(t, dnsName), now, false},
		"not without a CA":                 {trusting(one.pem, nil), one.issue(t, dnsName), now, false},
		"not without webhooks":             {trusting(), one.issue(t, dnsName), now, false},
		"not under another name":           {trusting(one.pem), one.issue(t, "localhost"), now, false},
		"not after its time":               {trusting(one.pem), one.issue(t, dnsName), now.Add(90 * time.Minute), false},
		"by a URL, under its host's name":  {byURL, one.issue(t, "orca.test"), now, true},
		"by a URL, not the Service's name": {byURL, one.issue(t, dnsName), now, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if err := trusted(tc.configuration, tc.certificate, tc.at); (err == nil) != tc.want {
				t.Errorf("trusted: %v, want %v", err, tc.want)
			}
		})
	}
}

func TestANewCAKeepsTheOneBefore(t *testing.T) {
	one, two, three := newAuthority(t, now.Add(time.Hour)), newAuthority(t, now.Add(2*time.Hour)), newAuthority(t, now.Add(3*time.Hour))
	past := newAuthority(t, now.Add(-time.Minute))
	cases := map[string]struct{ current, before, want []byte }{
		"the first one":                {one.pem, nil, one.pem},
		"the same one":                 {one.pem, one.pem, one.pem},
		"the same one, with an older":  {slices.Concat(two.pem, one.pem), slices.Concat(two.pem, one.pem), slices.Concat(two.pem, one.pem)},
		"another one":                  {two.pem, one.pem, slices.Concat(two.pem, one.pem)},
		"another one after two":        {three.pem, slices.Concat(two.pem, one.pem), slices.Concat(three.pem, two.pem)},
		"one before that is no longer": {two.pem, past.pem, two.pem},
		"one before that is none":      {two.pem, []byte("garbage"), two.pem},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := chain(tc.current, tc.before, now); !bytes.Equal(got, tc.want) {
				t.Errorf("it has %d CAs, want %d, or others", bytes.Count(got, []byte("BEGIN")), bytes.Count(tc.want, []byte("BEGIN")))
			}
		})
	}
}
