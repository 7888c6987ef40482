// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// linuxSignals are all but those that can't be handled and those that a Go
// program, which the agent is here, keeps to itself.
func linuxSignals() []syscall.Signal {
	var all []syscall.Signal
	for s := syscall.Signal(1); s <= 64; s++ {
		reserved := s >= 32 && s <= 34 || s == syscall.SIGPROF
		if s != syscall.SIGKILL && s != syscall.SIGSTOP && !reserved {
			all = append(all, s)
		}
	}
	return all
}

func TestSignalsAreForwardedToTheAgent(t *testing.T) {
	t.Parallel()
	c := startContainer(t, agent("signals"), containerOptions{})
	c.awaitOutput("ready")
	kept := []syscall.Signal{syscall.SIGCHLD, syscall.SIGURG, syscall.SIGPIPE}
	for _, s := range linuxSignals() {
		if s == syscall.SIGTERM {
			continue
		}
		c.signal(s)
		if !slices.Contains(kept, s) {
			c.awaitOutput(fmt.Sprintf("signal %d\n", s))
		}
	}
	c.signal(syscall.SIGTERM)
	c.wantEnd(0, stopped)
	for _, s := range kept {
		if strings.Contains(c.output.String(), fmt.Sprintf("signal %d\n", s)) {
			t.Errorf("%v was forwarded", s)
		}
	}
}

func TestATerminalsInterruptReachesTheAgentOnce(t *testing.T) {
	t.Parallel()
	main, sub := openTerminal(t)
	c := startContainer(t, agent("signals"), containerOptions{terminal: sub})
	output := follow(t, main)
	awaitText(t, output, "ready")
	press(t, main, "\x03")
	awaitText(t, output, "signal 2")
	// What the launcher would forward is behind the kernel's own; a later signal
	// shows that nothing is on its way any more.
	c.signal(syscall.SIGUSR1)
	awaitText(t, output, "signal 10")
	c.signal(syscall.SIGTERM)
	c.wantEnd(0, stopped)
	if got := strings.Count(output.String(), "signal 2\r\n"); got != 1 {
		t.Errorf("%d interrupts, want 1; output:\n%s", got, output)
	}
}

func TestAShellAtATerminalHasJobControl(t *testing.T) {
	t.Parallel()
	main, sub := openTerminal(t)
	sandbox := shell("")
	sandbox.Command, sandbox.Args = []string{"bash", "--norc", "-i"}, nil
	c := startContainer(t, sandbox, containerOptions{terminal: sub})
	output := follow(t, main)
	// The quotes keep what is typed, and shown, apart from what is printed.
	press(t, main, "sh -c 'echo r\"\"uns; exec sleep 3600'\n")
	awaitText(t, output, "runs")
	press(t, main, "\x1a")
	awaitText(t, output, "Stopped")
	press(t, main, "PS1='pr''ompt> '; kill -INT %1; fg\n")
	awaitText(t, output, "prompt> ")
	press(t, main, "exit 6\n")
	c.wantEnd(6, exited(6))
	if strings.Contains(output.String(), "no job control") {
		t.Errorf("the shell has no job control:\n%s", output)
	}
}

// openTerminal returns both ends of a new terminal.
func openTerminal(t *testing.T) (main, sub *os.File) {
	t.Helper()
	main, sub, err := terminal()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = main.Close(), sub.Close() })
	return main, sub
}

func terminal() (main, sub *os.File, err error) {
	main, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	if err := unix.IoctlSetPointerInt(int(main.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		return nil, nil, err
	}
	number, err := unix.IoctlGetInt(int(main.Fd()), unix.TIOCGPTN)
	if err != nil {
		return nil, nil, err
	}
	sub, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	return main, sub, err
}

// follow collects what is shown on a terminal.
func follow(t *testing.T, main *os.File) *buffer {
	t.Helper()
	shown := &buffer{}
	go func() {
		block := make([]byte, 4096)
		for {
			n, err := main.Read(block)
			if err != nil {
				return
			}
			_, _ = shown.Write(block[:n])
		}
	}()
	return shown
}

func press(t *testing.T, main *os.File, keys string) {
	t.Helper()
	if _, err := main.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

func awaitText(t *testing.T, shown *buffer, text string) {
	t.Helper()
	await(t, func() bool { return strings.Contains(shown.String(), text) }, func() string {
		return fmt.Sprintf("%q on the terminal, which shows:\n%s", text, shown)
	})
}
