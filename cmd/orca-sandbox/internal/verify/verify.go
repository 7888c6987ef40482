// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package verify finds out whether a sandbox's write policy holds: in the
// agent's own container, with the agent's own rights, before the agent runs.
//
// It reads the mount table, which decides, and tries what the table says. A
// mount that can be written and is no writable root of the policy fails the
// check whether or not this user could write it; the few that every container
// has are listed in exceptions. What the trials make, they leave nothing of.
package verify

import (
	"fmt"
	"sync/atomic"
	"time"
)

// limit is how long the check may take. It takes a few milliseconds where all
// is well; a volume whose server is gone may never answer.
const limit = 30 * time.Second

// Failure says where the write policy doesn't hold, or can't be seen to.
type Failure struct {
	// Path is the place as the agent would see it.
	Path string
	// Reason says what is wrong there, and what to do about it.
	Reason string
}

func (f *Failure) Error() string {
	return fmt.Sprintf("the write policy is not established: %q %s", f.Path, f.Reason)
}

func failure(path, format string, arguments ...any) *Failure {
	return &Failure{path, fmt.Sprintf(format, arguments...)}
}

// Check returns nil if the agent can write at and below the given writable
// roots and nowhere else. It always returns, even if a file system hangs.
func Check(roots []string) *Failure {
	return bounded(limit, func(trying func(path string)) *Failure {
		return check(roots, trying)
	})
}

// bounded does work, which names each path that it is going to try. After the
// given time it gives up and blames the path that was last named: what hangs
// in the kernel can't be called back.
func bounded(limit time.Duration, work func(trying func(path string)) *Failure) *Failure {
	var last atomic.Value
	last.Store("/")
	done := make(chan *Failure, 1)
	go func() { done <- work(func(path string) { last.Store(path) }) }()
	select {
	case found := <-done:
		return found
	case <-time.After(limit):
		return failure(last.Load().(string), "did not answer within %s; is the server of its volume there?", limit)
	}
}

// check is Check without the bound.
func check(roots []string, trying func(path string)) *Failure {
	trying(tableFile)
	mounts, err := readTable()
	if err != nil {
		return failure(tableFile, "can't be used: %v", err)
	}
	c := checker{mounts, roots, trying}
	for _, step := range []func() *Failure{
		checkProcess, c.checkRoots, c.checkSealed, c.checkWritable, c.checkClosed, c.checkApart, c.checkDevices,
	} {
		if found := step(); found != nil {
			return found
		}
	}
	return nil
}
