// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package toolcall

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/launch"
	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/probe"
	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/signals"
	"github.com/orca-agent-engine/orca-operator/controllers/layout"
)

// front is the descriptor of the back's end of the socket.
const front = 3

// Serve is the back. It must be called on the main thread.
func Serve(options Options) int {
	unix.CloseOnExec(front)
	received := signals.Receive()
	children := &launch.Children{Ended: received.Children}
	process, err := start(options)
	if err != nil {
		tell(complain(err))
		return launch.ExitUnverified
	}
	exitCode := awaitProgram(process.PID, children)
	leaveStreams(process)
	tell(exitCode)
	awaitDescendants(process, children)
	return 0
}

// start starts the program.
func start(options Options) (launch.Process, error) {
	if err := launch.Conceal(); err != nil {
		return launch.Process{}, err
	}
	// A supervisor must be an ancestor where the kernel restricts tracing.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return launch.Process{}, fmt.Errorf("becoming the parent of orphans: %w", err)
	}
	if _, err := probe.Check(); err != nil {
		return launch.Process{}, fmt.Errorf("the write policy is not established: %w", err)
	}
	sandbox, err := launch.ReadManifest(options.Manifest, options.Digest)
	if err != nil {
		return launch.Process{}, err
	}
	if err := launch.MakeHome(layout.Home); err != nil {
		return launch.Process{}, err
	}
	policy, err := launch.NewPolicy(sandbox.WritableRoots)
	if err != nil {
		return launch.Process{}, err
	}
	return policy.Start("program", options.Command, sandbox.Env)
}

// awaitProgram passes signals on until the program has ended, and returns its
// exit code. If the front is killed, so is the program.
func awaitProgram(program int, children *launch.Children) int {
	sent := listenToFront()
	for {
		select {
		case <-children.Ended:
			if status, ended := children.Reap(program); ended {
				return launch.StatusCode(status)
			}
		case number, more := <-sent:
			if !more {
				number, sent = syscall.SIGKILL, nil
			}
			// It isn't reaped yet, so its pid is its own.
			_ = syscall.Kill(program, number)
		}
	}
}

// listenToFront returns the signals that the front passes on. The channel is
// closed when the front has ended.
func listenToFront() <-chan syscall.Signal {
	sent := make(chan syscall.Signal)
	go func() {
		defer close(sent)
		number := make([]byte, 1)
		for {
			size, err := unix.Read(front, number)
			if errors.Is(err, unix.EINTR) {
				continue
			}
			if err != nil || size == 0 {
				return
			}
			sent <- syscall.Signal(number[0])
		}
	}()
	return sent
}

// tell tells the front the exit code.
func tell(exitCode int) { _, _ = unix.Write(front, []byte{byte(exitCode)}) }

// leaveStreams leaves the standard streams to those who may still use them:
// the caller may wait for them to be closed.
func leaveStreams(process launch.Process) {
	if null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0); err == nil {
		for stream := range 3 {
			_ = unix.Dup3(null, stream, 0)
		}
	}
	if process.Supervisor != nil {
		process.Supervisor.Quieten()
	}
}

// awaitDescendants stays until the last descendant of the program has ended.
func awaitDescendants(process launch.Process, children *launch.Children) {
	if process.Supervisor == nil {
		return
	}
	over := make(chan struct{})
	go func() {
		process.Supervisor.AwaitEnd()
		close(over)
	}()
	for {
		select {
		case <-children.Ended:
			children.Reap(process.PID)
		case <-over:
			return
		}
	}
}
