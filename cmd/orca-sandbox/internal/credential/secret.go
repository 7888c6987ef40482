// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// The keys of a Secret: those of the types kubernetes.io/basic-auth and
// kubernetes.io/ssh-auth, and two more.
const (
	usernameKey   = "username"
	passwordKey   = "password"
	privateKeyKey = "ssh-privatekey"
	knownHostsKey = "known_hosts"
	hostsKey      = "hosts"
)

// defaultUsername goes with a password that stands alone, which is a token:
// servers don't look at the name then, but don't take none.
const defaultUsername = "git"

// maxKey bounds a key of a Secret, in bytes, as the API server bounds the whole.
const maxKey = 1 << 20

// Secret is what a repository's Secret holds. Keys that aren't there are empty.
type Secret struct {
	// Name is the Secret's, for messages.
	Name                              string
	Username, Password                string
	PrivateKey, KnownHosts, hostsText string
}

// MissingError says that a Secret or a key of it isn't there. It may appear
// later.
type MissingError struct{ text string }

func (e *MissingError) Error() string { return e.text }

// Read reads the Secret of the given name from the folder that the kubelet
// fills.
func Read(name, folder string) (Secret, error) {
	secret := Secret{Name: name}
	for key, value := range map[string]*string{
		usernameKey: &secret.Username, passwordKey: &secret.Password,
		privateKeyKey: &secret.PrivateKey, knownHostsKey: &secret.KnownHosts, hostsKey: &secret.hostsText,
	} {
		text, err := readKey(filepath.Join(folder, key))
		if err != nil {
			return Secret{}, fmt.Errorf("reading key %q of Secret %q: %w", key, name, err)
		}
		*value = text
	}
	// Editors and echo end a value with a line break that isn't part of it.
	secret.Username = strings.TrimRight(secret.Username, "\r\n")
	secret.Password = strings.TrimRight(secret.Password, "\r\n")
	return secret, nil
}

// readKey returns the content of a file, nothing if there is none. Its errors
// don't show paths of the setup container.
func readKey(path string) (string, error) {
	content, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		if wrapped, is := errors.AsType[*fs.PathError](err); is {
			return "", wrapped.Err
		}
		return "", err
	case len(content) > maxKey:
		return "", fmt.Errorf("it has more than %d bytes", maxKey)
	}
	return string(content), nil
}

// Check returns why the Secret can't be used for a server, nil if it can.
func (s Secret) Check(endpoint Endpoint) error {
	if err := s.checkKeys(endpoint); err != nil {
		return err
	}
	hosts := s.hosts()
	if len(hosts) > 0 && !endpoint.among(hosts) {
		return fmt.Errorf("the host of %s is not among the key %q of Secret %q, so the credential must not be offered to it", endpoint, hostsKey, s.Name)
	}
	return nil
}

func (s Secret) checkKeys(endpoint Endpoint) error {
	if s == (Secret{Name: s.Name}) {
		return &MissingError{fmt.Sprintf("Secret %q does not exist, or has none of the keys of a credential", s.Name)}
	}
	if endpoint.Scheme == "ssh" {
		return s.checkSSH(endpoint)
	}
	switch {
	case s.Password == "" && s.PrivateKey != "":
		return &MissingError{fmt.Sprintf("Secret %q has no key %q: its %q is for ssh:// addresses, not for %s", s.Name, passwordKey, privateKeyKey, endpoint)}
	case s.Password == "":
		return s.missing(passwordKey)
	case strings.ContainsAny(s.Username+s.Password, "\r\n\x00"):
		return fmt.Errorf("the keys %q and %q of Secret %q must be one line each", usernameKey, passwordKey, s.Name)
	}
	return nil
}

func (s Secret) checkSSH(endpoint Endpoint) error {
	switch {
	case s.PrivateKey == "" && s.Password != "":
		return &MissingError{fmt.Sprintf("Secret %q has no key %q: its %q is for https:// addresses, not for %s", s.Name, privateKeyKey, passwordKey, endpoint)}
	case s.PrivateKey == "":
		return s.missing(privateKeyKey)
	case !usable(s.PrivateKey):
		return fmt.Errorf("the key %q of Secret %q is not a private key without a passphrase", privateKeyKey, s.Name)
	case strings.TrimSpace(s.KnownHosts) == "":
		return &MissingError{fmt.Sprintf("Secret %q has no key %q, so the host key of %s can't be verified: add what ssh-keyscan prints for the host", s.Name, knownHostsKey, endpoint)}
	}
	return nil
}

func (s Secret) missing(key string) error {
	return &MissingError{fmt.Sprintf("Secret %q has no key %q", s.Name, key)}
}

// hosts returns the servers that the credential is limited to; none: there is
// no limit.
func (s Secret) hosts() []string {
	var hosts []string
	for line := range strings.Lines(s.hostsText) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") {
			hosts = append(hosts, line)
		}
	}
	return hosts
}
