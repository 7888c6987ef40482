// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"bytes"
	"encoding/pem"
	"strings"
)

// opensshUnlocked begins a key in OpenSSH's own format that has no passphrase:
// after the format's name comes, with its length before it, that of the cipher.
var opensshUnlocked = []byte("openssh-key-v1\x00\x00\x00\x00\x04none")

// usable reports whether a text is a private key that ssh can use without being
// told a passphrase.
func usable(text string) bool {
	block, _ := pem.Decode([]byte(text))
	switch {
	case block == nil || strings.HasPrefix(block.Type, "ENCRYPTED") || block.Headers["DEK-Info"] != "":
		return false
	case block.Type == "OPENSSH PRIVATE KEY":
		return bytes.HasPrefix(block.Bytes, opensshUnlocked)
	}
	return strings.HasSuffix(block.Type, "PRIVATE KEY")
}
