// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"fmt"
	"strings"
	"testing"
	"time"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
)

func TestRunSeconds(t *testing.T) {
	const minute = time.Minute
	stopsAfter := func(s *scene, ran time.Duration) {
		s.run()
		s.later(ran)
		s.ask(idle)
		s.judge()
		s.later(minute) // The time that stopping takes doesn't count.
		s.terminated()
		s.judge()
	}
	cases := map[string]struct {
		before func(*scene)
		want   int32
	}{
		"nothing ran":              {func(s *scene) { s.start() }, 0},
		"it runs and nothing ends": {func(s *scene) { s.run(); s.later(minute); s.judge() }, 0},
		"the agent's own end is the kubelet's time": {
			func(s *scene) { s.run(); s.agentEnds("Completed", 0, "", minute); s.later(time.Hour); s.judge() }, 60,
		},
		"an end before anybody saw it run": {
			func(s *scene) { s.start(); s.agentEnds("Completed", 0, agentExited, 7*time.Second); s.judge() }, 7,
		},
		"a setup that failed": {
			func(s *scene) { s.start(); s.later(minute); setupEnds(s.pod(), "Error", 1, ""); s.judge() }, 0,
		},
		"a check that failed": {
			func(s *scene) { s.start(); s.agentEnds("Error", 1, policyFailed, minute); s.judge() }, 0,
		},
		"a stop as asked":  {func(s *scene) { stopsAfter(s, minute) }, 60},
		"a stop at once":   {func(s *scene) { stopsAfter(s, 0) }, 0},
		"two attempts add": {func(s *scene) { stopsAfter(s, minute); s.ask(runs); stopsAfter(s, minute) }, 120},
		"an attempt that was asked to stop and one that ended": {
			func(s *scene) {
				stopsAfter(s, minute)
				s.ask(runs)
				s.run()
				s.agentEnds("Completed", 0, "", 5*time.Second)
				s.judge()
			}, 65,
		},
		"a pod that was deleted counts until then": {
			func(s *scene) {
				s.run()
				s.later(minute)
				s.delete(s.pod().Name)
				s.judge()
				s.later(minute)
				s.terminated()
				s.judge()
			}, 60,
		},
		"a pod that is gone counts until it is missed": {
			func(s *scene) { s.run(); s.later(minute); s.delete(s.pod().Name); s.terminated(); s.judge() }, 60,
		},
		"a pod that is gone as it is asked to be counts until then": {
			func(s *scene) {
				s.run()
				s.later(minute)
				s.delete(s.pod().Name)
				s.terminated()
				s.ask(idle)
				s.judge()
			}, 60,
		},
		"an evicted pod counts until its agent ended": {
			func(s *scene) {
				s.run()
				s.later(minute)
				s.agentEnds("Error", 137, "", minute)
				disrupts(s.pod(), "TerminationByKubelet")
				s.later(time.Hour)
				s.judge()
			}, 60,
		},
		"a session that is deleted": {
			func(s *scene) {
				s.run()
				s.later(minute)
				s.session = s.session.DeepCopy()
				s.session.DeletionTimestamp = &s.session.CreationTimestamp
				s.session.DeletionTimestamp.Time = s.now
				s.judge()
				s.later(minute)
				s.judge()
			}, 60,
		},
		"a clock that was ahead takes nothing away": {
			func(s *scene) { s.run(); s.later(-minute); s.ask(idle); s.judge() }, 0,
		},
		"a container that ended before it started takes nothing away": {
			func(s *scene) { s.run(); s.agentEnds("Completed", 0, "", -minute); s.judge() }, 0,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			tc.before(s)
			if got := s.session.Status.RunSeconds; got != tc.want {
				t.Errorf("runSeconds = %d in state %s, want %d", got, s.session.Status.State, tc.want)
			}
		})
	}
}

func TestEachAttemptHasWhatIsLeftOfTheLifetime(t *testing.T) {
	s := newScene(t)
	s.run()
	s.later(20 * time.Minute)
	s.ask(idle)
	s.judge()
	s.terminated()
	s.judge()
	s.ask(runs)
	if got, want := s.judge().remaining(), 40*time.Minute; got != want {
		t.Errorf("remaining lifetime = %s, want %s", got, want)
	}
	agentRuns(s.pod(), s.now)
	s.judge()
	s.later(40 * time.Minute)
	s.agentEnds("Completed", 0, "", 40*time.Minute)
	if got := s.outcome(s.judge()); got.Reason != orcav1alpha1.ReasonLifetimeExceeded {
		t.Errorf("outcome = %+v, want the end of the lifetime", got)
	}
}

func TestExitCodes(t *testing.T) {
	for _, code := range []int32{0, 1, 3, 126, 143} {
		s := newScene(t)
		s.run()
		s.agentEnds("", code, "", time.Minute)
		s.judge()
		if got := s.session.Status.ExitCode; got == nil || *got != code {
			t.Errorf("exitCode = %v, want %d", got, code)
		}
	}
	s := newScene(t)
	s.run()
	if got := s.session.Status.ExitCode; got != nil {
		t.Errorf("exitCode of a running agent = %d", *got)
	}
}

