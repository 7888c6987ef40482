// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
	"time"
)

func TestATableReplacesTheOneOfAPage(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		page, want string
		found      bool
	}{
		"without a table": {"a\n" + begin + end + "b\n", "a\n" + begin + "\nnew\n\n" + end + "b\n", true},
		"with a table":    {"a\n" + begin + "\nold\n\n" + end + "b\n", "a\n" + begin + "\nnew\n\n" + end + "b\n", true},
		"without a begin": {"a\n" + end, "", false},
		"without an end":  {"a\n" + begin, "", false},
		"the wrong order": {end + begin, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, found := between(tc.page, "new\n")
			if found != tc.found || found && got != tc.want {
				t.Errorf("found: %t, the page is %q; want %t, %q", found, got, tc.found, tc.want)
			}
		})
	}
}

func TestARowIsOfTheFastestRuns(t *testing.T) {
	t.Parallel()
	times := measured{
		bare: []time.Duration{3 * time.Second, time.Second, 2 * time.Second},
		full: []time.Duration{5 * time.Second, 4 * time.Second, 1500 * time.Millisecond},
	}
	for want, w := range map[string]work{
		"| x | 1.00 s | 1.50 s | 1.50 | 50 µs |\n": {name: "x", files: 10000},
		"| x | 1.00 s | 1.50 s | 1.50 | – |\n":     {name: "x"},
	} {
		if got := row(w, times); got != want {
			t.Errorf("the row is %q, want %q", got, want)
		}
	}
}
