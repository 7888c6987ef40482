// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// LaunchCommand is the hidden subcommand by which the program becomes a
// component. See Launch.
const LaunchCommand = "launch"

const (
	pollInterval = 100 * time.Millisecond
	// stopGrace is how long a component may take to end by itself.
	stopGrace = 5 * time.Second
	// recordWait bounds the time between fork and the written record.
	recordWait = 10 * time.Second
	// openFiles is the limit of open files that components get; a login
	// shell's limit is often too low for watches.
	openFiles = 1 << 20
	// lockFD is where the launcher finds Runner.Lock, the first extra file.
	lockFD = 3
)

// start runs this very program again as the launcher of the component.
func (r Runner) start(ctx context.Context, s Spec) error {
	log, err := r.openLog(s.Name)
	if err != nil {
		return err
	}
	defer log.Close()
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	args := append([]string{LaunchCommand, r.recordPath(s.Name), s.Hash(), s.Path}, s.Args...)
	cmd := exec.Command(self, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.Dir = s.Env, log, log, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if r.Lock != nil {
		cmd.ExtraFiles = []*os.File{r.Lock}
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", s.Name, err)
	}
	// Reaps the process if it ends while this program still runs.
	go func() { _ = cmd.Wait() }()
	return r.awaitRecord(ctx, s.Name, cmd.Process.Pid)
}

func (r Runner) openLog(name string) (*os.File, error) {
	if err := os.MkdirAll(r.LogDir, 0o755); err != nil {
		return nil, fmt.Errorf("creating the log folder: %w", err)
	}
	log, err := os.OpenFile(r.LogPath(name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening the log of %s: %w", name, err)
	}
	return log, nil
}

func (r Runner) awaitRecord(ctx context.Context, name string, pid int) error {
	ctx, cancel := context.WithTimeout(ctx, recordWait)
	defer cancel()
	for {
		rec, found, err := readRecord(r.recordPath(name))
		if err != nil {
			return err
		}
		if found && rec.PID == pid {
			return nil
		}
		if _, running, _ := startTime(pid); !running {
			return r.failure(name, "could not be launched", errors.New("the launcher ended"))
		}
		select {
		case <-ctx.Done():
			return r.failure(name, "was not launched", context.Cause(ctx))
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Launch writes the record of the calling process and then replaces it by the
// component's program. The record is written by the process that it describes:
// whoever started it may be killed at any moment, and there is no moment at
// which a component runs that nobody knows of.
func Launch(args []string) error {
	if len(args) < 3 {
		return errors.New("launch wants a record file, a hash, and a program")
	}
	unix.CloseOnExec(lockFD)
	record, hash, argv := args[0], args[1], args[2:]
	rec, err := recordSelf(hash)
	if err != nil {
		return err
	}
	if err := raiseOpenFiles(); err != nil {
		return fmt.Errorf("raising the limit of open files: %w", err)
	}
	if err := rec.write(record); err != nil {
		return fmt.Errorf("writing the process record: %w", err)
	}
	return fmt.Errorf("executing %s: %w", argv[0], syscall.Exec(argv[0], argv, os.Environ()))
}

// raiseOpenFiles goes as far as the kernel lets it: even root may lack the
// right to exceed the hard limit.
func raiseOpenFiles() error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	wanted := &unix.Rlimit{Cur: openFiles, Max: max(openFiles, limit.Max)}
	err := unix.Setrlimit(unix.RLIMIT_NOFILE, wanted)
	if errors.Is(err, unix.EPERM) {
		limit.Cur = limit.Max
		return unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)
	}
	return err
}
