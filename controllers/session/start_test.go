// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
)

func waiting(state orcav1alpha1.SessionState, reason string) outcome {
	return outcome{State: state, Reason: reason, Verdict: status.InProgressStatus, Prepared: "Pending"}
}

func setupFails(reason string) outcome {
	return outcome{State: "Idle", Reason: reason, Verdict: status.FailedStatus, Prepared: reason, Error: "setup_failed " + reason}
}

func starting(attempt int32) outcome {
	return outcome{State: "Starting", Reason: "Starting", Verdict: status.InProgressStatus, Prepared: "Preparing", Start: attempt}
}

func TestBeforeTheFirstSandbox(t *testing.T) {
	runPlays(t, map[string]play{
		"nothing stands in the way": {
			before: func(*scene) {},
			want:   starting(1),
		},
		"the environment does not exist": {
			before: func(s *scene) { s.environment = nil },
			want:   waiting("Pending", "EnvironmentNotFound"),
		},
		"the environment still does not exist a year later": {
			before: func(s *scene) {
				s.environment = nil
				s.judge()
				s.later(365 * 24 * time.Hour)
			},
			want: waiting("Pending", "EnvironmentNotFound"),
		},
		"the environment appears": {
			before: func(s *scene) {
				environment := s.environment
				s.environment = nil
				s.judge()
				s.environment = environment
			},
			want: starting(1),
		},
		"the environment has packages": {
			before: func(s *scene) { s.environment.Spec.Config.Packages = []string{"numpy"} },
			want:   setupFails("PackagesUnsupported"),
		},
		"the environment has an image": {
			before: func(s *scene) { s.environment.Spec.Image = "python:3" },
			want:   setupFails("ImageRejected"),
		},
		"the environment has both": {
			before: func(s *scene) {
				s.environment.Spec.Image = "python:3"
				s.environment.Spec.Config.Packages = []string{"numpy"}
			},
			want: setupFails("PackagesUnsupported"),
		},
		"the environment has networking, which is stored": {
			before: func(s *scene) { s.environment.Spec.Config.Networking.Type = orcav1alpha1.NetworkingLimited },
			want:   starting(1),
		},
		"a path is not canonical": {
			before: func(s *scene) { s.session.Spec.Resources = []orcav1alpha1.SessionResource{file("a", "/data/../a")} },
			want:   setupFails("InvalidSpec"),
		},
		"a path is reserved": {
			before: func(s *scene) {
				s.session.Spec.Resources = []orcav1alpha1.SessionResource{file("a", "/workspace/skills")}
			},
			want: setupFails("ReservedRoot"),
		},
		"a path is writable": {
			before: func(s *scene) { s.session.Spec.Resources = []orcav1alpha1.SessionResource{file("a", "/tmp/a")} },
			want:   setupFails("OverlappingRoots"),
		},
		"two files have one path": {
			before: func(s *scene) {
				s.session.Spec.Resources = []orcav1alpha1.SessionResource{file("a", "/data/a"), file("b", "/data/a")}
			},
			want: setupFails("MountConflict"),
		},
		"a file is of the artifact store": {
			before: func(s *scene) {
				s.session.Spec.Resources[0].File.Source = orcav1alpha1.FileSource{Artifact: &orcav1alpha1.ArtifactSource{}}
			},
			want: setupFails("FileUnavailable"),
		},
		"a repository's address holds a password": {
			before: func(s *scene) {
				s.session.Spec.Resources[0] = orcav1alpha1.SessionResource{
					Name: "app", GitRepository: orcav1alpha1.GitRepositoryResource{URL: "https://bot:secret@git.test/app"},
				}
			},
			want: setupFails("InvalidSpec"),
		},
		"two memory stores have one path": {
			before: func(s *scene) {
				store := orcav1alpha1.MemoryStoreResource{StoreID: "mem"}
				s.session.Spec.Resources = []orcav1alpha1.SessionResource{{Name: "a", MemoryStore: store}, {Name: "b", MemoryStore: store}}
			},
			want: setupFails("DuplicateMountPath"),
		},
		"there is no command": {
			before: func(s *scene) { s.settings.Sandbox.Command = nil },
			want:   setupFails("InvalidSpec"),
		},
		"there are more files than the deployment lets": {
			before: func(s *scene) { s.settings.Limits.Files = 0 },
			want:   setupFails("LimitExceeded"),
		},
		"the session says more than a pod can carry": {
			before: func(s *scene) { s.session.Spec.Args = slices.Repeat([]string{strings.Repeat("x", 30_000)}, 7) },
			want:   setupFails("LimitExceeded"),
		},
		"it does, and its input isn't there either": {
			before: func(s *scene) {
				s.session.Spec.Args = slices.Repeat([]string{strings.Repeat("x", 30_000)}, 7)
				s.inputs = inputs{missing: []string{"inputs"}, versions: "none"}
			},
			want: setupFails("LimitExceeded"),
		},
		"the session is asked to be idle from the beginning": {
			before: func(s *scene) { s.ask(orcav1alpha1.DesiredStateIdle) },
			want:   outcome{State: "Idle", Reason: "Idle", Verdict: status.CurrentStatus, Prepared: "Pending"},
		},
		"the session is asked to end before it began": {
			before: func(s *scene) { s.ask(orcav1alpha1.DesiredStateEnded) },
			want:   outcome{State: "Ended", Reason: "Ended", Verdict: status.CurrentStatus, Prepared: "Pending"},
		},
		"the session is asked to be idle while it waits": {
			before: func(s *scene) {
				s.environment = nil
				s.judge()
				s.ask(orcav1alpha1.DesiredStateIdle)
			},
			want: outcome{State: "Idle", Reason: "Idle", Verdict: status.CurrentStatus, Prepared: "Pending"},
		},
		"a pod of the next attempt is there, as after a restart of the operator": {
			before: func(s *scene) {
				untouched := s.session
				s.start()
				s.session = untouched
			},
			want: outcome{State: "Starting", Reason: "Starting", Verdict: status.InProgressStatus, Prepared: "Preparing", After: setupTimeout},
		},
	})
}

