// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Command coredns is CoreDNS with the few plugins that the local cluster's
// Corefile names. The whole program would pull in the client libraries of
// every cloud.
package main

import (
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/health"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/ready"
	_ "github.com/coredns/coredns/plugin/reload"
	_ "github.com/coredns/coredns/plugin/template"
)

func main() { coremain.Run() }
