// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package machine is what the cluster needs from the machine and shares with
// others on it: installed programs, locks, and the claim that keeps a second
// cluster away.
package machine

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// Run runs a program and gives its standard output; the error holds what it
// wrote to standard error.
func Run(ctx context.Context, name string, args ...string) (string, error) {
	return RunInput(ctx, "", name, args...)
}

// RunInput is Run with text for the standard input.
func RunInput(ctx context.Context, input, name string, args ...string) (string, error) {
	path, err := Find(name)
	if err != nil {
		return "", err
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}
