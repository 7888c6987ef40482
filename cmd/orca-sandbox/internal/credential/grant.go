// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"encoding/json"
	"fmt"
	"os"
)

// Variable holds the Grant of git's and ssh's helpers, in their environment.
const Variable = "ORCA_GIT_CREDENTIAL"

// Grant tells the helpers what they may hand out, and to whom. It holds no
// secret.
type Grant struct {
	// Endpoint is the repository's own server, the only one that gets anything.
	Endpoint Endpoint
	// Folder holds the Secret; empty: there is none.
	Folder string
	// Name is the Secret's.
	Name string
	// Key is the file with the private key and KnownHosts the one with the host
	// keys; empty: there is none.
	Key, KnownHosts string
	// Accounts is a file with an account of the running user, for a system that
	// knows none; empty: it knows one.
	Accounts string
}

// Encode returns the environment variable with the grant.
func (g Grant) Encode() string {
	encoded, err := json.Marshal(g)
	if err != nil {
		panic(err) // It holds nothing but texts.
	}
	return Variable + "=" + string(encoded)
}

func readGrant() (Grant, error) {
	var grant Grant
	if err := json.Unmarshal([]byte(os.Getenv(Variable)), &grant); err != nil {
		return Grant{}, fmt.Errorf("reading %s: %w", Variable, err)
	}
	return grant, nil
}
