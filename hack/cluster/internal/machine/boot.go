// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"fmt"
	"os"
	"strings"
)

// BootID changes with every start of the machine. What was written down before
// says nothing about the processes, mounts and interfaces of today.
func BootID() (string, error) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("reading the boot id: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}
