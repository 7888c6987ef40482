// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"crypto/rand"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/hack/gitserver"
)

// verify is the program that compares a sandbox with what was asked for.
//
//go:embed testdata/verify.py
var verify string

// plant is what a session's own variable and a file of it have: a search that
// doesn't find it finds nothing.
const plant = "planted-to-be-found-"

// F14, F23, F24: a session at all limits finds what it asked for, whole.
func TestASessionAtTheLimitsHasAllItAskedFor(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	create(t, environment(namespace, "env"))
	c := compose(t, namespace)
	secrets := c.addRepositories()
	before := c.addStores()
	c.addFiles(100)
	s := session(namespace, fmt.Sprintf("python3 %s %s; sleep infinity", c.program(), c.expectation()))
	s.Spec.Env = []orcav1alpha1.EnvVar{{Name: "PLANT", Value: new(plant)}}
	s.Spec.Resources = c.resources
	create(t, s)
	awaitState(t, s, orcav1alpha1.SessionStateRunning)

	c.checkStatus(s)
	var said string
	awaitThat(t, "the program's last line", func() bool {
		said = logs(t, s)
		return strings.HasSuffix(said, " problems\n")
	})
	if !strings.HasSuffix(said, "\n0 problems\n") {
		t.Errorf("the program in the sandbox says:\n%s", said)
	}
	if diff := cmp.Diff(before, surveyOfSealedStores(t, s)); diff != "" {
		t.Errorf("owners, modes and times of the ReadOnly stores changed (-before +now):\n%s", diff)
	}
	searchFor(t, s, secrets)
}

// checkStatus compares where resources are, and at which commits.
func (c *composition) checkStatus(s *orcav1alpha1.OrcaSession) {
	c.t.Helper()
	byName := func(a, b orcav1alpha1.ResourceStatus) int { return strings.Compare(a.Name, b.Name) }
	got := slices.SortedFunc(slices.Values(s.Status.Resources), byName)
	slices.SortFunc(c.places, byName)
	if diff := cmp.Diff(c.places, got); diff != "" {
		c.t.Errorf("status.resources (-want +got):\n%s", diff)
	}
}

// addRepositories adds one of every kind and returns the texts of credentials
// that nobody may find.
func (c *composition) addRepositories() (secrets []string) {
	git := startGit(c.t)
	ssh := git.StartSSH()
	password := rand.Text()
	secret(c.t, c.namespace, "password", map[string]string{"username": "bot", "password": password})
	secret(c.t, c.namespace, "key", map[string]string{"ssh-privatekey": ssh.Key, "known_hosts": ssh.KnownHosts})
	private := gitserver.Settings{User: "bot", Password: password}

	app := git.NewRepository("org/app.git", private)
	tree := map[string]gitserver.File{
		"README.md": {Content: "app\n"}, "docs/a b/é.txt": {Content: "text\n"}, "run": {Content: "#!/bin/sh\n", Mode: gitserver.Executable},
		"link": {Content: "docs/a b", Mode: gitserver.Symlink}, "empty": {},
	}
	first := app.Commit("main", tree)
	c.addRepository("/workspace/app", tree, first, "main", cloned("app", app.URL(), "password", nil))
	c.addRepository("/workspace/keyed", tree, first, "main", cloned("ssh", ssh.URL("org/app.git"), "key", at("/workspace/keyed")))
	c.want.Repositories["/workspace/app"].Status = "?? data/\n?? docs/deep/" // Files are put there.

	tree = map[string]gitserver.File{"README.md": {Content: "a feature\n"}}
	feature := app.Commit("feature/x", tree)
	app.Tag("v1", feature)
	c.addRepository("/workspace/branch", tree, feature, "feature/x", cloned("branch", app.URL(), "password",
		func(r *orcav1alpha1.GitRepositoryResource) {
			r.MountPath, r.Ref, r.Depth = "/workspace/branch", &orcav1alpha1.GitReference{Branch: "feature/x"}, 1
		}))
	c.addRepository("/workspace/tag", tree, feature, "", cloned("tag", app.URL(), "password",
		func(r *orcav1alpha1.GitRepositoryResource) {
			r.MountPath, r.Ref = "/workspace/tag", &orcav1alpha1.GitReference{Tag: "v1"}
		}))
	tree = map[string]gitserver.File{"README.md": {Content: "later\n"}}
	later := app.Commit("past", tree)
	app.Commit("past", nil)
	c.addRepository("/srv/commit", tree, later, "", cloned("commit", app.URL(), "password",
		func(r *orcav1alpha1.GitRepositoryResource) {
			r.MountPath, r.Ref = "/srv/commit", &orcav1alpha1.GitReference{Commit: later}
		}))
	c.addOuter(git, private, first)
	c.addLarge(git, private)
	c.addWritable(git, private)
	return []string{password, basic("bot", password), strings.Split(ssh.Key, "\n")[2]}
}

