// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package repository

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/gitbox"
)

// stragglers is how long output is awaited that a process which outlived git
// may still hold.
const stragglers = 5 * time.Second

// git runs git in the staging folder and returns its output. Its error is a
// *failure that says what it means for the step, unless git could not be run.
func (j *job) git(ctx context.Context, s step, arguments ...string) (string, error) {
	command := j.box().Command(ctx, "git", arguments...)
	command.Dir = j.staging
	command.Env = j.environment()
	command.WaitDelay = stragglers
	var output bytes.Buffer
	said := j.voice.listen()
	command.Stdout, command.Stderr = &output, said
	err := command.Run()
	if command.Process != nil {
		_ = gitbox.Kill(command) // What git has left behind.
	}
	text := said.finish()
	if err == nil {
		return output.String(), nil
	}
	if ended := j.ended(ctx, s, nil); ended != nil {
		return "", ended
	}
	status, is := errors.AsType[*exec.ExitError](err)
	if !is || status.ExitCode() == gitbox.ExitFailed {
		return "", fmt.Errorf("running git: %w: %s", err, strings.Join(text, "; "))
	}
	return "", j.explain(s, text, killed(status))
}

// killed reports whether a process was ended by SIGKILL.
func killed(status *exec.ExitError) bool {
	wait, is := status.Sys().(syscall.WaitStatus)
	return is && wait.Signaled() && wait.Signal() == syscall.SIGKILL
}

// gitLine runs git and returns its output without white space around it.
func (j *job) gitLine(ctx context.Context, s step, arguments ...string) (string, error) {
	output, err := j.git(ctx, s, arguments...)
	return strings.TrimSpace(output), err
}

// gitAll runs git several times.
func (j *job) gitAll(ctx context.Context, s step, calls ...[]string) error {
	for _, call := range calls {
		if _, err := j.git(ctx, s, call...); err != nil {
			return err
		}
	}
	return nil
}
