// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package signals is what the launcher's processes do with signals: they take
// over all of them, so that none ends the launcher, and pass on what is meant
// for their program.
package signals

import (
	"os"
	"os/signal"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// lastSignal is the highest signal number of Linux.
const lastSignal = 64

// Received are what a process is sent. Children (SIGCHLD) and Stop (SIGTERM)
// have a channel each, so that a flood of other signals can't displace them.
type Received struct {
	Children, Stop, Other chan os.Signal
}

// Receive takes over every signal that can be handled, so that none ends the
// process.
func Receive() Received {
	received := Received{
		Children: make(chan os.Signal, 1),
		Stop:     make(chan os.Signal, 1),
		Other:    make(chan os.Signal, lastSignal),
	}
	signal.Notify(received.Children, syscall.SIGCHLD)
	signal.Notify(received.Stop, syscall.SIGTERM)
	signal.Notify(received.Other, others()...)
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

// Forwarder returns which of the other signals the program is sent too. SIGPIPE
// is about the launcher's own writing. With a controlling terminal the kernel
// has sent the terminal's signals to the program's group already.
func Forwarder() func(syscall.Signal) bool {
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
