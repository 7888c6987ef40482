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
	"strconv"
	"strings"
)

// setting is a kernel parameter, and what the cluster does with it.
type setting struct {
	name string
	// atLeast is the least value that the cluster needs; parameters without
	// one are those that the kubelet sets by itself.
	atLeast int
}

var settings = []setting{
	{"net/ipv4/ip_forward", 1},
	// Each container log, each watched folder, and each shim takes some.
	{"fs/inotify/max_user_instances", 8192},
	{"fs/inotify/max_user_watches", 524288},
	{"vm/overcommit_memory", 0},
	{"vm/panic_on_oom", 0},
	{"kernel/panic", 0},
	{"kernel/panic_on_oops", 0},
	{"kernel/keys/root_maxkeys", 0},
	{"kernel/keys/root_maxbytes", 0},
}

// Sysctls sets kernel parameters and can put them back.
type Sysctls struct {
	// Saved is the file that has the values from before the first start.
	Saved string
	// Dir is /proc/sys.
	Dir string
}

// Apply writes the present values down, if that wasn't done before, and then
// raises those that are too low.
func (s Sysctls) Apply() error {
	if err := s.save(); err != nil {
		return fmt.Errorf("saving kernel parameters: %w", err)
	}
	for _, set := range settings {
		if err := s.raise(set); err != nil {
			return fmt.Errorf("setting the kernel parameter %s: %w", set.name, err)
		}
	}
	return nil
}

func (s Sysctls) save() error {
	if exists(s.Saved) {
		return nil
	}
	values := map[string]string{}
	for _, set := range settings {
		value, err := s.read(set.name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		values[set.name] = value
	}
	b, err := json.Marshal(values)
	if err != nil {
		return err
	}
	tmp := s.Saved + ".tmp"
	if err := os.WriteFile(tmp, b, 0o644); err != nil {
		return err
	}
	return os.Rename(tmp, s.Saved)
}

func (s Sysctls) raise(set setting) error {
	if set.atLeast == 0 {
		return nil
	}
	value, err := s.read(set.name)
	if err != nil {
		return err
	}
	if n, err := strconv.Atoi(value); err != nil || n >= set.atLeast {
		return err
	}
	return s.write(set.name, strconv.Itoa(set.atLeast))
}

// Restore puts the saved values back and forgets them.
func (s Sysctls) Restore() error {
	b, err := os.ReadFile(s.Saved)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	values := map[string]string{}
	if err := json.Unmarshal(b, &values); err != nil {
		return fmt.Errorf("reading the saved kernel parameters in %s: %w", s.Saved, err)
	}
	for name, value := range values {
		if err := s.write(name, value); err != nil {
			return fmt.Errorf("putting the kernel parameter %s back: %w", name, err)
		}
	}
	return os.Remove(s.Saved)
}

func (s Sysctls) read(name string) (string, error) {
	b, err := os.ReadFile(filepath.Join(s.Dir, name))
	return strings.TrimSpace(string(b)), err
}

func (s Sysctls) write(name, value string) error {
	return os.WriteFile(filepath.Join(s.Dir, name), []byte(value), 0o644)
}
