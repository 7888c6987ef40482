// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package component runs the cluster's programs: each is a process of its own
// session with a log file, known again by a record of its process id, start
// time and boot, so that no other process is ever taken for it.
package component

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Spec says how a component runs.
type Spec struct {
	Name string
	// Path is the program.
	Path string
	Args []string
	// Env is the whole environment: nothing is inherited from the terminal.
	Env []string
	// Inputs are the contents of what the program reads once, at its start.
	// A change of them restarts it.
	Inputs []string
	// Ready makes one attempt to see whether the component serves.
	Ready func(context.Context) error
}

// Hash changes whenever a running process would have to be replaced.
func (s Spec) Hash() string {
	h := sha256.New()
	for _, part := range slices.Concat([]string{s.Path}, s.Args, s.Env, s.Inputs) {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Runner keeps the records and the logs.
type Runner struct {
	RecordDir string
	LogDir    string
	// Lock, if any, is the held lock under which components are started. A
	// launched process keeps it until its record is written, so that whoever
	// gets the lock next sees every component, even when the one that started
	// it was killed in between.
	Lock *os.File
}

func (r Runner) recordPath(name string) string { return filepath.Join(r.RecordDir, name+".json") }

// LogPath is where the component's output goes.
func (r Runner) LogPath(name string) string { return filepath.Join(r.LogDir, name+".log") }

// Running gives the component's record, and whether its process lives.
func (r Runner) Running(name string) (Record, bool, error) {
	rec, found, err := readRecord(r.recordPath(name))
	if err != nil || !found {
		return Record{}, false, err
	}
	alive, err := rec.Alive()
	return rec, alive, err
}

// Ensure starts the component unless it already runs as the spec says, and
// reports whether it did. A process that runs another spec is ended first.
func (r Runner) Ensure(ctx context.Context, s Spec) (started bool, err error) {
	rec, alive, err := r.Running(s.Name)
	if err != nil {
		return false, fmt.Errorf("looking for %s: %w", s.Name, err)
	}
	if alive && rec.SpecHash == s.Hash() {
		return false, nil
	}
	if alive {
		if err := r.Stop(s.Name, stopGrace); err != nil {
			return false, err
		}
	}
	return true, r.start(ctx, s)
}

// WaitReady asks until the component serves. It gives up at once when the
// process has ended, and names the log in every case.
func (r Runner) WaitReady(ctx context.Context, s Spec, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		err := s.Ready(ctx)
		// An answer counts only while the process lives: another program may
		// have the port.
		if _, alive, _ := r.Running(s.Name); !alive {
			return r.failure(s.Name, "ended", err)
		}
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return r.failure(s.Name, fmt.Sprintf("did not become ready (%v)", context.Cause(ctx)), err)
		case <-time.After(pollInterval):
		}
	}
}

// failure explains a component that does not serve by the end of its log.
func (r Runner) failure(name, what string, cause error) error {
	if cause != nil {
		what = fmt.Sprintf("%s: %v", what, cause)
	}
	path := r.LogPath(name)
	return fmt.Errorf("%s %s\nlast lines of %s:\n%s", name, what, path, tail(path, 15))
}

// Forget removes all records.
func (r Runner) Forget() error { return os.RemoveAll(r.RecordDir) }
