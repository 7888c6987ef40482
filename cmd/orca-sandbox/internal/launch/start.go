// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package launch starts a program of the sandbox: with the environment and the
// HOME that the contract promises, under the write policy, and supervised.
package launch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/confine"
	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/supervisor"
	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

// ProgramError says why a program wasn't executed though the policy stood.
type ProgramError struct {
	// Role is what the program is in the sandbox, such as "agent's program".
	Role string
	// Program is its name.
	Program string
	err     error
}

func (e *ProgramError) Error() string {
	if e.Missing() {
		return fmt.Sprintf("the %s %q is not in the image", e.Role, e.Program)
	}
	return fmt.Sprintf("the %s %q can't be executed: %v", e.Role, e.Program, e.err)
}

// Missing reports whether there is no such program.
func (e *ProgramError) Missing() bool { return errors.Is(e.err, fs.ErrNotExist) }

// Process is a program that was started. Its execve has succeeded.
type Process struct {
	PID int
	// Supervisor explains refused writes; nil where nobody can.
	Supervisor *supervisor.Supervisor
}

// Policy is the write policy as this kernel can hold it.
type Policy struct {
	roots []string
	// Landlock tells whether the kernel holds it by more than mounts.
	Landlock   bool
	supervisor *supervisor.Supervisor
}

// NewPolicy prepares to hold programs to the writable roots.
func NewPolicy(roots []string) (Policy, error) {
	landlock, err := confine.Landlock(roots)
	if err != nil {
		return Policy{}, err
	}
	mounts, err := supervisor.RefusingMounts(roots, landlock)
	if err != nil {
		return Policy{}, err
	}
	explaining, err := supervisor.New(mounts)
	if err != nil {
		return Policy{}, err
	}
	return Policy{roots, landlock, explaining}, nil
}

// Conceal keeps the programs of the sandbox, which have the launcher's uid,
// from tracing the calling process and reading its memory.
func Conceal() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("closing the launcher to other processes: %w", err)
	}
	return nil
}

// ReadManifest reads a manifest that must have a digest.
func ReadManifest(path, digest string) (manifest.Sandbox, error) {
	encoded, err := os.ReadFile(path)
	if err != nil {
		return manifest.Sandbox{}, fmt.Errorf("reading the manifest: %w", err)
	}
	return manifest.Decode[manifest.Sandbox](encoded, digest)
}

// Start executes a program under the policy. A *ProgramError is about the
// program; with any other error the policy couldn't be established.
func (p Policy) Start(role string, argv []string, session []manifest.EnvVar) (Process, error) {
	variables := environment(os.Environ(), session)
	searchPath, set := variables.values["PATH"]
	if !set {
		searchPath = defaultPath
	}
	program, err := findProgram(argv[0], searchPath)
	if err != nil {
		return Process{}, &ProgramError{role, argv[0], err}
	}
	started, err := confine.Start(confine.Plan{
		Program: program, Argv: argv, Env: variables.list(), WritableRoots: p.roots,
	})
	if failed, ok := errors.AsType[*confine.ExecError](err); ok {
		err = &ProgramError{role, argv[0], failed.Errno}
		if failed.Errno == syscall.ENOENT {
			err = &ProgramError{role, argv[0], errors.New("the interpreter that it names is not in the image")}
		}
	}
	if err != nil {
		return Process{}, err
	}
	return p.supervise(started), nil
}

func (p Policy) supervise(started confine.Process) Process {
	if started.Listener == nil {
		// A launcher further up explains already.
		if !errors.Is(started.Unheard, unix.EBUSY) {
			fmt.Fprintln(os.Stderr, "orca-sandbox: refused writes can't be explained to their programs here:", started.Unheard)
		}
		return Process{PID: started.PID}
	}
	p.supervisor.Start(started.Listener)
	return Process{started.PID, p.supervisor}
}
