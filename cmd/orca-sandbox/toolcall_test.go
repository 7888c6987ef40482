// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orca-agent-engine/orca-operator/controllers/layout"
	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

// separate is a sandbox that only waits for calls.
func separate() manifest.Sandbox {
	return manifest.Sandbox{
		LifetimeSeconds: 3600, GracePeriodSeconds: 3600,
		Env: []manifest.EnvVar{{Name: "SESSION", Value: "session"}},
	}
}

// startSeparate starts a sealed sandbox without an agent and waits for it.
func startSeparate(t *testing.T) *container {
	t.Helper()
	c := inSealedTree(t, separate(), containerOptions{})
	await(t, func() bool { _, exitCode := c.enter("/orca/bin/orca-sandbox", "started"); return exitCode == 0 }, c.errors.String)
	return c
}

// call is a call in a container, as kubectl exec makes one.
type call struct {
	command        *exec.Cmd
	output, errors *buffer
	done           chan error
}

// startCall starts a program by exec.
func (c *container) startCall(input io.Reader, program ...string) *call {
	c.t.Helper()
	return c.startProgram(input, append([]string{
		"env", "-i", "PATH=/usr/bin:/bin", "HOME=/root", "ORCA_MANIFEST_DIGEST=" + c.digest, "/orca/bin/orca-sandbox", "exec", "--",
	}, program...)...)
}

// startProgram starts a program in the container, with streams of its own.
func (c *container) startProgram(input io.Reader, arguments ...string) *call {
	c.t.Helper()
	started := &call{c.entering(arguments...), &buffer{}, &buffer{}, make(chan error, 1)}
	started.command.Stdin = input
	output, outputCopied := c.stream(started.output)
	errors, errorsCopied := c.stream(started.errors)
	started.command.Stdout, started.command.Stderr = output, errors
	err := started.command.Start()
	output.Close()
	errors.Close()
	if err != nil {
		c.t.Fatal(err)
	}
	go func() {
		err := started.command.Wait()
		<-outputCopied
		<-errorsCopied
		started.done <- err
	}()
	return started
}

// stream returns a pipe of the sandbox's user, as container runtimes give one.
// What comes out of it is copied until its other end is closed everywhere.
func (c *container) stream(to *buffer) (*os.File, <-chan struct{}) {
	c.t.Helper()
	from, into, err := os.Pipe()
	if err != nil {
		c.t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		if err := into.Chown(sandboxUser, sandboxUser); err != nil {
			c.t.Fatal(err)
		}
	}
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		defer from.Close()
		_, _ = io.Copy(to, from)
	}()
	return into, copied
}

// exitCode waits for the call's end, and for its streams to be closed.
func (c *call) exitCode(t *testing.T) int {
	t.Helper()
	var err error
	await(t, func() bool {
		select {
		case err = <-c.done:
			return true
		default:
			return false
		}
	}, func() string {
		return fmt.Sprintf("the end of the call; output:\n%s\nerrors:\n%s", c.output, c.errors)
	})
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatal(err)
	}
	return c.command.ProcessState.ExitCode()
}

