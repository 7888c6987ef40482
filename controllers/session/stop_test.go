// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
)

const (
	idle = orcav1alpha1.DesiredStateIdle
	over = orcav1alpha1.DesiredStateEnded
	runs = orcav1alpha1.DesiredStateRunning
)

func reached(state orcav1alpha1.SessionState) outcome {
	return outcome{State: state, Reason: string(state), Verdict: status.CurrentStatus, Prepared: "Pending"}
}

func TestWhenASessionIsAskedToHaveNoSandbox(t *testing.T) {
	removes := func(o outcome) outcome { o.Removes = 1; return o }
	after := func(o, before outcome) outcome { o.Error, o.Prepared = before.Error, before.Prepared; return o }
	ending := waiting("Ending", "Ending")
	timeout := func(s *scene) { s.start(); s.later(setupTimeout); s.judge() }
	runPlays(t, map[string]play{
		"idle while it starts":                    {func(s *scene) { s.start(); s.ask(idle) }, removes(ending)},
		"idle while it runs":                      {func(s *scene) { s.run(); s.ask(idle) }, removes(ending)},
		"idle, until the pod is gone":             {func(s *scene) { s.run(); s.ask(idle); s.judge(); s.later(time.Minute) }, ending},
		"idle, once the pod is gone":              {func(s *scene) { s.run(); s.ask(idle); s.judge(); s.terminated() }, reached("Idle")},
		"idle after it was asked while it starts": {func(s *scene) { s.start(); s.ask(idle); s.judge(); s.terminated() }, reached("Idle")},
		"ended while it starts":                   {func(s *scene) { s.start(); s.ask(over) }, removes(ending)},
		"ended while it runs":                     {func(s *scene) { s.run(); s.ask(over) }, removes(ending)},
		"ended, once the pod is gone":             {func(s *scene) { s.run(); s.ask(over); s.judge(); s.terminated() }, reached("Ended")},
		"ended while it is idle":                  {func(s *scene) { s.ask(idle); s.judge(); s.ask(over) }, reached("Ended")},
		"idle, and the agent says goodbye as it stops": {
			func(s *scene) { s.run(); s.ask(idle); s.judge(); s.agentEnds("Error", 143, policyFailed, time.Minute) }, ending,
		},
		"idle, and the cache knows of the agent's goodbye but not of its pod's deletion": {
			func(s *scene) {
				s.run()
				s.ask(idle)
				s.judge()
				s.agentEnds("Error", 143, policyFailed, time.Minute)
				s.pod().DeletionTimestamp = nil
			},
			removes(ending),
		},
		"idle, but the check has failed already": {
			func(s *scene) { s.start(); s.ask(idle); s.agentEnds("Error", 1, policyFailed, time.Minute) },
			after(reached("Idle"), setupFails("WritePolicyUnverified")),
		},
		"ended, but the check has failed already": {
			func(s *scene) { s.start(); s.ask(over); s.agentEnds("Error", 1, policyFailed, time.Minute) },
			after(reached("Ended"), setupFails("WritePolicyUnverified")),
		},
		"idle while somebody deletes the pod of a failed setup": {
			func(s *scene) {
				s.start()
				setupEnds(s.pod(), "Error", 1, "")
				s.judge()
				s.delete(s.pod().Name)
				s.ask(idle)
			},
			after(ending, setupFails("WritePolicyUnverified")),
		},
		"ended, and its agent has ended by itself": {
			func(s *scene) { s.run(); s.ask(over); s.agentEnds("Error", 3, "", time.Minute) },
			endsBadly("agent_failed", "AgentFailed"),
		},
		"idle, but its pod is gone already":   {func(s *scene) { s.run(); s.ask(idle); s.delete(s.pod().Name); s.terminated() }, reached("Idle")},
		"idle, but another pod has its name":  {func(s *scene) { s.run(); s.ask(idle); s.pod().UID = "another" }, removes(ending)},
		"idle, but its pod is going already":  {func(s *scene) { s.run(); s.ask(idle); s.delete(s.pod().Name) }, ending},
		"idle, but its pod was evicted":       {func(s *scene) { s.run(); s.ask(idle); s.agentEnds("Error", 137, "", 0); disrupts(s.pod(), "x") }, removes(ending)},
		"idle after its sandbox was lost":     {func(s *scene) { s.run(); s.delete(s.pod().Name); s.terminated(); s.judge(); s.ask(idle) }, after(reached("Idle"), lost())},
		"ended after its sandbox was lost":    {func(s *scene) { s.run(); s.delete(s.pod().Name); s.terminated(); s.judge(); s.ask(over) }, after(reached("Ended"), lost())},
		"idle after its setup failed":         {func(s *scene) { s.start(); setupEnds(s.pod(), "Error", 1, ""); s.judge(); s.ask(idle) }, after(reached("Idle"), setupFails("WritePolicyUnverified"))},
		"idle while a pod that was late goes": {func(s *scene) { timeout(s); s.ask(idle) }, after(ending, setupFails("SetupTimeout"))},
		"idle once a pod that was late went":  {func(s *scene) { timeout(s); s.ask(idle); s.judge(); s.terminated() }, after(reached("Idle"), setupFails("SetupTimeout"))},
		"idle after it was refused":           {func(s *scene) { s.environment.Spec.Image = "x"; s.judge(); s.ask(idle) }, after(reached("Idle"), setupFails("ImageRejected"))},
	})
}