// addOuter adds a repository with a submodule at a relative address.
func (c *composition) addOuter(git *gitserver.Server, private gitserver.Settings, inner string) {
	outer := git.NewRepository("org/outer.git", private)
	modules := gitserver.File{Content: "[submodule \"app\"]\n\tpath = third/app\n\turl = ../app.git\n"}
	commit := outer.Commit("main", map[string]gitserver.File{
		".gitmodules": modules, "third/app": {Content: inner, Mode: gitserver.Submodule},
	})
	tree := map[string]gitserver.File{".gitmodules": modules, "third/app/README.md": {Content: "app\n"}, "third/app/docs/a b/é.txt": {Content: "text\n"},
		"third/app/run": {Content: "#!/bin/sh\n", Mode: gitserver.Executable}, "third/app/link": {Content: "docs/a b", Mode: gitserver.Symlink}, "third/app/empty": {}}
	c.addRepository("/workspace/outer", tree, commit, "main", cloned("outer", outer.URL(), "password",
		func(r *orcav1alpha1.GitRepositoryResource) { r.Submodules = orcav1alpha1.SubmodulesRecursive }))
}

// addLarge adds a repository with a file that Git LFS keeps.
func (c *composition) addLarge(git *gitserver.Server, private gitserver.Settings) {
	content := strings.Repeat("large\x00", 100_000)
	large := git.NewRepository("org/large.git", private)
	attributes := gitserver.File{Content: "*.bin filter=lfs diff=lfs merge=lfs -text\n"}
	commit := large.Commit("main", map[string]gitserver.File{".gitattributes": attributes, "model.bin": git.LFS(content)})
	c.addRepository("/workspace/large", map[string]gitserver.File{".gitattributes": attributes, "model.bin": {Content: content}}, commit, "main",
		cloned("large", large.URL(), "password", func(r *orcav1alpha1.GitRepositoryResource) { r.LFS = orcav1alpha1.LFSFetch }))
}

// addWritable adds a repository that the agent may change.
func (c *composition) addWritable(git *gitserver.Server, private gitserver.Settings) {
	own := git.NewRepository("org/own.git", private)
	tree := map[string]gitserver.File{"README.md": {Content: "own\n"}}
	c.addRepository("/workspace/own", tree, own.Commit("main", tree), "main",
		cloned("own", own.URL(), "password", func(r *orcav1alpha1.GitRepositoryResource) { r.Access = orcav1alpha1.AccessReadWrite }))
}

// F24: one more of anything is refused when the session is made.
func TestASessionBeyondALimitIsRefused(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	cases := map[string]struct {
		count int
		make  func(name string) orcav1alpha1.SessionResource
		limit string
	}{
		"101 files":      {101, func(name string) orcav1alpha1.SessionResource { return file(name, "key", "") }, "at most 100 files"},
		"9 stores":       {9, func(name string) orcav1alpha1.SessionResource { return store(name, name, "") }, "at most 8 memory stores"},
		"9 repositories": {9, func(name string) orcav1alpha1.SessionResource { return cloned(name, "https://git.test/"+name, "", nil) }, "at most 8 repositories"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := session(namespace, "exit 0")
			for i := range tc.count {
				s.Spec.Resources = append(s.Spec.Resources, tc.make(fmt.Sprintf("r%d", i)))
			}
			if err := cluster.Create(t.Context(), s, client.DryRunAll); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), tc.limit) {
				t.Errorf("the answer is %v, want a refusal that says %q", err, tc.limit)
			}
			s.Spec.Resources = s.Spec.Resources[1:]
			if err := cluster.Create(t.Context(), s, client.DryRunAll); err != nil {
				t.Errorf("with one less it is refused, too: %v", err)
			}
		})
	}
}
