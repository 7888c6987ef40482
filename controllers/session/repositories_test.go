// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
)

const lacksSecret = `{"code":"CredentialUnavailable","resource":"app","cause":"Secret \"git-cred\" does not exist, or has no key \"password\""}`

// lacksCredential is about a sandbox whose setup failed for want of a Secret
// after some time.
func lacksCredential(s *scene, after time.Duration) {
	s.later(after)
	setupEnds(s.pod(), "Error", 1, lacksSecret)
	s.pod().Status.InitContainerStatuses[0].State.Terminated.FinishedAt = metav1.NewTime(s.now)
}

func TestWhenACredentialIsMissing(t *testing.T) {
	const second = time.Second
	lacks := func(s *scene) {
		s.session.Spec.Resources = append(s.session.Spec.Resources, app())
		s.start()
		lacksCredential(s, second)
		s.judge()
	}
	wait := func(after time.Duration) outcome {
		return outcome{State: "Starting", Reason: "RepositoryFailed", Verdict: status.InProgressStatus, Prepared: "Preparing", After: after}
	}
	retry := outcome{State: "Pending", Reason: "WaitingForTermination", Verdict: status.InProgressStatus, Prepared: "Preparing", Removes: 1}
	runPlays(t, map[string]play{
		"a moment ago":     {lacks, wait(minBackOff)},
		"a little earlier": {func(s *scene) { lacks(s); s.later(2 * second) }, wait(minBackOff - 2*second)},
		"long enough ago":  {func(s *scene) { lacks(s); s.later(minBackOff) }, retry},
		"the first sandbox is gone": {
			func(s *scene) { lacks(s); s.later(minBackOff); s.judge(); s.terminated() },
			starting(2),
		},
		"the time is over": {
			func(s *scene) { lacks(s); s.later(setupTimeout) },
			setupFails("RepositoryFailed"),
		},
		"after the failure, which nothing tells the end of": {
			func(s *scene) {
				lacks(s)
				s.later(setupTimeout)
				s.judge()
				s.later(time.Hour)
				s.inputs.versions = "second"
			},
			setupFails("RepositoryFailed"),
		},
		"the node's clock is an hour behind": {
			func(s *scene) {
				lacks(s)
				s.pod().Status.InitContainerStatuses[0].State.Terminated.FinishedAt.Time = s.now.Add(-time.Hour)
			},
			wait(minBackOff - second),
		},
		"the node's clock is an hour ahead": {
			func(s *scene) {
				lacks(s)
				s.pod().Status.InitContainerStatuses[0].State.Terminated.FinishedAt.Time = s.now.Add(time.Hour)
			},
			wait(setupTimeout - second),
		},
		"the session is asked to be idle": {
			func(s *scene) { lacks(s); s.ask(idle) },
			func() outcome { o := waiting("Ending", "Ending"); o.Removes = 1; return o }(),
		},
	})
}

// The waits for a credential about double, and all of them are within
// setup.timeout. Between two sandboxes nothing is written.
func TestTheWaitsForACredential(t *testing.T) {
	s := newScene(t)
	s.session.Spec.Resources = append(s.session.Spec.Resources, app())
	s.start()
	began := s.now
	var waits []time.Duration
	for s.session.Status.State != orcav1alpha1.SessionStateIdle {
		lacksCredential(s, 2*time.Second)
		after := s.judge().after
		waits = append(waits, after)
		s.later(after)
		s.judge()
		s.terminated()
		s.judge()
	}
	const second = time.Second
	want := []time.Duration{5 * second, 9 * second, 20 * second, 42 * second}
	for range 8 {
		want = append(want, maxBackOff)
	}
	if diff := cmp.Diff(want, waits[:len(waits)-1]); diff != "" {
		t.Errorf("waits but the last (-want +got):\n%s", diff)
	}
	if took := s.now.Sub(began); took != setupTimeout {
		t.Errorf("it gives up after %s, want %s", took, setupTimeout)
	}
	const message = `resource "app": Secret "git-cred" does not exist, or has no key "password"`
	if got := s.session.Status.Error; got.Message != message || got.Attempt != int32(len(waits)) {
		t.Errorf("error = %+v after %d sandboxes, want %q", got, len(waits), message)
	}
}

