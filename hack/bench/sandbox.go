// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
)

//go:embed session.yaml
var manifests string

// goInSandbox is where the sandbox gets its Go.
const goInSandbox = disk + "/go"

// sandbox is a running session's.
type sandbox struct{ pod string }

// startSandbox starts a session. The caller must stop it.
func startSandbox(ctx context.Context) (s sandbox, stop func() error, err error) {
	if _, err := kubectl(ctx, strings.NewReader(manifests), "apply", "-f", "-"); err != nil {
		return sandbox{}, nil, err
	}
	stop = func() error {
		_, err := kubectl(ctx, strings.NewReader(manifests), "delete", "-f", "-")
		return err
	}
	defer func() {
		if err != nil {
			_ = stop() // What made the start fail matters more.
		}
	}()
	if _, err := kubectl(ctx, nil, "wait", "orcasession/bench", "--for=jsonpath={.status.state}=Running", "--timeout=2m"); err != nil {
		return sandbox{}, nil, err
	}
	pod, err := kubectl(ctx, nil, "get", "orcasession/bench", "-o", "jsonpath={.status.podName}")
	return sandbox{pod}, stop, err
}

// execute runs a script in the sandbox and returns what it prints.
func (s sandbox) execute(ctx context.Context, under layers, script string) (string, error) {
	return kubectl(ctx, nil, slices.Concat([]string{"exec", s.pod, "--container", "sandbox", "--"}, under, []string{script})...)
}

// installGo copies what this machine's Go needs to build programs into the
// sandbox, whose image has none.
func (s sandbox) installGo(ctx context.Context) error {
	root, err := output(ctx, nil, "go", "env", "GOROOT")
	if err != nil {
		return err
	}
	pack := exec.CommandContext(ctx, "tar", "--directory", strings.TrimSpace(root), "--exclude=testdata", "--exclude=*_test.go",
		"--create", "VERSION", "go.env", "bin", "pkg", "src")
	packed, err := pack.StdoutPipe()
	if err != nil {
		return err
	}
	if err := pack.Start(); err != nil {
		return fmt.Errorf("packing Go: %w", err)
	}
	_, err = kubectl(ctx, packed, "exec", s.pod, "--container", "sandbox", "--stdin", "--", "bash", "-c",
		"mkdir "+goInSandbox+" && tar -x -C "+goInSandbox)
	if packErr := pack.Wait(); err == nil && packErr != nil {
		err = fmt.Errorf("packing Go: %w", packErr)
	}
	return err
}

func kubectl(ctx context.Context, input io.Reader, args ...string) (string, error) {
	return output(ctx, input, "kubectl", args...)
}

// output runs a program and returns what it prints. The error has what it
// complains about.
func output(ctx context.Context, input io.Reader, program string, args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(ctx, program, args...)
	command.Stdin, command.Stdout, command.Stderr = input, &stdout, &stderr
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", program, args[0], err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}
