// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/settings"
)

func separately(before func(*scene)) func(*scene) {
	return func(s *scene) { s.settings.Mode = settings.ModeSeparate; before(s) }
}

func TestASandboxThatWaitsForCalls(t *testing.T) {
	ends := func(reason string, code int32, message string, ran time.Duration) func(*scene) {
		return separately(func(s *scene) { s.run(); s.later(ran); s.agentEnds(reason, code, message, ran) })
	}
	const stopped, minute = `{"code":"Stopped"}`, time.Minute
	runPlays(t, map[string]play{
		"runs once the check has passed": {
			separately(func(s *scene) { s.start(); agentRuns(s.pod(), s.now) }),
			outcome{State: "Running", Reason: "Running", Verdict: status.CurrentStatus, Prepared: "Prepared"},
		},
		"needs no command, in a deployment that has none": {
			separately(func(s *scene) { s.settings.Sandbox.Command = nil }),
			func() outcome { o := waiting("Starting", "Starting"); o.Prepared, o.Start = "Preparing", 1; return o }(),
		},
		"runs the operator's image, whatever the environment's": {
			separately(func(s *scene) { s.environment.Spec.Image = "python:3" }),
			func() outcome { o := waiting("Starting", "Starting"); o.Prepared, o.Start = "Preparing", 1; return o }(),
		},
		"has no place for a command of the session's": {
			separately(func(s *scene) { s.session.Spec.Command = []string{"bash"} }), setupFails("InvalidSpec"),
		},
		"is kept from starting by packages": {
			separately(func(s *scene) { s.environment.Spec.Config.Packages = []string{"numpy"} }), setupFails("PackagesUnsupported"),
		},
		"never executes calls unverified": {separately(func(s *scene) { s.start(); s.agentEnds("Error", 125, policyFailed, minute) }), setupFails("WritePolicyUnverified")},
		"ends with its lifetime":          {ends("Completed", 0, `{"code":"LifetimeExceeded"}`, maxLifetime), endsBadly("lifetime_exceeded", "LifetimeExceeded")},
		"ends with its lifetime before it was seen": {separately(func(s *scene) {
			s.start()
			s.later(maxLifetime)
			s.agentEnds("Completed", 0, `{"code":"LifetimeExceeded"}`, maxLifetime)
		}), endsBadly("lifetime_exceeded", "LifetimeExceeded")},
		"ends out of memory":                           {ends("OOMKilled", 137, "", minute), endsBadly("agent_failed", "OutOfMemory")},
		"is lost, not completed, if somebody stops it": {ends("Completed", 0, stopped, minute), lost()},
		"is lost, not failed, if somebody kills it":    {ends("Error", 137, "", minute), lost()},
		"is lost whatever a call has forged":           {ends("Completed", 0, agentExited, minute), lost()},
		"goes idle as asked":                           {separately(func(s *scene) { s.run(); s.ask(idle); s.judge(); s.terminated() }), reached("Idle")},
		"ends as asked":                                {separately(func(s *scene) { s.run(); s.ask(over); s.judge(); s.terminated() }), reached("Ended")},
	})
}

func TestWhatASandboxWithoutAnAgentSays(t *testing.T) {
	s := newScene(t)
	separately((*scene).run)(s)
	if got := s.message(); !strings.Contains(got, "tool calls") {
		t.Errorf("while it runs, Ready says %q", got)
	}
	s.later(maxLifetime)
	s.agentEnds("Completed", 0, "", maxLifetime)
	s.judge()
	if s.session.Status.ExitCode != nil {
		t.Errorf("there is an exit code, %d, of no agent", *s.session.Status.ExitCode)
	}
	if got := s.session.Status.Error.Type; got != orcav1alpha1.ErrorLifetimeExceeded {
		t.Errorf("session.error is %s", got)
	}
}