func TestARepositoryThatCannotBeCloned(t *testing.T) {
	s := newScene(t)
	s.session.Spec.Resources = append(s.session.Spec.Resources, app())
	s.start()
	setupEnds(s.pod(), "Error", 1, `{"code":"RepositoryFailed","resource":"app","cause":"there is no branch \"no-such\""}`)
	if diff := cmp.Diff(setupFails("RepositoryFailed"), s.outcome(s.judge())); diff != "" {
		t.Errorf("outcome (-want +got):\n%s", diff)
	}
	if got, want := s.message(), `resource "app": there is no branch "no-such"`; got != want {
		t.Errorf("message = %q, want %q", got, want)
	}
}

var (
	commit1   = strings.Repeat("0a", 20)
	commit256 = strings.Repeat("0b", 32)
)

func prepared(commits string) string {
	return fmt.Sprintf(`{"code":"Prepared","landlock":true,"commits":%s}`, commits)
}

// runsAfter brings the session to Running after what setup said.
func runsAfter(s *scene, setup string) {
	s.start()
	agentRuns(s.pod(), s.now)
	s.pod().Status.InitContainerStatuses[0].State.Terminated.Message = setup
	s.judge()
}

func TestCommits(t *testing.T) {
	cases := map[string]struct{ said, want string }{
		"of SHA-1":                        {prepared(`{"app":"` + commit1 + `"}`), commit1},
		"of SHA-256":                      {prepared(`{"app":"` + commit256 + `"}`), commit256},
		"none":                            {prepared(`{}`), ""},
		"of something else":               {prepared(`{"table":"` + commit1 + `","other":"` + commit1 + `"}`), ""},
		"that is none":                    {prepared(`{"app":"main"}`), ""},
		"cut short":                       {prepared(`{"app":"` + commit1[1:] + `"}`), ""},
		"in capitals":                     {prepared(`{"app":"` + strings.ToUpper(commit1) + `"}`), ""},
		"with a line after it":            {prepared(`{"app":"` + commit1 + `\n"}`), ""},
		"in a result that says otherwise": {`{"code":"RepositoryFailed","commits":{"app":"` + commit1 + `"}}`, ""},
		"in what is no result":            {commit1, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.session.Spec.Resources = append(s.session.Spec.Resources, app(), notes())
			runsAfter(s, tc.said)
			want := []orcav1alpha1.ResourceStatus{
				{Name: "app", MountPath: "/workspace/app", Access: "ReadOnly", Commit: tc.want},
				{Name: "notes", MountPath: "/mnt/memory/mem_notes", Access: "ReadWrite"},
				{Name: "table", MountPath: "/mnt/session/uploads/file_table/table", Access: "ReadOnly"},
			}
			if diff := cmp.Diff(want, s.session.Status.Resources); diff != "" {
				t.Errorf("resources (-want +got):\n%s", diff)
			}
		})
	}
}

func TestACommitIsOfOneAttempt(t *testing.T) {
	s := newScene(t)
	s.session.Spec.Resources = []orcav1alpha1.SessionResource{app()}
	commit := func() string { return s.session.Status.Resources[0].Commit }
	s.start()
	setupEnds(s.pod(), "Completed", 0, prepared(`{"app":"`+commit1+`"}`))
	s.judge()
	if got := commit(); got != "" {
		t.Errorf("commit %s is told before the sandbox is prepared", got)
	}
	agentRuns(s.pod(), s.now)
	s.pod().Status.InitContainerStatuses[0].State.Terminated.Message = prepared(`{"app":"` + commit1 + `"}`)
	s.judge()
	s.ask(idle)
	s.judge()
	s.terminated()
	s.judge()
	if got := commit(); got != commit1 {
		t.Errorf("commit of the idle session = %q, want %s", got, commit1)
	}
	s.ask(runs)
	s.judge()
	if got := commit(); got != "" {
		t.Errorf("commit %s of the attempt before is told of a new one", got)
	}
}

func TestWhereResourcesAreIsToldBeforeThereIsASandbox(t *testing.T) {
	s := newScene(t)
	s.session.Spec.Resources = []orcav1alpha1.SessionResource{notes()}
	loses(s)
	s.judge()
	want := []orcav1alpha1.ResourceStatus{{Name: "notes", MountPath: "/mnt/memory/mem_notes", Access: "ReadWrite"}}
	if diff := cmp.Diff(want, s.session.Status.Resources); diff != "" {
		t.Errorf("resources of a session that waits (-want +got):\n%s", diff)
	}
	refused := newScene(t)
	refused.session.Spec.Resources = []orcav1alpha1.SessionResource{file("a", "/tmp/a")}
	refused.judge()
	if got := refused.session.Status.Resources; got != nil {
		t.Errorf("resources of a session that is refused: %v", got)
	}
}
