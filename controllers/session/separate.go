// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package session

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/orca-agent-engine/orca-operator/controllers/settings"
)

// separate reports whether the agent runs elsewhere and the sandbox waits for
// its calls.
func (j *judgement) separate() bool { return j.settings.Mode == settings.ModeSeparate }

func (j *judgement) runningMessage() string {
	if j.separate() {
		return "the sandbox takes tool calls"
	}
	return "the agent is running"
}

// endSeparate is about a sandbox that took calls and ended by itself. It has no
// agent whose end could be the session's: what isn't the end of its lifetime,
// nor a lack of memory, is a loss.
func (j *judgement) endSeparate(pod *corev1.Pod, end *corev1.ContainerStateTerminated) {
	ran := max(end.FinishedAt.Sub(end.StartedAt.Time), 0)
	outOfMemory := end.Reason == reasonOOMKilled && end.ExitCode == exitKilled
	if !outOfMemory && ran < j.remaining() {
		j.lose(pod, "the sandbox was stopped from outside")
		return
	}
	j.endAgent(end)
}

// exitCode returns the agent's exit code, and nil for an agent elsewhere: a
// launcher without one has nothing to say.
func (j *judgement) exitCode(end *corev1.ContainerStateTerminated) *int32 {
	if j.separate() {
		return nil
	}
	return new(end.ExitCode)
}
