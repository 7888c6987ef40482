// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package component

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/machine"
)

// Record is what is written down about a started process: enough to know it
// again, and never to take another process for it.
type Record struct {
	PID       int    `json:"pid"`
	StartTime uint64 `json:"startTime"`
	BootID    string `json:"bootID"`
	// SpecHash tells whether the process still runs as its Spec says.
	SpecHash string `json:"specHash"`
}

// Alive reports whether the recorded process still runs.
func (r Record) Alive() (bool, error) {
	boot, err := machine.BootID()
	if err != nil {
		return false, err
	}
	if r.PID <= 1 || r.BootID != boot {
		return false, nil
	}
	ticks, running, err := startTime(r.PID)
	if err != nil {
		return false, err
	}
	return running && ticks == r.StartTime, nil
}

// recordSelf describes the calling process.
func recordSelf(hash string) (Record, error) {
	boot, err := machine.BootID()
	if err != nil {
		return Record{}, err
	}
	ticks, _, err := startTime(os.Getpid())
	if err != nil {
		return Record{}, err
	}
	return Record{PID: os.Getpid(), StartTime: ticks, BootID: boot, SpecHash: hash}, nil
}

// readRecord gives no record and no error where none is written. A file that
// was cut short by a crash of the machine counts as none.
func readRecord(path string) (Record, bool, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Record{}, false, nil
	}
	if err != nil {
		return Record{}, false, fmt.Errorf("reading a process record: %w", err)
	}
	var r Record
	if json.Unmarshal(b, &r) != nil {
		return Record{}, false, nil
	}
	return r, true, nil
}

// write replaces the file as a whole, so that a reader never sees half of it.
func (r Record) write(path string) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	tmp := fmt.Sprintf("%s.%d", path, os.Getpid())
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(tmp, b, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}
