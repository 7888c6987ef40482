// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package progress tells the person at the terminal what takes the time.
package progress

import (
	"fmt"
	"io"
	"time"
)

// Printer writes one line for each step. The zero value writes nothing.
type Printer struct{ Out io.Writer }

// Say writes one line.
func (p Printer) Say(format string, args ...any) {
	if p.Out == nil {
		return
	}
	fmt.Fprintf(p.Out, format+"\n", args...)
}

// Step announces what begins and returns the function that says how it ended,
// and after what time. That is to be deferred, with the named result.
func (p Printer) Step(what string) (end func(*error)) {
	start := time.Now()
	p.Say("%s ...", what)
	return func(err *error) {
		outcome := "done in"
		if *err != nil {
			outcome = "failed after"
		}
		p.Say("%s: %s %s", what, outcome, Round(time.Since(start)))
	}
}

// Round leaves as many digits as a reader wants: tenths of a second below ten
// seconds, seconds above.
func Round(d time.Duration) time.Duration {
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Second)
}
