// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

var (
	stopped      = manifest.RunResult{Code: manifest.RunStopped}
	usedUp       = manifest.RunResult{Code: manifest.RunLifetimeExceeded}
	ignoringTERM = `trap "" TERM; echo ready; while :; do sleep 3600 & wait; done`
)

func TestTheExitCodeIsTheAgents(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		script string
		want   int32
	}{
		"success":              {"exit 0", 0},
		"failure":              {"exit 3", 3},
		"the highest":          {"exit 255", 255},
		"killed":               {"kill -KILL $$", 137},
		"terminated by itself": {"kill -TERM $$", 143},
		"aborted":              {"ulimit -c 0; kill -ABRT $$", 134},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			startContainer(t, shell(tc.script), containerOptions{}).wantEnd(int(tc.want), exited(tc.want))
		})
	}
}

func TestOrphansAreReaped(t *testing.T) {
	t.Parallel()
	startContainer(t, agent("orphans"), containerOptions{}).wantEnd(3, exited(3))
}

func TestAStopReachesTheAgentWhichMayEndInItsOwnWay(t *testing.T) {
	t.Parallel()
	c := startContainer(t, shell(`trap "echo trapped; exit 7" TERM; echo ready; while :; do sleep 3600 & wait $!; done`), containerOptions{})
	c.awaitOutput("ready")
	c.signal(syscall.SIGTERM)
	c.wantEnd(7, stopped)
	if !strings.Contains(c.output.String(), "trapped") {
		t.Errorf("the agent's trap did not run; output %q", c.output)
	}
}

func TestAnAgentThatIgnoresTheStopIsKilledAfterItsGracePeriod(t *testing.T) {
	t.Parallel()
	sandbox := shell(ignoringTERM)
	sandbox.GracePeriodSeconds = 3
	c := startContainer(t, sandbox, containerOptions{})
	c.awaitOutput("ready")
	begin := time.Now()
	c.signal(syscall.SIGTERM)
	// A second stop in the middle must not start the grace period again.
	time.AfterFunc(2500*time.Millisecond, func() { _ = c.command.Process.Signal(syscall.SIGTERM) })
	c.wantEnd(137, stopped)
	if took := time.Since(begin); took < 3*time.Second || took > 5*time.Second {
		t.Errorf("the agent was killed after %s, want 3s", took)
	}
}

func TestAStopThatComesBeforeTheAgentIsNotLost(t *testing.T) {
	t.Parallel()
	sandbox := shell("exec sleep 3600")
	encoded, err := manifest.Encode(sandbox)
	if err != nil {
		t.Fatal(err)
	}
	fifo := sharedFolder(t) + "/manifest"
	if err := syscall.Mkfifo(fifo, 0o644); err != nil {
		t.Fatal(err)
	}
	c := startContainer(t, sandbox, containerOptions{fifo: fifo})
	manifestFile, err := os.OpenFile(fifo, os.O_WRONLY, 0) // The launcher waits for its content.
	if err != nil {
		t.Fatal(err)
	}
	c.signal(syscall.SIGTERM)
	if _, err := manifestFile.Write(encoded); err != nil {
		t.Fatal(err)
	}
	if err := manifestFile.Close(); err != nil {
		t.Fatal(err)
	}
	c.wantEnd(143, stopped)
}

func TestTheLifetimeEndsTheAgent(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		script string
		want   int
	}{
		"one that stops when asked": {`trap "exit 7" TERM; while :; do sleep 3600 & wait $!; done`, 7},
		"one that must be killed":   {ignoringTERM, 137},
		"one that was stopped":      {"kill -STOP $$", 137},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sandbox := shell(tc.script)
			sandbox.LifetimeSeconds, sandbox.GracePeriodSeconds = 1, 1
			startContainer(t, sandbox, containerOptions{}).wantEnd(tc.want, usedUp)
		})
	}
}

func TestAStopAfterTheLifetimeDoesNotChangeWhyItEnded(t *testing.T) {
	t.Parallel()
	sandbox := shell(`n=0; trap 'n=$((n+1)); echo stop $n; [ $n = 1 ] || exit 5' TERM; while :; do sleep 3600 & wait $!; done`)
	sandbox.LifetimeSeconds = 1
	c := startContainer(t, sandbox, containerOptions{})
	c.awaitOutput("stop 1")
	c.signal(syscall.SIGTERM)
	c.wantEnd(5, usedUp)
}

