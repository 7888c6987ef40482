// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"errors"
	"os"
	"sync"
	"syscall"
	"time"
)

const (
	// endLimit is how long killed processes may take to vanish. One that is
	// stuck in the kernel must not keep the result from being written.
	endLimit = 5 * time.Second
	// endPoll is how often the launcher looks for processes that aren't its
	// children: nobody tells it when those are gone.
	endPoll = 5 * time.Millisecond
)

// killOthers kills every process of the sandbox but the launcher and reports
// whether there was any.
func killOthers() bool {
	// In any other process, -1 means far more than the sandbox.
	if os.Getpid() != 1 {
		return false
	}
	return syscall.Kill(-1, syscall.SIGKILL) == nil
}

// none is the agent's pid in a sandbox without an agent process.
const none = 0

// children are the launcher's: the agent, and orphans of the sandbox.
type children struct {
	// ended fires when one has ended.
	ended <-chan os.Signal
	// tracing is held by whoever traces a process: what that reports mustn't be
	// collected as a child's end.
	tracing sync.RWMutex
}

// endOthers kills the other processes of the sandbox and waits until they are
// gone, or for endLimit.
func (c *children) endOthers() {
	limit := time.After(endLimit)
	poll := time.NewTicker(endPoll)
	defer poll.Stop()
	for killOthers() {
		c.reap(none)
		select {
		case <-c.ended:
		case <-poll.C:
		case <-limit:
			return
		}
	}
}

// reap collects all children that have ended, the agent's orphans among them.
// It reports whether the agent is one of them, and how it ended.
func (c *children) reap(agent int) (status syscall.WaitStatus, ended bool) {
	c.tracing.Lock()
	defer c.tracing.Unlock()
	for {
		var current syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &current, syscall.WNOHANG, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil || pid == 0:
			return status, ended
		case pid == agent && !current.Stopped():
			status, ended = current, true
		}
	}
}