func TestACallRunsUnderThePolicyWithTheAgentsEnvironment(t *testing.T) {
	t.Parallel()
	c := startSeparate(t)
	call := c.startCall(strings.NewReader("input\n"), "sh", "-c", `cat; pwd; echo "$HOME $TMPDIR $SESSION"; stat -c %a "$HOME"; echo x > /workspace/new; ls /proc/self/fd | wc -l; echo x > /tmp/x && echo done`)
	if code := call.exitCode(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
	want := "input\n/workspace\n/tmp/home /tmp session\n700\n4\ndone\n"
	if diff := cmp.Diff(want, call.output.String()); diff != "" {
		t.Errorf("the output differs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"/workspace/new"}, denials(t, call.errors.String())); diff != "" {
		t.Errorf("the refused paths differ (-want +got):\n%s", diff)
	}
}

func TestTheExitCodeOfACall(t *testing.T) {
	t.Parallel()
	c := startSeparate(t)
	for name, tc := range map[string]struct {
		program []string
		want    int
		text    string
	}{
		"success":        {[]string{"true"}, 0, ""},
		"failure":        {[]string{"sh", "-c", "exit 3"}, 3, ""},
		"the highest":    {[]string{"sh", "-c", "exit 255"}, 255, ""},
		"killed":         {[]string{"sh", "-c", "kill -KILL $$"}, 137, ""},
		"terminated":     {[]string{"sh", "-c", "kill -TERM $$"}, 143, ""},
		"no such":        {[]string{"no-such"}, 127, `orca-sandbox: the program "no-such" is not in the image` + "\n"},
		"not executable": {[]string{"/workspace/app/readme"}, 126, `orca-sandbox: the program "/workspace/app/readme" can't be executed: permission denied` + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			call := c.startCall(nil, tc.program...)
			if code := call.exitCode(t); code != tc.want || call.errors.String() != tc.text {
				t.Errorf("exit code %d, want %d; errors %q, want %q", code, tc.want, call.errors, tc.text)
			}
		})
	}
}

func TestACallFailsIfThePolicyCannotBeEstablished(t *testing.T) {
	t.Parallel()
	c := startSeparate(t)
	for name, tc := range map[string]struct {
		flags []string
		text  string
	}{
		"another digest": {[]string{"--manifest-digest=sha256:0"}, "it was changed after the pod was made"},
		"no manifest":    {[]string{"--manifest-digest=sha256:0", "--manifest=/no"}, "reading the manifest"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			arguments := append([]string{"/orca/bin/orca-sandbox", "exec"}, tc.flags...)
			output, code := c.enter(append(arguments, "--", "echo", "it runs")...)
			if code != 125 || !strings.Contains(output, tc.text) || strings.Count(output, "\n") != 1 {
				t.Errorf("exit code %d, want 125; output %q, want one line with %q", code, output, tc.text)
			}
		})
	}
}

func TestSignalsReachTheProgramOfACall(t *testing.T) {
	t.Parallel()
	c := startSeparate(t)
	call := c.startCall(nil, "sh", "-c", `trap "exit 7" TERM; trap "echo usr1" USR1; echo ready; while :; do sleep 0.01; done`)
	await(t, func() bool { return call.output.String() != "" }, call.errors.String)
	front := strings.TrimSpace(frontOf(t, c))
	c.enter("kill", "-USR1", front)
	await(t, func() bool { return strings.Contains(call.output.String(), "usr1") }, call.errors.String)
	c.enter("kill", "-TERM", front)
	if code := call.exitCode(t); code != 7 {
		t.Errorf("exit code %d, want 7", code)
	}
}

// frontOf returns the pid, in the container, of the front of its only call.
func frontOf(t *testing.T, c *container) string {
	t.Helper()
	output, code := c.enter("sh", "-c", `for p in /proc/[0-9]*; do
		cat $p/cmdline 2>/dev/null | tr '\0' ' ' | grep -q "^/orca/bin/orca-sandbox exec " && echo ${p#/proc/}; done`)
	if strings.Count(output, "\n") != 1 {
		t.Fatalf("code %d, fronts: %q", code, output)
	}
	return output
}

func TestAKilledCallTakesItsProgramAlong(t *testing.T) {
	t.Parallel()
	c := startSeparate(t)
	call := c.startCall(nil, "sh", "-c", `echo ready; exec sleep 3600`)
	await(t, func() bool { return call.output.String() != "" }, call.errors.String)
	c.enter("kill", "-KILL", strings.TrimSpace(frontOf(t, c)))
	if code := call.exitCode(t); code != 137 && code != -1 {
		t.Errorf("exit code %d, want that of a killed process", code)
	}
	awaitProcesses(t, c, 1)
}

// awaitProcesses waits until a container has so many processes, zombies too.
func awaitProcesses(t *testing.T, c *container, count int) {
	t.Helper()
	var got string
	await(t, func() bool {
		got, _ = c.enter("sh", "-c", "set -- /proc/[0-9]*; echo $#")
		// The shell that looks is one of them.
		return got == strconv.Itoa(count+1)+"\n"
	}, func() string { return fmt.Sprintf("%d processes and the one that looks, there are %s", count, got) })
}

