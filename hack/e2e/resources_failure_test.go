// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"strings"
	"testing"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/hack/gitserver"
)

// awaitSetupFailed waits until a session is idle, for a reason, with a text in
// its message.
func awaitSetupFailed(t *testing.T, s *orcav1alpha1.OrcaSession, reason, text string) {
	t.Helper()
	awaitState(t, s, orcav1alpha1.SessionStateIdle)
	failed, ready := s.Status.Error, condition(s, orcav1alpha1.ConditionReady)
	if failed.Type != orcav1alpha1.ErrorSetupFailed || failed.Reason != reason || ready.Reason != reason {
		t.Errorf("error %s %s, Ready %s; want setup_failed %s", failed.Type, failed.Reason, ready.Reason, reason)
	}
	if !strings.Contains(failed.Message, text) || ready.Message != failed.Message {
		t.Errorf("message %q, Ready %q; want both to say %q", failed.Message, ready.Message, text)
	}
	if s.Status.ExitCode != nil {
		t.Errorf("the agent ran, and exited with %d", *s.Status.ExitCode)
	}
}

// F09, F10, F16, F17: what a user reads when a repository can't be had.
func TestARepositoryThatCannotBeHadIsExplained(t *testing.T) {
	t.Parallel()
	git := startGit(t)
	ssh := git.StartSSH()
	app := git.NewRepository("org/app.git", gitserver.Settings{User: "bot", Password: "right"})
	app.Commit("main", map[string]gitserver.File{"real/x": {Content: "x"}, "link": {Content: "real", Mode: gitserver.Symlink}})
	server := strings.TrimSuffix(git.URL(""), "/")
	stranger := git.StartSSH()
	onBranch := func(r *orcav1alpha1.GitRepositoryResource) { r.Ref = &orcav1alpha1.GitReference{Branch: "nope"} }
	cases := map[string]struct {
		resource orcav1alpha1.SessionResource
		// nested is where a file is, if there is one.
		nested string
		want   string
	}{
		"an unknown branch":  {resource: cloned("app", app.URL(), "right", onBranch), want: `resource "app": branch "nope" does not exist in ` + server},
		"a wrong password":   {resource: cloned("app", app.URL(), "wrong", nil), want: `resource "app": ` + server + ` refused the credential of Secret "wrong"`},
		"no credential":      {resource: cloned("app", app.URL(), "", nil), want: `asks for a credential: set credentials.secretRef`},
		"an unknown server":  {resource: cloned("app", stranger.URL("org/app.git"), "key", nil), want: `the host key of ` + stranger.Address() + ` is not in the key known_hosts of Secret "key"`},
		"no such repository": {resource: cloned("app", git.URL("org/none.git"), "right", nil), want: server + ` has no such repository`},
		"a file below a link": {resource: cloned("app", app.URL(), "right", nil), nested: "/workspace/app/link/new",
			want: `resource "app": its repository has a symbolic link at /workspace/app/link, where resource "in" needs a directory`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := newHome(t)
			secret(t, namespace, "right", map[string]string{"username": "bot", "password": "right"})
			secret(t, namespace, "wrong", map[string]string{"username": "bot", "password": "guessed-wrongly"})
			secret(t, namespace, "key", map[string]string{"ssh-privatekey": ssh.Key, "known_hosts": ssh.KnownHosts})
			inputs(t, namespace, map[string]string{"in": "in"})
			resources, reason := []orcav1alpha1.SessionResource{tc.resource}, orcav1alpha1.ReasonRepositoryFailed
			if tc.nested != "" {
				resources, reason = append(resources, file("in", "in", tc.nested)), orcav1alpha1.ReasonMountConflict
			}
			s := on(t, namespace, "exit 0", resources...)
			awaitSetupFailed(t, s, reason, tc.want)
			if strings.Contains(describe(s), "guessed-wrongly") {
				t.Errorf("the password is shown:\n%s", describe(s))
			}
		})
	}
}

func TestASessionWaitsForItsSecret(t *testing.T) {
	t.Parallel()
	git := startGit(t)
	app := git.NewRepository("org/app.git", gitserver.Settings{User: "bot", Password: "right"})
	commit := app.Commit("main", map[string]gitserver.File{"a": {Content: "here"}})
	namespace := newHome(t)
	s := on(t, namespace, "cat /workspace/app/a", cloned("app", app.URL(), "late", nil))
	awaitReason(t, s, orcav1alpha1.ReasonRepositoryFailed)
	if message := condition(s, orcav1alpha1.ConditionReady).Message; s.Status.State == orcav1alpha1.SessionStateIdle || !strings.Contains(message, `Secret "late" does not exist`) {
		t.Errorf("state %s, message %q", s.Status.State, message)
	}
	secret(t, namespace, "late", map[string]string{"username": "bot", "password": "right"})
	awaitReason(t, s, orcav1alpha1.ReasonCompleted)
	if got := logs(t, s); got != "here" || s.Status.Resources[0].Commit != commit {
		t.Errorf("the agent reads %q at commit %s, want that at %s", got, s.Status.Resources[0].Commit, commit)
	}
}
