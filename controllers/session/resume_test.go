// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
)

// loses brings the session to Idle for the loss of its running sandbox.
func (s *scene) loses() {
	s.t.Helper()
	s.run()
	s.delete(s.pod().Name)
	s.terminated()
	s.judge()
}

func TestAFailedSessionIsTriedAgain(t *testing.T) {
	again := func(attempt int32, before outcome) outcome { o := starting(attempt); o.Error = before.Error; return o }
	packages, unverified := setupFails("PackagesUnsupported"), setupFails("WritePolicyUnverified")
	refused := func(s *scene) { s.environment.Spec.Config.Packages = []string{"numpy"}; s.judge() }
	unprepared := func(s *scene) { s.start(); setupEnds(s.pod(), "Error", 1, ""); s.judge() }
	clears := func(before outcome) outcome {
		return outcome{
			State: "Pending", Reason: "WaitingForTermination", Verdict: status.InProgressStatus,
			Prepared: before.Prepared, Error: before.Error, Removes: 1,
		}
	}
	runPlays(t, map[string]play{
		"not by itself":           {func(s *scene) { s.loses(); s.later(24 * time.Hour) }, lost()},
		"not by itself, setup":    {func(s *scene) { unprepared(s); s.later(24 * time.Hour) }, unverified},
		"not by itself, policy":   {func(s *scene) { refused(s); s.later(24 * time.Hour) }, packages},
		"by a new generation":     {func(s *scene) { s.loses(); s.ask(runs) }, again(2, lost())},
		"by the annotation":       {func(s *scene) { s.loses(); s.resume("1") }, again(2, lost())},
		"by its first attempt's":  {func(s *scene) { s.resume("1"); s.loses() }, lost()},
		"by another value":        {func(s *scene) { s.resume("1"); s.loses(); s.resume("2") }, again(2, lost())},
		"not by the same value":   {func(s *scene) { s.resume("1"); s.loses(); s.resume("1") }, lost()},
		"setup, by a generation":  {func(s *scene) { unprepared(s); s.ask(runs) }, clears(unverified)},
		"setup, by an annotation": {func(s *scene) { unprepared(s); s.resume("1") }, clears(unverified)},
		"setup, once its pod is gone": {
			func(s *scene) { unprepared(s); s.resume("1"); s.judge(); s.terminated() }, again(2, unverified),
		},
		"packages, once they are removed":                  {func(s *scene) { refused(s); s.environment.Spec.Config.Packages = nil }, again(1, packages)},
		"packages, to fail by them again as somebody asks": {func(s *scene) { refused(s); s.resume("1") }, packages},
		"packages, which come back once a pod is made that the status doesn't know of": {
			func(s *scene) {
				refused(s)
				before := s.session
				s.environment.Spec.Config.Packages = nil
				s.judge()
				s.session = before
				s.environment.Spec.Config.Packages = []string{"numpy"}
			},
			func() outcome { o := held("Starting", 0); o.Error = packages.Error; return o }(),
		},
		"packages, to fail by the image that remains": {
			func(s *scene) { refused(s); s.environment.Spec.Config.Packages = nil; s.environment.Spec.Image = "x" },
			setupFails("ImageRejected"),
		},
		"packages, to wait for another environment once it is deleted": {
			func(s *scene) { refused(s); s.environment = nil },
			outcome{State: "Pending", Reason: "EnvironmentNotFound", Verdict: status.InProgressStatus, Prepared: "Pending", Error: packages.Error},
		},
		"packages, to fail by them again": {func(s *scene) { refused(s); s.ask(runs) }, packages},
		"a loss, not by its environment":  {func(s *scene) { s.loses(); s.environment.Labels = map[string]string{"a": "b"} }, lost()},
		"a loss, to wait for an environment": {
			func(s *scene) { s.loses(); s.environment = nil; s.resume("1") },
			outcome{State: "Pending", Reason: "EnvironmentNotFound", Verdict: status.InProgressStatus, Prepared: "Pending", Error: lost().Error},
		},
	})
}

