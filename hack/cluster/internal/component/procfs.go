// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package component

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// startTime is when the process began, in clock ticks since boot. A zombie
// counts as gone: it runs nothing and waits only for its parent.
func startTime(pid int) (ticks uint64, running bool, err error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false, ignoreGone(err)
	}
	state, ticks, err := parseStat(string(b))
	if err != nil {
		return 0, false, fmt.Errorf("reading /proc/%d/stat: %w", pid, err)
	}
	return ticks, state != "Z" && state != "X", nil
}

// ignoreGone drops the errors that reading a process's file gives once the
// process has ended.
func ignoreGone(err error) error {
	if errors.Is(err, os.ErrNotExist) || strings.Contains(err.Error(), "no such process") {
		return nil
	}
	return err
}

// parseStat reads the state (field 3) and the start time (field 22). The
// command's name, field 2, may itself hold spaces and brackets, so counting
// begins after its last closing bracket.
func parseStat(stat string) (state string, ticks uint64, err error) {
	end := strings.LastIndexByte(stat, ')')
	if end < 0 {
		return "", 0, errors.New("no command name in it")
	}
	fields := strings.Fields(stat[end+1:])
	const startField = 22 - 3
	if len(fields) <= startField {
		return "", 0, fmt.Errorf("%d fields after the command name, want more than %d", len(fields), startField)
	}
	ticks, err = strconv.ParseUint(fields[startField], 10, 64)
	if err != nil {
		return "", 0, fmt.Errorf("start time: %w", err)
	}
	return fields[0], ticks, nil
}
