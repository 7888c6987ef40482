// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package run is the launcher: process 1 of the sandbox's container. It starts
// the agent, stops it when it is asked to or when the agent's lifetime is used
// up, and leaves the result when every other process of the sandbox is gone.
package run

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/probe"
	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/termination"
	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/verify"
	"github.com/orca-agent-engine/orca-operator/controllers/layout"
	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

// The launcher's own exit codes, as shells and container tools have them.
const (
	exitUnverified    = 125
	exitNotExecutable = 126
	exitNotFound      = 127
)

// Options are what the command line says.
type Options struct {
	// Manifest is the file with the manifest.Sandbox.
	Manifest string
	// Digest is what it must have.
	Digest string
}

// outcome is how it ended: for the operator and for the container runtime.
type outcome struct {
	result   manifest.RunResult
	exitCode int
}

// Main is the whole life of the launcher. It must be called on the main
// thread. It returns the exit code, which the caller must exit with at once:
// the result is already written.
func Main(options Options) int {
	// Anything else could kill processes that aren't the sandbox's.
	if os.Getpid() != 1 {
		complain(fmt.Errorf("run must be process 1 of a container, it is process %d", os.Getpid()))
		return exitUnverified
	}
	signals := receiveSignals()
	// Opened first, because later nothing outside the writable roots can be.
	message, err := termination.Open(termination.DefaultPath)
	if err != nil {
		complain(err)
		return exitUnverified
	}
	end, err := launch(options, signals)
	if err != nil {
		complain(err)
	}
	endOthers(signals.children)
	if err := termination.Write(message, end.result); err != nil {
		complain(err)
	}
	return end.exitCode
}

// launch starts the agent and returns how it ended. With an error, the agent
// was never executed.
func launch(options Options, signals signals) (outcome, error) {
	if err := conceal(); err != nil {
		return unverified(""), err
	}
	sandbox, err := readManifest(options)
	if err != nil {
		return unverified(options.Manifest), err
	}
	if err := makeHome(layout.Home); err != nil {
		return unverified(layout.Home), err
	}
	if err := os.Chdir(layout.Workspace); err != nil {
		return unverified(layout.Workspace), fmt.Errorf("entering the working directory: %w", err)
	}
	if failed := verify.Check(sandbox.WritableRoots); failed != nil {
		return unverified(failed.Path), failed
	}
	return live(sandbox, signals)
}

// live is the part of launch in which the agent runs.
func live(sandbox manifest.Sandbox, signals signals) (outcome, error) {
	agent, err := start(sandbox)
	if err != nil {
		return notStarted(err), err
	}
	if err := probe.Announce(probe.Started); err != nil {
		return unverified(""), err
	}
	if agent == none {
		return awaitEnd(signals, newClock(sandbox)), nil
	}
	return supervise(agent, signals, newClock(sandbox)), nil
}

// conceal keeps the agent, which has the launcher's uid, from tracing the
// launcher and reading its memory, and says that the agent isn't there yet.
func conceal() error {
	if err := probe.Announce(probe.Starting); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("closing the launcher to other processes: %w", err)
	}
	return nil
}

func readManifest(options Options) (manifest.Sandbox, error) {
	encoded, err := os.ReadFile(options.Manifest)
	if err != nil {
		return manifest.Sandbox{}, fmt.Errorf("reading the manifest: %w", err)
	}
	return manifest.Decode[manifest.Sandbox](encoded, options.Digest)
}

// unverified is the outcome when something at a path kept the sandbox from
// being what the session was promised.
func unverified(path string) outcome {
	return outcome{manifest.RunResult{Code: manifest.RunPolicyUnverified, Path: path}, exitUnverified}
}

// complain tells the reader of the container's log why the agent doesn't run.
func complain(err error) {
	fmt.Fprintln(os.Stderr, "orca-sandbox:", err)
}
