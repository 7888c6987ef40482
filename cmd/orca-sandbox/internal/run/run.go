// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package run is the launcher: process 1 of the sandbox's container. It starts
// the agent, stops it when it is asked to or when the agent's lifetime is used
// up, and leaves the result when every other process of the sandbox is gone.
package run

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/launch"
	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/probe"
	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/signals"
	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/termination"
	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/verify"
	"github.com/orca-agent-engine/orca-operator/controllers/layout"
	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
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
		return launch.ExitUnverified
	}
	received := signals.Receive()
	// Opened first, because later nothing outside the writable roots can be.
	message, err := termination.Open(termination.DefaultPath)
	if err != nil {
		complain(err)
		return launch.ExitUnverified
	}
	children := &launch.Children{Ended: received.Children}
	end, err := live(options, message, received, children)
	if err != nil {
		complain(err)
	}
	endOthers(children)
	if err := termination.Write(message, end.result); err != nil {
		complain(err)
	}
	return end.exitCode
}

// live starts the agent and returns how it ended. With an error, the agent
// was never executed.
func live(options Options, message *termination.Message, received signals.Received, children *launch.Children) (outcome, error) {
	if err := conceal(); err != nil {
		return unverified(""), err
	}
	sandbox, err := launch.ReadManifest(options.Manifest, options.Digest)
	if err != nil {
		return unverified(options.Manifest), err
	}
	if err := os.Chdir(layout.Workspace); err != nil {
		return unverified(layout.Workspace), fmt.Errorf("entering the working directory: %w", err)
	}
	if failed := verify.Check(sandbox.WritableRoots); failed != nil {
		return notVerified(failed), failed
	}
	if failed := verify.Fresh(layout.Tmp); failed != nil {
		return unverified(failed.Path), failed
	}
	if err := launch.MakeHome(layout.Home); err != nil {
		return unverified(layout.Home), err
	}
	policy, err := launch.NewPolicy(sandbox.WritableRoots)
	if err != nil {
		return unverified(""), err
	}
	// Whatever becomes of the launcher from here on, the policy was verified.
	if err := termination.Write(message, manifest.RunResult{Code: manifest.RunStarted}); err != nil {
		return unverified(termination.DefaultPath), err
	}
	return lookAfter(sandbox, policy, received, children)
}

// lookAfter is the part of live in which the agent runs.
func lookAfter(sandbox manifest.Sandbox, policy launch.Policy, received signals.Received, children *launch.Children) (outcome, error) {
	agent, err := start(sandbox, policy)
	if err != nil {
		return notStarted(err), err
	}
	if err := probe.Announce(probe.StartedStage(policy.Landlock)); err != nil {
		return unverified(""), err
	}
	clock := newClock(sandbox)
	if agent == none {
		return awaitEnd(received, clock, children), nil
	}
	return supervise(agent, received, clock, children), nil
}

// start executes the agent and returns its pid, or none if the sandbox has no
// agent process. On success execve has succeeded.
func start(sandbox manifest.Sandbox, policy launch.Policy) (int, error) {
	argv := slices.Concat(sandbox.Command, sandbox.Args)
	if len(argv) == 0 {
		return none, nil
	}
	agent, err := policy.Start("agent's program", argv, sandbox.Env)
	return agent.PID, err
}

// notStarted is the outcome that belongs to an error of start.
func notStarted(err error) outcome {
	failed, ok := errors.AsType[*launch.ProgramError](err)
	if !ok {
		return unverified("")
	}
	code := manifest.RunCommandNotExecutable
	if failed.Missing() {
		code = manifest.RunCommandNotFound
	}
	return outcome{manifest.RunResult{Code: code, Path: failed.Program}, launch.ExitCode(err)}
}

// conceal closes the launcher to the agent, and says that the agent isn't
// there yet.
func conceal() error {
	if err := probe.Announce(probe.Starting); err != nil {
		return err
	}
	return launch.Conceal()
}

// unverified is the outcome when something at a path kept the sandbox from
// being what the session was promised.
func unverified(path string) outcome {
	return outcome{manifest.RunResult{Code: manifest.RunPolicyUnverified, Path: path}, launch.ExitUnverified}
}

// notVerified is the outcome that belongs to a failed check. A memory store that
// refuses to be written is the session's to mend, so it is told apart.
func notVerified(failed *verify.Failure) outcome {
	end := unverified(failed.Path)
	if !layout.Contains(layout.Memory, failed.Path) {
		return end
	}
	switch {
	case errors.Is(failed, unix.EROFS):
		end.result.Code = manifest.RunStoreReadOnly
	case errors.Is(failed, unix.EACCES):
		end.result.Code = manifest.RunStoreForbidden
	}
	return end
}

// complain tells the reader of the container's log why the agent doesn't run.
func complain(err error) {
	fmt.Fprintln(os.Stderr, "orca-sandbox:", err)
}