func TestABackgroundProcessOutlivesItsCall(t *testing.T) {
	t.Parallel()
	c := startSeparate(t)
	call := c.startCall(nil, "sh", "-c", `nohup sh -c 'until [ -e /tmp/go ]; do sleep 0.01; done; echo x > /tmp/made; echo x > /workspace/new; echo ended >> /tmp/made' >/tmp/log 2>&1 & echo started`)
	if code := call.exitCode(t); code != 0 || call.output.String() != "started\n" {
		t.Fatalf("exit code %d, output %q", code, call.output)
	}
	// A later call reaches it.
	call = c.startCall(nil, "sh", "-c", `touch /tmp/go; until grep -q ended /tmp/made; do sleep 0.01; done; cat /tmp/log`)
	if code := call.exitCode(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if diff := cmp.Diff([]string{"/workspace/new"}, denials(t, call.output.String())); diff != "" {
		t.Errorf("the refused paths differ (-want +got):\n%s\n%s", diff, call.output)
	}
	// Its supervisor ends with it.
	awaitProcesses(t, c, 1)
}

func TestACallCanStopAnEarlierCallsProcess(t *testing.T) {
	t.Parallel()
	c := startSeparate(t)
	call := c.startCall(nil, "sh", "-c", `nohup sleep 3600 >/dev/null 2>&1 & echo $!`)
	if code := call.exitCode(t); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	if code := c.startCall(nil, "kill", "-TERM", strings.TrimSpace(call.output.String())).exitCode(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
	awaitProcesses(t, c, 1)
}

func TestALauncherInsideALauncherGoesOnUnderTheOuterOne(t *testing.T) {
	t.Parallel()
	c := startSeparate(t)
	call := c.startCall(nil, "/orca/bin/orca-sandbox", "exec", "--", "sh", "-c", "echo x > /workspace/new; exit 9")
	if code := call.exitCode(t); code != 9 {
		t.Errorf("exit code %d, want 9", code)
	}
	want := layout.Denial("/workspace/new") + "\nsh: 1: cannot create /workspace/new: Read-only file system\n"
	if diff := cmp.Diff(want, call.errors.String()); diff != "" {
		t.Errorf("standard error differs (-want +got):\n%s", diff)
	}
}

func TestACallAtATerminalHasJobControl(t *testing.T) {
	t.Parallel()
	c := startSeparate(t)
	main, sub := openTerminal(t)
	if err := sub.Chown(sandboxUser, sandboxUser); err != nil && os.Geteuid() == 0 {
		t.Fatal(err)
	}
	command := c.entering("env", "-i", "PATH=/usr/bin:/bin", "TERM=dumb", "ORCA_MANIFEST_DIGEST="+c.digest,
		"/orca/bin/orca-sandbox", "exec", "--", "bash", "--norc", "-i")
	command.Stdin, command.Stdout, command.Stderr = sub, sub, sub
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	output := follow(t, main)
	press(t, main, "sh -c 'echo r\"\"uns; exec sleep 3600'\n")
	awaitText(t, output, "runs")
	press(t, main, "\x1a")
	awaitText(t, output, "Stopped")
	press(t, main, "kill -INT %1; fg\n")
	press(t, main, "echo x > /workspace/new\n")
	awaitText(t, output, layout.Denial("/workspace/new"))
	press(t, main, "exit 6\n")
	deadline := time.AfterFunc(patience, func() { _ = command.Process.Kill() })
	defer deadline.Stop()
	err := command.Wait()
	if code := command.ProcessState.ExitCode(); code != 6 {
		t.Errorf("%v: exit code %d, want 6; the terminal shows:\n%s", err, code, output)
	}
	if strings.Contains(output.String(), "no job control") || strings.Count(output.String(), "write denied") != 1 {
		t.Errorf("the terminal shows:\n%s", output)
	}
}
