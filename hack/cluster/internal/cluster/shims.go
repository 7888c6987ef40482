// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

const shimProgram = "containerd-shim-runc-v2"

// stopShims kills the processes that hold containers. containerd starts them,
// so there is no record of them; they are known by the socket of this very
// containerd in their arguments, and by the program that they run.
func stopShims(program, socket string) error {
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		pids, err := findShims(program, socket)
		if err != nil || len(pids) == 0 {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the shims %v don't end", pids)
		}
		for _, pid := range pids {
			if err := unix.Kill(pid, unix.SIGKILL); err != nil && err != unix.ESRCH {
				return fmt.Errorf("killing the shim %d: %w", pid, err)
			}
		}
	}
}

func findShims(program, socket string) ([]int, error) {
	entries, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, dir := range entries {
		// What can't be read is gone, or a zombie.
		cmdline, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err != nil || !isShim(cmdline, program, socket) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

func isShim(cmdline []byte, program, socket string) bool {
	args := bytes.Split(cmdline, []byte{0})
	if string(args[0]) != program {
		return false
	}
	for i := range args[:len(args)-1] {
		if string(args[i]) == "-address" && string(args[i+1]) == socket {
			return true
		}
	}
	return false
}
