// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"strings"
)

// The lines of a page between which the table is.
const (
	begin = "<!-- The table is written by make bench. -->\n"
	end   = "<!-- The end of the table. -->\n"
)

// update puts the table into a file.
func update(page, table string) error {
	content, err := os.ReadFile(page)
	if err != nil {
		return fmt.Errorf("reading the page: %w", err)
	}
	changed, found := between(string(content), table)
	if !found {
		return fmt.Errorf("%s has not the lines %q and %q", page, begin, end)
	}
	if err := os.WriteFile(page, []byte(changed), 0o644); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}

// between replaces what is between the markers.
func between(page, table string) (string, bool) {
	before, rest, begins := strings.Cut(page, begin)
	_, after, ends := strings.Cut(rest, end)
	return before + begin + "\n" + table + "\n" + end + after, begins && ends
}
