// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"math"
	"syscall"
	"time"

	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/launch"
	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/signals"
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
	children  *launch.Children
	clock     clock
	forwarded func(syscall.Signal) bool
	// code says why the agent ends; it changes once, when the agent is asked to.
	code manifest.RunCode
	// kill fires when the agent has had its grace period.
	kill <-chan time.Time
}

// supervise looks after the agent until it ends.
func supervise(agent int, received signals.Received, clock clock, children *launch.Children) outcome {
	s := supervisor{agent: agent, children: children, clock: clock, forwarded: signals.Forwarder(), code: manifest.RunAgentExited}
	exitCode := s.wait(received)
	result := manifest.RunResult{Code: s.code}
	if s.code == manifest.RunAgentExited {
		result.ExitCode = new(int32(exitCode))
	}
	return outcome{result, exitCode}
}

// wait handles what happens while the agent runs and returns its exit code.
func (s *supervisor) wait(received signals.Received) int {
	for {
		select {
		case <-received.Children:
			if status, ended := s.children.Reap(s.agent); ended {
				return launch.StatusCode(status)
			}
		case <-received.Stop:
			s.stop(manifest.RunStopped)
		case <-s.clock.lifetime:
			s.stop(manifest.RunLifetimeExceeded)
		case <-s.kill:
			killOthers()
		case other := <-received.Other:
			s.forward(other.(syscall.Signal))
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
func awaitEnd(received signals.Received, clock clock, children *launch.Children) outcome {
	for {
		select {
		case <-received.Children:
			children.Reap(none)
		case <-received.Stop:
			return outcome{manifest.RunResult{Code: manifest.RunStopped}, 0}
		case <-clock.lifetime:
			return outcome{manifest.RunResult{Code: manifest.RunLifetimeExceeded}, 0}
		case <-received.Other:
		}
	}
}