func TestWaitingForAConfigMap(t *testing.T) {
	missing := func(s *scene) { s.inputs = inputs{missing: []string{"inputs"}, versions: "none"} }
	wait := outcome{State: "Pending", Reason: "FileUnavailable", Verdict: status.InProgressStatus, Prepared: "Preparing", After: recheckInputs}
	failed := setupFails("FileUnavailable")
	tried := starting(1)
	tried.Error = failed.Error
	left := func(d time.Duration) outcome { w := wait; w.After = d; return w }
	recheck := failed
	recheck.After = recheckFailed
	runPlays(t, map[string]play{
		"it is not there": {
			before: missing,
			want:   wait,
		},
		"it is still not there when there is a second left": {
			before: func(s *scene) { missing(s); s.judge(); s.later(setupTimeout - time.Second) },
			want:   left(time.Second),
		},
		"it is still not there when the time is over": {
			before: func(s *scene) { missing(s); s.judge(); s.later(setupTimeout) },
			want:   recheck,
		},
		"it appears": {
			before: func(s *scene) {
				missing(s)
				s.judge()
				s.later(setupTimeout / 2)
				s.inputs = inputs{versions: "first"}
			},
			want: starting(1),
		},
		"it goes on missing after the failure": {
			before: func(s *scene) { missing(s); s.judge(); s.later(setupTimeout); s.judge(); s.later(time.Hour) },
			want:   recheck,
		},
		"it appears after the failure": {
			before: func(s *scene) {
				missing(s)
				s.judge()
				s.later(setupTimeout)
				s.judge()
				s.later(time.Hour)
				s.inputs = inputs{versions: "first"}
			},
			want: tried,
		},
		"the session is asked to be idle meanwhile": {
			before: func(s *scene) { missing(s); s.judge(); s.ask(orcav1alpha1.DesiredStateIdle) },
			want:   outcome{State: "Idle", Reason: "Idle", Verdict: status.CurrentStatus, Prepared: "Pending"},
		},
	})
}

func TestEachWaitForAConfigMapHasItsWholeTime(t *testing.T) {
	s := newScene(t)
	s.inputs.missing = []string{"inputs"}
	s.judge()
	s.later(setupTimeout)
	s.judge()
	s.later(time.Hour)
	s.resume("again")
	j := s.judge()
	want := outcome{
		State: "Pending", Reason: "FileUnavailable", Verdict: status.InProgressStatus, Prepared: "Preparing",
		Error: "setup_failed FileUnavailable", After: recheckInputs,
	}
	if got := s.outcome(j); got != want {
		t.Errorf("outcome = %+v, want %+v", got, want)
	}
}

func TestWaitingForAnEnvironmentUsesUpNoTimeForFiles(t *testing.T) {
	s := newScene(t)
	s.inputs.missing = []string{"inputs"}
	s.judge()
	environment := s.environment
	s.environment = nil
	s.later(time.Minute)
	s.judge()
	s.later(time.Hour)
	s.environment = environment
	if got := s.outcome(s.judge()); got.Reason != orcav1alpha1.ReasonFileUnavailable || got.State != orcav1alpha1.SessionStatePending {
		t.Errorf("outcome = %+v, want a wait for the ConfigMap", got)
	}
}

func TestMessagesNameTheCause(t *testing.T) {
	cases := map[string]struct {
		before func(*scene)
		want   string
	}{
		"the environment": {
			func(s *scene) { s.environment = nil },
			`environment "env" does not exist`,
		},
		"the ConfigMap": {
			func(s *scene) { s.inputs.missing = []string{"inputs", "more"} },
			`ConfigMap "inputs" does not exist`,
		},
		"the environment's packages": {
			func(s *scene) { s.environment.Spec.Config.Packages = []string{"numpy"} },
			`environment "env": spec.config.packages: Forbidden: packages are not installed`,
		},
		"the resource and its path": {
			func(s *scene) { s.session.Spec.Resources = []orcav1alpha1.SessionResource{file("a", "/tmp/a")} },
			`resource "a": spec.resources[0].file.mountPath: Invalid value: "/tmp/a": must not overlap '/tmp'`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			tc.before(s)
			s.judge()
			if got := s.message(); !strings.Contains(got, tc.want) {
				t.Errorf("message = %q, want one with %q", got, tc.want)
			}
		})
	}
}
