// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"os"
	"testing"
	"time"
)

func TestSecondsStayWithinADuration(t *testing.T) {
	for count, want := range map[int64]time.Duration{
		0:                         0,
		90:                        90 * time.Second,
		-1:                        -time.Second,
		9_223_372_036:             9_223_372_036 * time.Second,
		9_223_372_036_854_775_807: 9_223_372_036 * time.Second,
	} {
		if got := seconds(count); got != want {
			t.Errorf("seconds(%d) = %s, want %s", count, got, want)
		}
	}
}

func TestNothingIsKilledUnlessThisIsProcess1(t *testing.T) {
	if os.Getpid() == 1 {
		t.Fatal("this test must not be process 1")
	}
	if killOthers() {
		t.Error("processes were killed")
	}
}
