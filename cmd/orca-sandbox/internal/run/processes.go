// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"os"
	"syscall"
	"time"

	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/launch"
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

// endOthers kills the other processes of the sandbox and waits until they are
// gone, or for endLimit.
func endOthers(children *launch.Children) {
	limit := time.After(endLimit)
	poll := time.NewTicker(endPoll)
	defer poll.Stop()
	for killOthers() {
		children.Reap(none)
		select {
		case <-children.Ended:
		case <-poll.C:
		case <-limit:
			return
		}
	}
}
