// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package credential hands a repository's credential to git and ssh, and to
// nobody but the one server that it is for.
package credential

import (
	"fmt"
	"strings"

	"github.com/orca-agent-engine/orca-operator/controllers/layout"
)

// defaultPorts are the ports of the schemes that repositories have.
var defaultPorts = map[string]string{"https": "443", "http": "80", "ssh": "22"}

// Endpoint is a server, as a credential is bound to it.
type Endpoint struct {
	Scheme string
	// Host is in small letters and without brackets.
	Host string
	Port string
}

// EndpointOf returns the server of a repository's address.
func EndpointOf(address string) (Endpoint, error) {
	remote, err := layout.ParseRemote(address, true)
	if err != nil {
		return Endpoint{}, err
	}
	return NewEndpoint(remote.Scheme, remote.Host), nil
}

// NewEndpoint returns the server with the given scheme and host, to which a
// port may be appended.
func NewEndpoint(scheme, host string) Endpoint {
	host, port := splitPort(strings.Map(lowerASCII, host))
	if port == "" {
		port = defaultPorts[scheme]
	}
	return Endpoint{Scheme: scheme, Host: host, Port: port}
}

// lowerASCII folds what names of hosts are made of and nothing else. Other
// letters would become these: a program that takes the name for an
// internationalized one goes to another host.
func lowerASCII(r rune) rune {
	if 'A' <= r && r <= 'Z' {
		return r + 'a' - 'A'
	}
	return r
}

// splitPort splits host, host:port, [host] and [host]:port. git takes
// [host:port], too.
func splitPort(text string) (host, port string) {
	if inside, rest, found := strings.Cut(strings.TrimPrefix(text, "["), "]"); found && strings.HasPrefix(text, "[") {
		if rest == "" && strings.Count(inside, ":") == 1 {
			return splitPort(inside)
		}
		return inside, strings.TrimPrefix(rest, ":")
	}
	if strings.Count(text, ":") != 1 { // None, or an address of version 6.
		return text, ""
	}
	host, port, _ = strings.Cut(text, ":")
	return host, port
}

// String returns the server as people write it.
func (e Endpoint) String() string {
	host := e.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if e.Port != defaultPorts[e.Scheme] {
		host += ":" + e.Port
	}
	return fmt.Sprintf("%s://%s", e.Scheme, host)
}

// among reports whether a list of hosts has the server. A host without a port
// stands for the scheme's usual one.
func (e Endpoint) among(hosts []string) bool {
	for _, host := range hosts {
		if NewEndpoint(e.Scheme, host) == e {
			return true
		}
	}
	return false
}
