// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
)

func TestExtraCA(t *testing.T) {
	certificate := certificate(t)
	key := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("a")}))
	tests := map[string]struct{ bundle, want string }{
		"nothing":                    {bundle: ""},
		"a certificate":              {bundle: certificate},
		"two with text between them": {bundle: "# First\n" + certificate + "\n# Second\n" + certificate},
		"text alone":                 {"certificate", "must contain certificates in PEM"},
		"a key":                      {certificate + key, "block 2: must be a CERTIFICATE, not a PRIVATE KEY"},
		"a block that is no certificate": {
			string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("a")})), "block 1: x509: malformed certificate",
		},
		"a block that was cut off": {certificate + certificate[:100], "must not contain a damaged PEM block"},
		"too many":                 {strings.Repeat(certificate, 32768/len(certificate)+1), "may not be more than 32768 bytes"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			content := edit(t, "setup.extraCA", func(section map[string]any, field string) { section[field] = tc.bundle })
			_, err := Parse("test.yaml", content)
			if tc.want != "" {
				expectRefusal(t, err, "setup.extraCA", tc.want)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

func certificate(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}
