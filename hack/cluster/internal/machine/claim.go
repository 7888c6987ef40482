// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Claim is the file by which one state folder holds this machine's addresses,
// interface, and control groups. It is read and written under a lock.
type Claim struct{ Path string }

// Holding is what the file says; the zero value says that nobody holds the
// machine.
type Holding struct {
	// Dir is the state folder.
	Dir string `json:"dir"`
	// BootID tells a claim of today from one of before a restart of the
	// machine, which left nothing to hold.
	BootID string `json:"bootID"`
	// Leaving is set before the cluster is taken down. What is found with it
	// may be half gone.
	Leaving bool `json:"leaving,omitempty"`
}

// Read gives the present claim.
func (c Claim) Read() (Holding, error) {
	b, err := os.ReadFile(c.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return Holding{}, nil
	}
	if err != nil {
		return Holding{}, fmt.Errorf("reading which cluster holds this machine: %w", err)
	}
	boot, err := BootID()
	if err != nil {
		return Holding{}, err
	}
	var h Holding
	if json.Unmarshal(b, &h) != nil || h.BootID != boot {
		return Holding{}, nil
	}
	return h, nil
}

// Take claims the machine for the state folder.
func (c Claim) Take(dir string) error { return c.write(Holding{Dir: dir}) }

// Leave keeps the claim until all that it stands for is gone.
func (c Claim) Leave(dir string) error { return c.write(Holding{Dir: dir, Leaving: true}) }

func (c Claim) write(h Holding) error {
	boot, err := BootID()
	if err != nil {
		return err
	}
	h.BootID = boot
	b, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(c.Path), 0o755); err != nil {
		return err
	}
	tmp := c.Path + ".tmp"
	if err := os.WriteFile(tmp, b, 0o644); err != nil {
		return err
	}
	return os.Rename(tmp, c.Path)
}
