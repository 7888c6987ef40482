// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"math"
	"syscall"
	"time"

	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

// clock says when the agent must go.
type clock struct {
	// lifetime fires when the agent's lifetime is used up.
	lifetime <-chan time.Time
	// grace is how long it then has.
	grace time.Duration
}

// newClock starts the agent's lifetime.
func newClock(sandbox manifest.Sandbox) clock {
	return clock{time.After(seconds(sandbox.LifetimeSeconds)), seconds(sandbox.GracePeriodSeconds)}
}

// seconds converts whole seconds and keeps to what a duration can hold.
func seconds(count int64) time.Duration {
	return time.Duration(min(count, math.MaxInt64/int64(time.Second))) * time.Second
}

// supervisor is the launcher while an agent runs.
type supervisor struct {
	agent     int
	children  *children
	clock     clock
	forwarded func(syscall.Signal) bool
	// code says why the agent ends; it changes once, when the agent is asked to.
	code manifest.RunCode
	// kill fires when the agent has had its grace period.
	kill <-chan time.Time
}

// supervise looks after the agent until it ends.
func supervise(agent int, signals signals, clock clock, children *children) outcome {
	s := supervisor{agent: agent, children: children, clock: clock, forwarded: forwarder(), code: manifest.RunAgentExited}
	exitCode := s.wait(signals)
	result := manifest.RunResult{Code: s.code}
	if s.code == manifest.RunAgentExited {
		result.ExitCode = new(int32(exitCode))
	}
	return outcome{result, exitCode}
}

// wait handles what happens while the agent runs and returns its exit code.
func (s *supervisor) wait(signals signals) int {
	for {
		select {
		case <-signals.children:
			if status, ended := s.children.reap(s.agent); ended {
				return exitCode(status)
			}
		case <-signals.stop:
			s.stop(manifest.RunStopped)
		case <-s.clock.lifetime:
			s.stop(manifest.RunLifetimeExceeded)
		case <-s.kill:
			killOthers()
		case received := <-signals.other:
			s.forward(received.(syscall.Signal))
		}
	}
}

// stop asks the agent to end. The first call decides why, and starts the grace
// period.
func (s *supervisor) stop(code manifest.RunCode) {
	if s.code == manifest.RunAgentExited {
		s.code = code
		s.clock.lifetime = nil
		s.kill = time.After(s.clock.grace)
	}
	s.signal(syscall.SIGTERM)
}

func (s *supervisor) forward(received syscall.Signal) {
	if s.forwarded(received) {
		s.signal(received)
	}
}

// signal sends the agent a signal. The agent isn't reaped yet, so its pid is
// still its own, and nothing can be wrong with sending.
func (s *supervisor) signal(number syscall.Signal) {
	_ = syscall.Kill(s.agent, number)
}

// awaitEnd looks after a sandbox without an agent process until it is asked to
// stop or its lifetime is used up.
func awaitEnd(signals signals, clock clock, children *children) outcome {
	for {
		select {
		case <-signals.children:
			children.reap(none)
		case <-signals.stop:
			return outcome{manifest.RunResult{Code: manifest.RunStopped}, 0}
		case <-clock.lifetime:
			return outcome{manifest.RunResult{Code: manifest.RunLifetimeExceeded}, 0}
		case <-signals.other:
		}
	}
}

// exitCode is the agent's, as shells report it.
func exitCode(status syscall.WaitStatus) int {
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}
