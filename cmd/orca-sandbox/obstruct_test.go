// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// obstructions are what a program can do against being made to write its own
// lines. Each returns when it has done so for a while.
var obstructions = map[string]func() error{
	"swap":        swapErrors,
	"exec":        leaveExecuting,
	"exec beside": executeBeside,
}

func obstructAgent() int {
	if err := obstructions[os.Args[1]](); err != nil {
		return fail(err)
	}
	return 0
}

// swapErrors has writes refused while another thread makes standard error a
// file and a full pipe in turn.
func swapErrors() error {
	from, to, err := os.Pipe()
	if err != nil {
		return err
	}
	defer from.Close()
	file, err := os.Create("/tmp/errors")
	if err != nil {
		return err
	}
	if err := fill(to); err != nil {
		return err
	}
	kinds := [2]int{int(file.Fd()), int(to.Fd())}
	go func() {
		for i := 0; ; i++ {
			_ = unix.Dup3(kinds[i%2], 2, 0)
			for range 2000 {
				runtime.KeepAlive(i)
			}
		}
	}()
	for begin := time.Now(); time.Since(begin) < 5*time.Second; {
		if err := refusals(100); err != nil {
			return err
		}
	}
	return nil
}

// leaveExecuting leaves a process behind that has executed programs beside its
// refused writes.
func leaveExecuting() error {
	command := exec.Command("/proc/self/exe", "exec beside", "0")
	command.Env = os.Environ()
	output, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	if said, err := bufio.NewReader(output).ReadString('\n'); err != nil || said != "done\n" {
		return fmt.Errorf("the process said %q: %w", said, err)
	}
	return nil
}

// executeBeside has writes refused on the process's first thread while another
// one executes the program anew, which ends the first without a report.
func executeBeside() error {
	runtime.LockOSThread()
	rounds, _ := strconv.Atoi(os.Args[len(os.Args)-1])
	if rounds > 100 {
		fmt.Println("done")
		time.Sleep(time.Hour)
	}
	if unix.Gettid() != os.Getpid() {
		return syscall.Exec("/proc/self/exe", os.Args, os.Environ())
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := unix.Dup3(pair[0], 2, 0); err != nil {
		return err
	}
	go func() {
		runtime.LockOSThread()
		time.Sleep(time.Duration(rounds%10) * 100 * time.Microsecond)
		fmt.Println(syscall.Exec("/proc/self/exe", []string{agentProgram, "exec beside", strconv.Itoa(rounds + 1)}, os.Environ()))
	}()
	for {
		fd, err := unix.Open(deniedPath, unix.O_WRONLY|unix.O_CREAT, 0o600)
		if !errors.Is(err, unix.EROFS) {
			return fmt.Errorf("opened %d with error %w, want EROFS", fd, err)
		}
	}
}

func TestNoCallerHoldsUpTheLauncher(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"swap", "exec"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			c := inSealedTree(t, agent("obstruct", kind), containerOptions{})
			c.wantEnd(0, exited(0))
			if c.output.String() != "" {
				t.Errorf("output %q", c.output)
			}
		})
	}
}
