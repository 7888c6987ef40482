// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"os"
	"os/signal"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// lastSignal is the highest signal number of Linux.
const lastSignal = 64

// signals are what the launcher is sent. children and stop have a channel each,
// so that a flood of other signals can't displace them.
type signals struct {
	children, stop, other chan os.Signal
}

// receiveSignals takes over every signal that can be handled, so that none ends
// the launcher.
func receiveSignals() signals {
	received := signals{
		children: make(chan os.Signal, 1),
		stop:     make(chan os.Signal, 1),
		other:    make(chan os.Signal, lastSignal),
	}
	signal.Notify(received.children, syscall.SIGCHLD)
	signal.Notify(received.stop, syscall.SIGTERM)
	signal.Notify(received.other, others()...)
	return received
}

// others returns all signals but those that have a channel of their own, those
// that can't be handled, and those that the Go runtime uses within itself.
func others() []os.Signal {
	apart := []syscall.Signal{
		syscall.SIGCHLD, syscall.SIGTERM, syscall.SIGKILL, syscall.SIGSTOP, syscall.SIGURG, syscall.SIGPROF,
	}
	var all []os.Signal
	for number := syscall.Signal(1); number <= lastSignal; number++ {
		if !slices.Contains(apart, number) {
			all = append(all, number)
		}
	}
	return all
}

// forwarder returns which of the other signals the agent is sent too. SIGPIPE
// is about the launcher's own writing. With a controlling terminal the kernel
// has sent the terminal's signals to the agent's group already.
func forwarder() func(syscall.Signal) bool {
	kept := []syscall.Signal{syscall.SIGPIPE}
	if hasTerminal() {
		kept = append(kept, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU)
	}
	return func(s syscall.Signal) bool { return !slices.Contains(kept, s) }
}

// hasTerminal reports whether standard input is the controlling terminal.
func hasTerminal() bool {
	_, err := unix.IoctlGetInt(int(os.Stdin.Fd()), unix.TIOCGSID)
	return err == nil
}