func TestAResumeIsHandledOnce(t *testing.T) {
	s := newScene(t)
	s.loses()
	s.resume("now")
	s.judge()
	if got := s.session.Status.LastHandledResume; got != "now" {
		t.Errorf("lastHandledResume = %q, want %q", got, "now")
	}
	s.delete(s.pod().Name)
	s.terminated()
	if got := s.outcome(s.judge()); got != lost() {
		t.Errorf("outcome of the second loss = %+v, want %+v", got, lost())
	}
}

func TestAResumeIsHandledOnceAcrossARestartOfTheOperator(t *testing.T) {
	s := newScene(t)
	s.loses()
	s.resume("now")
	before := s.session
	s.judge()
	s.session = before // The pod was made, the status never written.
	s.judge()
	if got := s.session.Status; got.LastHandledResume != "now" || got.Attempt != 2 {
		t.Errorf("lastHandledResume %q, attempt %d; want the second attempt, for %q", got.LastHandledResume, got.Attempt, "now")
	}
}

func TestASandboxAfterALossHasTheWholeTimeToStart(t *testing.T) {
	s := newScene(t)
	s.start()
	s.later(time.Minute)
	s.delete(s.pod().Name)
	s.terminated()
	s.judge()
	s.later(24 * time.Hour)
	s.resume("now")
	s.judge()
	if got, want := s.outcome(s.judge()), held("Starting", 0); got.After != want.After || got.State != want.State {
		t.Errorf("outcome = %+v, want one like %+v", got, want)
	}
}

func TestANewAttemptLeavesNothingOfTheOldOneButItsHistory(t *testing.T) {
	s := newScene(t)
	s.start()
	s.agentEnds("Error", 127, commandNotFound, time.Second)
	s.judge()
	before := s.session.Status
	if before.EndTime.IsZero() || before.Error.Attempt != 1 {
		t.Fatalf("endTime %v, error %+v", before.EndTime, before.Error)
	}
	s.later(time.Minute)
	s.session.Status.ExitCode = new(int32(127))
	s.resume("now")
	s.judge()
	s.terminated()
	s.judge()
	got := s.session.Status
	if got.Attempt != 2 || got.PodName == before.PodName || !got.EndTime.IsZero() || got.ExitCode != nil || !got.StartTime.Time.Equal(s.now) {
		t.Errorf("attempt %d, pod %q, start %v, end %v, exit code %v", got.Attempt, got.PodName, got.StartTime, got.EndTime, got.ExitCode)
	}
	if diff := cmp.Diff(before.Error, got.Error); diff != "" {
		t.Errorf("the last error (-before +after):\n%s", diff)
	}
}

func TestAStartThatIsOutOfLifetimeEnds(t *testing.T) {
	s := newScene(t)
	s.run()
	s.later(maxLifetime)
	s.delete(s.pod().Name)
	s.terminated()
	s.judge()
	s.resume("now")
	want := outcome{
		State: "Ended", Reason: "LifetimeExceeded", Verdict: status.FailedStatus, Prepared: "Pending",
		Error: "lifetime_exceeded LifetimeExceeded",
	}
	if got := s.outcome(s.judge()); got != want {
		t.Errorf("outcome = %+v, want %+v", got, want)
	}
	if got := s.session.Status.RunSeconds; got != int32(maxLifetime.Seconds()) {
		t.Errorf("runSeconds = %d", got)
	}
}

func TestTheLastErrorStaysThroughALifeOfItsOwn(t *testing.T) {
	s := newScene(t)
	s.loses()
	want := s.session.Status.Error
	for _, step := range []func(){
		func() { s.resume("now") },
		func() { agentRuns(s.pod(), s.now) },
		func() { s.agentEnds("Completed", 0, agentExited, time.Minute) },
	} {
		s.later(time.Second)
		step()
		s.judge()
		if diff := cmp.Diff(want, s.session.Status.Error); diff != "" {
			t.Errorf("error in state %s (-want +got):\n%s", s.session.Status.State, diff)
		}
	}
	if s.session.Status.State != orcav1alpha1.SessionStateEnded {
		t.Errorf("state = %s", s.session.Status.State)
	}
}
