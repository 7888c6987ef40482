// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package component

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
)

// killWait is how long a killed process may take to go away; it is not
// instant where it waits for a disk.
const killWait = 10 * time.Second

// Stop ends the component: it is asked first, and killed after the grace. One
// that doesn't run is no error. The record stays, and is then one of a process
// that is gone.
func (r Runner) Stop(name string, grace time.Duration) error {
	rec, found, err := readRecord(r.recordPath(name))
	if err != nil || !found {
		return err
	}
	if err := rec.stop(grace); err != nil {
		return fmt.Errorf("stopping %s (process %d): %w", name, rec.PID, err)
	}
	return nil
}

// StopAll ends several components at the same time.
func (r Runner) StopAll(names ...string) error {
	errs := make([]error, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() { errs[i] = r.Stop(name, stopGrace) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// stop takes hold of the process before it looks whether it is the right one.
// The handle stays with that process, so a signal can't reach a later one that
// was given the same number.
func (r Record) stop(grace time.Duration) error {
	if r.PID <= 1 {
		return nil
	}
	proc, err := os.FindProcess(r.PID)
	if err != nil {
		return err
	}
	defer func() { _ = proc.Release() }()
	if alive, err := r.Alive(); err != nil || !alive {
		return err
	}
	if gone, err := r.signal(proc, syscall.SIGTERM, grace); gone || err != nil {
		return err
	}
	gone, err := r.signal(proc, syscall.SIGKILL, killWait)
	if err == nil && !gone {
		err = fmt.Errorf("still there %s after SIGKILL", killWait)
	}
	return err
}

func (r Record) signal(proc *os.Process, sig os.Signal, wait time.Duration) (gone bool, err error) {
	if err := proc.Signal(sig); err != nil {
		if errors.Is(err, os.ErrProcessDone) {
			return true, nil
		}
		return false, err
	}
	for deadline := time.Now().Add(wait); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		alive, err := r.Alive()
		if err != nil || !alive {
			return !alive, err
		}
	}
	return false, nil
}