func TestWhenASessionIsAskedToRunAgain(t *testing.T) {
	waits := func(prepared string) outcome {
		o := waiting("Pending", "WaitingForTermination")
		o.Prepared = prepared
		return o
	}
	runPlays(t, map[string]play{
		"after it was idle": {
			before: func(s *scene) {
				s.run()
				s.ask(idle)
				s.judge()
				s.terminated()
				s.judge()
				s.ask(runs)
			},
			want: starting(2),
		},
		"while its sandbox still stops": {
			before: func(s *scene) { s.run(); s.ask(idle); s.judge(); s.ask(runs) },
			want:   waiting("Ending", "Ending"),
		},
		"while its sandbox stopped, which is no loss": {
			before: func(s *scene) {
				s.run()
				s.ask(idle)
				s.judge()
				s.ask(runs)
				s.judge()
				s.terminated()
			},
			want: starting(2),
		},
		"after it was idle from the beginning": {
			before: func(s *scene) { s.ask(idle); s.judge(); s.ask(runs) },
			want:   starting(1),
		},
		"after its setup failed, with the failed pod there": {
			before: func(s *scene) {
				s.start()
				setupEnds(s.pod(), "Error", 1, "")
				s.judge()
				s.ask(idle)
				s.judge()
				s.ask(runs)
			},
			want: func() outcome {
				o := waits("WritePolicyUnverified")
				o.Error, o.Removes = "setup_failed WritePolicyUnverified", 1
				return o
			}(),
		},
	})
}

func TestWhenASessionIsDeleted(t *testing.T) {
	deletes := func(s *scene) { s.session.DeletionTimestamp = new(metav1.NewTime(s.now)) }
	deleting := outcome{State: "Ending", Reason: "Deleting", Verdict: status.TerminatingStatus}
	with := func(prepared string, removes int) outcome {
		o := deleting
		o.Prepared, o.Removes = prepared, removes
		return o
	}
	done := completed()
	done.Verdict = status.TerminatingStatus
	runPlays(t, map[string]play{
		"before it began":            {deletes, with("Pending", 0)},
		"while it starts":            {func(s *scene) { s.start(); deletes(s) }, with("Preparing", 1)},
		"while it runs":              {func(s *scene) { s.run(); deletes(s) }, with("Prepared", 1)},
		"while its pod goes":         {func(s *scene) { s.run(); deletes(s); s.judge() }, with("Prepared", 0)},
		"when its pod is gone":       {func(s *scene) { s.run(); deletes(s); s.judge(); s.terminated() }, with("Prepared", 0)},
		"when it has ended":          {func(s *scene) { s.run(); s.agentEnds("Completed", 0, "", time.Minute); s.judge(); deletes(s) }, done},
		"when its environment isn't": {func(s *scene) { s.environment = nil; deletes(s) }, with("Pending", 0)},
	})
}
