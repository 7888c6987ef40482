// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package repository

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// The waits between two tries double from the first to the longest.
const (
	firstWait   = time.Second
	longestWait = 30 * time.Second
)

// try does a step of the work, again and again as long as it fails for a passing
// reason and the context lasts.
func (j *job) try(ctx context.Context, s step, do func(context.Context) error) error {
	var last *failure
	wait := firstWait
	for try := 1; ; try++ {
		j.log.Info(s.name, "try", try)
		err := do(ctx)
		if err == nil {
			return nil
		}
		if ended := j.ended(ctx, s, last); ended != nil {
			return ended
		}
		failed, is := errors.AsType[*failure](err)
		if !is || failed.kind != transient {
			return err
		}
		last = failed
		j.log.Warn("failed; it will be tried again", "try", try, "wait", wait, "cause", failed.Error())
		select {
		case <-ctx.Done():
			return j.ended(ctx, s, last)
		case <-time.After(wait):
		}
		wait = min(2*wait, longestWait)
	}
}

// ended returns what it means for the step that the context has ended, nil if
// it hasn't. What went wrong last, if anything did before git was killed, is most
// likely the reason. It is no failure of the repository that the work was given
// up.
func (j *job) ended(ctx context.Context, s step, last *failure) error {
	if ctx.Err() == nil {
		return nil
	}
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return context.Cause(ctx)
	}
	if last != nil {
		return &failure{text: "did not finish within setup.timeout: " + last.text, remote: last.remote}
	}
	return &failure{text: fmt.Sprintf("did not finish within setup.timeout, while %s: %s is slow or does not answer", s.name, j.subject(s))}
}
