// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// stress are ways to have many refused writes. Each returns how many of those
// there were.
var stress = map[string]func() (int, error){
	"threads":    manyThreads,
	"timer":      fastTimer,
	"killed":     killedCallers,
	"killed one": untilKilled,
	"stopped":    stoppedCallers,
	"many":       func() (int, error) { return 500, refusals(500) },
}

// refusals tries refused writes one after the other.
func refusals(count int) error {
	for range count {
		fd, err := unix.Open(deniedPath, unix.O_WRONLY|unix.O_CREAT|unix.O_CLOEXEC, 0o600)
		if !errors.Is(err, unix.EROFS) {
			return fmt.Errorf("opened %d with error %w, want EROFS", fd, err)
		}
	}
	return nil
}

// manyThreads has 2,000 threads write where they may and where they may not,
// all at once.
func manyThreads() (int, error) {
	const count = 2000
	var failed atomic.Pointer[error]
	var ready, done sync.WaitGroup
	begin := make(chan struct{})
	ready.Add(count)
	for i := range count {
		done.Go(func() {
			runtime.LockOSThread()
			ready.Done()
			<-begin
			path := "/tmp/thread-" + strconv.Itoa(i)
			// Folders, for there are not so many descriptors.
			err := errors.Join(unix.Mkdir(path, 0o700), unix.Rmdir(path))
			if refused := unix.Mkdir(deniedPath, 0o700); !errors.Is(refused, unix.EROFS) {
				err = fmt.Errorf("mkdir gave %w, want EROFS", refused)
			}
			if err != nil {
				failed.Store(&err)
			}
		})
	}
	ready.Wait()
	close(begin)
	done.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return count, nil
}

// fastTimer interrupts a caller every two milliseconds.
func fastTimer() (int, error) {
	alarms := make(chan os.Signal, 1000)
	signal.Notify(alarms, syscall.SIGALRM)
	interval := unix.Itimerval{Interval: unix.Timeval{Usec: 2000}, Value: unix.Timeval{Usec: 2000}}
	if _, err := unix.Setitimer(unix.ITIMER_REAL, interval); err != nil {
		return 0, err
	}
	count := 0
	for ; count < 200 || len(alarms) < 5; count++ {
		if err := refusals(1); err != nil {
			return 0, err
		}
	}
	_, err := unix.Setitimer(unix.ITIMER_REAL, unix.Itimerval{})
	return count, err
}

// killedCallers kills processes that do nothing but try. How many lines those
// get nobody knows.
func killedCallers() (int, error) {
	for range 50 {
		command := exec.Command("/proc/self/exe", "killed one")
		command.Env = []string{agentVariable + "=stress"}
		command.Stderr = os.Stderr
		output, err := command.StdoutPipe()
		if err != nil {
			return 0, err
		}
		if err := command.Start(); err != nil {
			return 0, err
		}
		// It has begun; a call of it may be anywhere.
		if _, err := output.Read(make([]byte, 1)); err != nil {
			return 0, err
		}
		if err := command.Process.Kill(); err != nil {
			return 0, err
		}
		_ = command.Wait()
	}
	return -1, refusals(1)
}

func untilKilled() (int, error) {
	for {
		if err := refusals(20); err != nil {
			return 0, err
		}
		fmt.Print(".")
	}
}

// stoppedCallers stops and continues a caller all the time.
func stoppedCallers() (int, error) {
	command := exec.Command("/proc/self/exe", "many")
	command.Env = []string{agentVariable + "=stress"}
	command.Stderr = os.Stderr
	if err := command.Start(); err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	for {
		select {
		case err := <-ended:
			return 500, err
		default:
			_ = command.Process.Signal(syscall.SIGSTOP)
			time.Sleep(100 * time.Microsecond)
			_ = command.Process.Signal(syscall.SIGCONT)
			time.Sleep(time.Millisecond)
		}
	}
}

func stressAgent() int {
	count, err := stress[os.Args[1]]()
	if err != nil {
		return fail(err)
	}
	fmt.Println("count", count)
	return 0
}

// ontoSocketAgent runs a stress agent whose standard error is a socket, and
// passes on what comes out of that.
func ontoSocketAgent() int {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fail(err)
	}
	from, to := os.NewFile(uintptr(pair[0]), "from"), os.NewFile(uintptr(pair[1]), "to")
	command := exec.Command("/proc/self/exe", os.Args[1])
	command.Env = []string{agentVariable + "=stress"}
	command.Stdout, command.Stderr = os.Stdout, to
	if err := command.Start(); err != nil {
		return fail(err)
	}
	to.Close()
	fmt.Fprint(os.Stderr, readAll(from)())
	if err := command.Wait(); err != nil {
		return fail(err)
	}
	return 0
}

func TestTheSupervisorStandsUpToWhateverCallersDo(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"threads", "timer", "killed", "stopped"} {
		for _, role := range []string{"stress", "onto"} {
			if kind == "threads" && role == "onto" {
				continue // More than the socket takes at once.
			}
			t.Run(kind+" "+role, func(t *testing.T) {
				t.Parallel()
				c := inSealedTree(t, agent(role, kind), containerOptions{})
				c.wantEnd(0, exited(0))
				lines := denials(t, c.errors.String())
				var count int
				if _, err := fmt.Sscanf(c.output.String(), "count %d", &count); err != nil {
					t.Fatalf("%v: output %q", err, c.output)
				}
				if count >= 0 && len(lines) != count {
					t.Errorf("%d lines of %d refusals", len(lines), count)
				}
				if len(lines) == 0 || strings.Contains(c.errors.String(), "not shown") {
					t.Errorf("%d lines; errors begin:\n%.2000s", len(lines), c.errors)
				}
			})
		}
	}
}

func TestWithoutItsSupervisorACallFailsAndDoesNotHang(t *testing.T) {
	t.Parallel()
	c := startSeparate(t)
	call := c.startCall(nil, "sh", "-c", `sh -c 'until [ -e /tmp/go ]; do sleep 0.01; done; cat /workspace/app/readme; echo x > /tmp/x; echo "code $?"' & echo ready; wait; echo "it runs on"`)
	await(t, func() bool { return call.output.String() != "" }, call.errors.String)
	c.enter("sh", "-c", `for p in /proc/[0-9]*; do
		cat $p/cmdline 2>/dev/null | tr '\0' ' ' | grep -q "^orca-sandbox exec-back " && kill -KILL ${p#/proc/}; done; touch /tmp/go`)
	if code := call.exitCode(t); code != 137 || !strings.Contains(call.errors.String(), "orca-sandbox: the supervisor was killed, and the program with it\n") {
		t.Errorf("exit code %d, want 137; errors %q", code, call.errors)
	}
	await(t, func() bool { return strings.Contains(call.output.String(), "code") }, call.errors.String)
	if call.output.String() != "ready\nreadme\ncode 2\n" || !strings.Contains(call.errors.String(), "Function not implemented") {
		t.Errorf("output %q, errors %q", call.output, call.errors)
	}
}
