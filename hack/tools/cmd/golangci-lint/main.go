// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Command golangci-lint is golangci-lint with the linters of the Kubernetes
// project compiled in: it loads module plugins only from its own binary.
package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"github.com/golangci/golangci-lint/v2/pkg/commands"
	"github.com/golangci/golangci-lint/v2/pkg/exitcodes"
	_ "sigs.k8s.io/kube-api-linter"
	_ "sigs.k8s.io/logtools/logcheck/gclplugin"
)

const upstream = "github.com/golangci/golangci-lint/v2"

func main() {
	if err := commands.Execute(buildInfo()); err != nil {
		fmt.Fprintf(os.Stderr, "golangci-lint: %v\n", err)
		os.Exit(exitcodes.Failure)
	}
}

// buildInfo names the version of golangci-lint that was compiled in, not the
// version of this module.
func buildInfo() commands.BuildInfo {
	info := commands.BuildInfo{Version: "unknown", Commit: "?", Date: "?"}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return info
	}
	info.GoVersion = build.GoVersion
	for _, dep := range build.Deps {
		if dep.Path == upstream {
			info.Version = strings.TrimPrefix(dep.Version, "v")
			info.Commit = dep.Sum
		}
	}
	return info
}