func TestALifetimeThatEndsAfterAStopDoesNotStopAgain(t *testing.T) {
	t.Parallel()
	sandbox := shell(`n=0; trap 'n=$((n+1))' TERM; echo ready; while [ $n = 0 ]; do sleep 0.01; done; sleep 1.2; exit $n`)
	sandbox.LifetimeSeconds = 1
	c := startContainer(t, sandbox, containerOptions{})
	c.awaitOutput("ready")
	c.signal(syscall.SIGTERM)
	c.wantEnd(1, stopped)
}

// awaitFile is a script of an agent that waits for what is entered beside it.
const awaitFile = `echo ready; until [ -e /tmp/said ]; do sleep 0.01; done; `

func TestNothingSurvivesTheAgent(t *testing.T) {
	t.Parallel()
	// The survivor ignores what can be ignored and writes as long as it lives. It
	// isn't the agent's: the agent can't open this file.
	const survivor = `trap "" TERM HUP INT; exec 3>/dev/termination-log; touch /tmp/said; while :; do echo forged >&3; done`
	c := startContainer(t, shell(awaitFile+"exit 4"), containerOptions{})
	c.awaitOutput("ready")
	c.enter("sh", "-c", "setsid sh -c '"+survivor+"' >/dev/null 2>&1 &")
	c.wantEnd(4, exited(4))
}

func TestTheTerminationMessageIsTheLaunchersWhateverElseWasWritten(t *testing.T) {
	t.Parallel()
	const forge = `i=0; while [ $i -lt 500 ]; do echo '{"code":"Stopped"} and much more'; i=$((i+1)); done > /dev/termination-log; wc -c < /dev/termination-log; touch /tmp/said`
	c := startContainer(t, shell(awaitFile), containerOptions{})
	c.awaitOutput("ready")
	if output, _ := c.enter("sh", "-c", forge); output != "16500\n" {
		t.Errorf("the termination message could not be written, so this shows nothing: %s", output)
	}
	c.wantEnd(0, exited(0))
}

func TestASandboxWithoutAnAgentWaitsUntilItsEnd(t *testing.T) {
	t.Parallel()
	t.Run("stopped", func(t *testing.T) {
		t.Parallel()
		c := startContainer(t, empty(), containerOptions{})
		await(t, func() bool { _, exitCode := c.enter("/orca/bin/orca-sandbox", "started"); return exitCode == 0 }, c.errors.String)
		if output, exitCode := c.enter("sh", "-c", "(sleep 0.1 >/dev/null 2>&1 &); setsid sleep 3600 >/dev/null 2>&1 & echo ran"); exitCode != 0 || output != "ran\n" {
			t.Errorf("a call: exit code %d, output %q", exitCode, output)
		}
		c.signal(syscall.SIGINT) // There is nobody to interrupt.
		await(t, func() bool {
			_, exitCode := c.enter("sh", "-c", "! grep -l zombie /proc/[0-9]*/status")
			return exitCode == 0
		},
			func() string { return "no zombies" })
		c.signal(syscall.SIGTERM)
		c.wantEnd(0, stopped)
	})
	t.Run("lifetime", func(t *testing.T) {
		t.Parallel()
		sandbox := empty()
		sandbox.LifetimeSeconds = 1
		startContainer(t, sandbox, containerOptions{}).wantEnd(0, usedUp)
	})
}

// The agent has the launcher's uid, and so can take the means away from it.
func TestALauncherThatCantSayHowItEndedHasSaidThatTheAgentRan(t *testing.T) {
	t.Parallel()
	started := manifest.RunResult{Code: manifest.RunStarted}
	for name, tc := range map[string]struct {
		agent    string
		exitCode int
	}{
		"it may write no more, and the agent fails":    {"prlimit --pid 1 --fsize=0:0; exit 3", 3},
		"it may write no more, and the agent succeeds": {"prlimit --pid 1 --fsize=0:0; exit 0", 0},
		"it is told of a fault that it did not commit": {"/bin/kill -q 0 -SEGV 1; sleep 60", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			startContainer(t, shell(tc.agent), containerOptions{}).wantEnd(tc.exitCode, started)
		})
	}
}
