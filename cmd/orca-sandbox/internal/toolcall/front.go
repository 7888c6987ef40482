// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package toolcall is exec: it runs one program beside the agent, under the
// same policy, with the same HOME and environment.
//
// Two processes of the launcher share the work. The front is what the caller
// has started: it passes signals on and ends with the program's exit code. The
// back starts the program and supervises it and all its descendants. It stays
// as long as one of those does: without it, every call with which they ask to
// write would fail.
package toolcall

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/confine"
	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/launch"
	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/signals"
)

const (
	// DefaultManifest is where the manifest is in a sandbox.
	DefaultManifest = "/orca/manifest/sandbox.json"
	// DigestVariable is the variable of the container's environment that has the
	// manifest's digest.
	DigestVariable = "ORCA_MANIFEST_DIGEST"
	// Subcommand is the launcher's subcommand that calls Serve.
	Subcommand = "exec-back"

	// exitKilled is the exit code of a program that SIGKILL ended.
	exitKilled = 128 + int(syscall.SIGKILL)
)

// Options are what the command line says.
type Options struct {
	// Manifest is the file with the manifest.Sandbox.
	Manifest string
	// Digest is what it must have.
	Digest string
	// Command is the program with its arguments.
	Command []string
}

// Run is the front. It returns the exit code. It must be called on the main
// thread.
func Run(options Options) int {
	received := signals.Receive()
	// What the caller has left open besides is nothing to the back, which may
	// stay for long.
	confine.KeepStandardStreamsOnly()
	if err := launch.Conceal(); err != nil {
		return complain(err)
	}
	back, err := startBack(options)
	if err != nil {
		return complain(err)
	}
	go passOn(received, back)
	code := make([]byte, 1)
	for {
		switch size, err := unix.Read(back, code); {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return complain(fmt.Errorf("waiting for the program's end: %w", err))
		case size == 0:
			fmt.Fprintln(os.Stderr, "orca-sandbox: the supervisor was killed, and the program with it")
			return exitKilled
		default:
			return int(code[0])
		}
	}
}

// startBack starts the back and returns the front's end of their socket.
func startBack(options Options) (int, error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("making a socket: %w", err)
	}
	arguments := append([]string{
		"orca-sandbox", Subcommand, "--manifest=" + options.Manifest, "--manifest-digest=" + options.Digest, "--",
	}, options.Command...)
	_, err = syscall.ForkExec("/proc/self/exe", arguments, &syscall.ProcAttr{
		Env:   os.Environ(),
		Files: []uintptr{0, 1, 2, uintptr(ends[1])},
	})
	if err != nil {
		return 0, fmt.Errorf("starting the supervisor: %w", err)
	}
	return ends[0], unix.Close(ends[1])
}

// passOn tells the back of signals for the program.
func passOn(received signals.Received, back int) {
	forwarded := signals.Forwarder()
	for {
		var number syscall.Signal
		select {
		case <-received.Stop:
			number = syscall.SIGTERM
		case other := <-received.Other:
			number = other.(syscall.Signal)
		}
		if forwarded(number) {
			_, _ = unix.Write(back, []byte{byte(number)})
		}
	}
}

// complain tells the caller why the program doesn't run.
func complain(err error) int {
	fmt.Fprintln(os.Stderr, "orca-sandbox:", err)
	return launch.ExitCode(err)
}
