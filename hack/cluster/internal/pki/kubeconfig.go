// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"encoding/base64"
	"fmt"
)

// kubeconfig embeds the certificates, so that the file works wherever it is
// copied to on this machine.
func kubeconfig(server string, ca []byte, client Pair) []byte {
	b64 := base64.StdEncoding.EncodeToString
	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters:
- name: orca
  cluster:
    server: %s
    certificate-authority-data: %s
users:
- name: orca
  user:
    client-certificate-data: %s
    client-key-data: %s
contexts:
- name: orca
  context:
    cluster: orca
    user: orca
current-context: orca
`, server, b64(ca), b64(client.Cert), b64(client.Key))
}
