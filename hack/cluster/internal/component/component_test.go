// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestMain lets the test program be launched as a component, as the real one is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == LaunchCommand {
		fmt.Fprintln(os.Stderr, Launch(os.Args[2:]))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func newRunner(t *testing.T) Runner {
	t.Helper()
	r := Runner{RecordDir: t.TempDir(), LogDir: t.TempDir()}
	t.Cleanup(func() { _ = r.Stop("sleeper", time.Second) })
	return r
}

func sleeper(script string) Spec {
	return Spec{
		Name: "sleeper", Path: "/bin/sh", Args: []string{"-c", script},
		Env:   []string{"PATH=/usr/bin:/bin"},
		Ready: func(context.Context) error { return nil },
	}
}

func ensure(t *testing.T, r Runner, s Spec) (Record, bool) {
	t.Helper()
	started, err := r.Ensure(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	rec, alive, err := r.Running(s.Name)
	if err != nil || !alive {
		t.Fatalf("Running() = alive %v, %v after Ensure", alive, err)
	}
	return rec, started
}

func TestEnsureStartsOnceAndReplacesWhatChanged(t *testing.T) {
	r := newRunner(t)
	first, started := ensure(t, r, sleeper("exec sleep 60"))
	if !started {
		t.Error("the first Ensure did not start the component")
	}
	second, started := ensure(t, r, sleeper("exec sleep 60"))
	if started || second.PID != first.PID {
		t.Errorf("the second Ensure started process %d beside %d", second.PID, first.PID)
	}
	third, started := ensure(t, r, sleeper("exec sleep 61"))
	if !started || third.PID == first.PID {
		t.Error("a changed component was not replaced")
	}
	if alive, _ := first.Alive(); alive {
		t.Error("the replaced process still runs")
	}
}

func TestEnsureBringsAKilledComponentBack(t *testing.T) {
	r := newRunner(t)
	first, _ := ensure(t, r, sleeper("exec sleep 60"))
	proc, err := os.FindProcess(first.PID)
	if err != nil {
		t.Fatal(err)
	}
	if err := proc.Kill(); err != nil {
		t.Fatal(err)
	}
	waitGone(t, first)
	if second, started := ensure(t, r, sleeper("exec sleep 60")); !started || second.PID == first.PID {
		t.Error("the killed component was not started again")
	}
}

func TestComponentLeavesTheTerminal(t *testing.T) {
	r := newRunner(t)
	rec, _ := ensure(t, r, sleeper("exec sleep 60"))
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", rec.PID))
	if err != nil {
		t.Fatal(err)
	}
	session := strings.Fields(string(stat))[5]
	if session != fmt.Sprint(rec.PID) {
		t.Errorf("the component is in session %s, want its own, %d", session, rec.PID)
	}
	for fd, want := range map[int]string{0: "/dev/null", 1: r.LogPath("sleeper"), 2: r.LogPath("sleeper")} {
		if got, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", rec.PID, fd)); got != want {
			t.Errorf("descriptor %d is %q (%v), want %q", fd, got, err, want)
		}
	}
}

func TestStopKillsWhatIgnoresTheRequest(t *testing.T) {
	r := newRunner(t)
	rec, _ := ensure(t, r, sleeper("trap '' TERM; while :; do sleep 0.1; done"))
	if err := r.Stop("sleeper", 200*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if alive, _ := rec.Alive(); alive {
		t.Error("the component survived Stop")
	}
	if err := r.Stop("sleeper", time.Second); err != nil {
		t.Errorf("a second Stop failed: %v", err)
	}
}

func TestStopSparesAProcessThatOnlyHasTheNumber(t *testing.T) {
	r := newRunner(t)
	bystander := exec.Command("sleep", "60")
	if err := bystander.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = bystander.Process.Kill(); _ = bystander.Wait() })
	own, err := recordSelf("")
	if err != nil {
		t.Fatal(err)
	}
	ticks, _, err := startTime(bystander.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	stale := Record{PID: bystander.Process.Pid, StartTime: ticks - 1, BootID: own.BootID}
	if err := stale.write(r.recordPath("sleeper")); err != nil {
		t.Fatal(err)
	}
	if err := r.Stop("sleeper", time.Second); err != nil {
		t.Fatal(err)
	}
	if _, running, _ := startTime(bystander.Process.Pid); !running {
		t.Error("Stop ended a process that was never started as a component")
	}
}

func TestWaitReadyShowsTheLogOfAComponentThatEnded(t *testing.T) {
	r := newRunner(t)
	s := sleeper("echo cannot bind >&2; exit 3")
	s.Ready = func(context.Context) error { return errors.New("connection refused") }
	_, err := r.Ensure(t.Context(), s)
	if err == nil {
		err = r.WaitReady(t.Context(), s, time.Minute)
	}
	if err == nil {
		t.Fatal("WaitReady succeeded with a component that ended")
	}
	for _, want := range []string{"sleeper", r.LogPath("sleeper"), "cannot bind"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q: %v", want, err)
		}
	}
}

func TestWaitReadyGivesUpInTime(t *testing.T) {
	r := newRunner(t)
	s := sleeper("exec sleep 60")
	s.Ready = func(context.Context) error { return errors.New("still loading") }
	ensure(t, r, s)
	err := r.WaitReady(t.Context(), s, 300*time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "still loading") {
		t.Errorf("WaitReady() = %v, want the last failure in it", err)
	}
}

func TestHashTellsSpecsApart(t *testing.T) {
	base := Spec{Path: "/bin/x", Args: []string{"a", "b"}}
	cases := map[string]Spec{
		"another program":              {Path: "/bin/y", Args: []string{"a", "b"}},
		"arguments that run together":  {Path: "/bin/x", Args: []string{"ab"}},
		"an argument more":             {Path: "/bin/x", Args: []string{"a", "b", ""}},
		"another content of its input": {Path: "/bin/x", Args: []string{"a", "b"}, Inputs: []string{"changed"}},
	}
	for name, other := range cases {
		t.Run(name, func(t *testing.T) {
			if base.Hash() == other.Hash() {
				t.Error("the hashes are equal")
			}
		})
	}
}

func TestLastLines(t *testing.T) {
	cases := map[string]struct{ text, want string }{
		"fewer lines than asked for": {"a\n", "  a"},
		"more lines than asked for":  {"a\nb\nc\n", "  b\n  c"},
		"nothing at all":             {"", "  "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := lastLines(tc.text, 2); got != tc.want {
				t.Errorf("lastLines() = %q, want %q", got, tc.want)
			}
		})
	}
}

func waitGone(t *testing.T, rec Record) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if alive, _ := rec.Alive(); !alive {
			return
		}
	}
	t.Fatal("the process does not go away")
}
