// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package progress

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestStepSaysHowItEnded(t *testing.T) {
	cases := map[string]struct {
		err  error
		want string
	}{
		"success": {nil, `^building x \.\.\.\nbuilding x: done in \d+(ms|s)\n$`},
		"failure": {errors.New("no"), `^building x \.\.\.\nbuilding x: failed after \d+(ms|s)\n$`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			end := Printer{Out: &out}.Step("building x")
			end(&tc.err)
			if !regexp.MustCompile(tc.want).MatchString(out.String()) {
				t.Errorf("wrote %q, want %s", out.String(), tc.want)
			}
		})
	}
}

func TestZeroPrinterIsSilent(_ *testing.T) {
	var err error
	Printer{}.Step("anything")(&err)
}

func TestRound(t *testing.T) {
	for d, want := range map[time.Duration]string{
		1234 * time.Millisecond:  "1.2s",
		61234 * time.Millisecond: "1m1s",
	} {
		if got := Round(d).String(); got != want {
			t.Errorf("Round(%s) = %s, want %s", d, got, want)
		}
	}
}