func TestLongTextsAreCutBetweenCharacters(t *testing.T) {
	long := strings.Repeat("ü🐋", 1000)
	cases := map[string]func(*scene){
		"the scheduler's":          func(s *scene) { s.start(); unschedulable(s.pod(), long) },
		"the scheduler's, at last": func(s *scene) { s.start(); s.later(setupTimeout); unschedulable(s.pod(), long) },
		"the kubelet's":            func(s *scene) { s.start(); setupIs(s.pod(), waits("ErrImagePull", long)) },
		"the kubelet's, at last": func(s *scene) {
			s.start()
			s.later(setupTimeout)
			setupIs(s.pod(), waits("CreateContainerError", long))
		},
		"setup's": func(s *scene) {
			s.start()
			setupEnds(s.pod(), "", 1, `{"code":"MountConflict","cause":"`+long[:3600]+`"}`)
		},
		"the launcher's": func(s *scene) {
			s.start()
			s.agentEnds("", 1, `{"code":"PolicyUnverified","path":"/`+long[:3600]+`"}`, 0)
		},
	}
	for name, before := range cases {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			before(s)
			s.judge() // It checks what it says.
			if got := len(s.message()); got < maxMessage-utf8Max || got > maxMessage {
				t.Errorf("the message has %d bytes, want just under %d", got, maxMessage)
			}
		})
	}
}

const utf8Max = 4

func badFiles(count int) []orcav1alpha1.SessionResource {
	var out []orcav1alpha1.SessionResource
	for range count {
		out = append(out, file("name", "/tmp/"+strings.Repeat("ü", 100)))
	}
	return out
}

func TestCausesThatAMessageHasNoRoomForAreCounted(t *testing.T) {
	s := newScene(t)
	s.session.Spec.Resources = badFiles(100)
	s.judge() // It checks what it says.
	causes := strings.Split(s.message(), "; ")
	told := len(causes) - 1
	// Each is in a writable root, and all but the first at another's path.
	if want := fmt.Sprintf("and %d more", 100+99-told); told < 3 || causes[told] != want {
		t.Errorf("%d causes are told, the message ends in %q, want three or more and %q", told, causes[told], want)
	}
	for _, cause := range causes[:told] {
		if !strings.HasSuffix(cause, "must not overlap '/tmp', which is writable") {
			t.Errorf("cause %q lacks its rule", cause)
		}
	}
}

func TestEveryErrorIsToldOnce(t *testing.T) {
	cases := map[string]struct {
		before func(*scene)
		want   warning
	}{
		"a session that breaks a rule": {
			func(s *scene) { s.settings.Sandbox.Command = nil },
			warning{"InvalidSpec", "session.error setup_failed: spec.command: Required value: the deployment has no command of its own"},
		},
		"a setup that failed": {
			func(s *scene) { s.start(); setupEnds(s.pod(), "OOMKilled", 137, "") },
			warning{"SetupOutOfMemory", "session.error setup_failed: setup ran out of memory"},
		},
		"an agent that failed": {
			func(s *scene) { s.run(); s.agentEnds("", 3, "", time.Minute) },
			warning{"AgentFailed", "session.error agent_failed: the agent exited with code 3"},
		},
		"a lost sandbox": {
			func(s *scene) { s.run(); s.delete(s.pod().Name); s.terminated() },
			warning{"SandboxLost", "session.error sandbox_lost: the sandbox's pod is gone"},
		},
		"the end of the lifetime": {
			func(s *scene) { s.run(); s.agentEnds("", 0, "", maxLifetime) },
			warning{"LifetimeExceeded", "session.error lifetime_exceeded: " + messageLifetime},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			tc.before(s)
			j := s.judge() // It checks that a second look tells nothing.
			if j.warning == nil || *j.warning != tc.want {
				t.Errorf("warning = %+v, want %+v", j.warning, tc.want)
			}
			if is := s.session.Status.Error; !strings.HasSuffix(tc.want.note, is.Message) || is.Reason != tc.want.reason ||
				is.ObservedGeneration != s.session.Generation || !is.Time.Time.Equal(s.now) {
				t.Errorf("error = %+v, want what the warning says", is)
			}
		})
	}
}

func TestAGoodRunWarnsOfNothing(t *testing.T) {
	s := newScene(t)
	environment := s.environment
	s.environment = nil
	steps := []func(){
		func() {},
		func() { s.environment = environment },
		func() { unschedulable(s.pod(), "0/1 nodes are available") },
		func() { agentRuns(s.pod(), s.now) },
		func() { s.agentEnds("Completed", 0, agentExited, time.Minute) },
	}
	for i, step := range steps {
		step()
		if j := s.judge(); j.warning != nil {
			t.Errorf("step %d warns: %+v", i, j.warning)
		}
	}
	if s.session.Status.State != orcav1alpha1.SessionStateEnded {
		t.Errorf("state = %s, want Ended", s.session.Status.State)
	}
}
