// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"slices"
	"strings"
	"testing"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
)

// searchFor fails the test if any of some texts is to be found around a session,
// or if a search finds nothing at all (F05).
func searchFor(t *testing.T, s *orcav1alpha1.OrcaSession, secrets []string) {
	t.Helper()
	for _, text := range secrets {
		for where, content := range shown(t, s) {
			if strings.Contains(content, text) {
				t.Errorf("%s has a credential", where)
			}
		}
		if found := searchSandbox(t, s, text); found != "" {
			t.Errorf("in the sandbox a credential is in:\n%s", found)
		}
	}
	found := strings.Split(searchSandbox(t, s, plant), "\n")
	if !slices.Contains(found, "/mnt/session/uploads/file_planted/planted") || !slices.ContainsFunc(found, isEnvironment) {
		t.Errorf("what was planted in a file and in the environment is found in %q alone", found)
	}
}

func isEnvironment(path string) bool {
	return strings.HasPrefix(path, "/proc/") && strings.HasSuffix(path, "/environ")
}

// shown returns what can be read of a session through the API server.
func shown(t *testing.T, s *orcav1alpha1.OrcaSession) map[string]string {
	t.Helper()
	content := map[string]string{}
	for where, args := range map[string][]string{
		"the pods":     {"get", "pods", "--output", "yaml"},
		"the sessions": {"get", "orcasessions", "--output", "yaml"},
		"the events":   {"get", "events", "--output", "yaml"},
		"the log":      {"logs", s.Status.PodName, "--all-containers"},
		"the manager":  {"logs", "--namespace", "orca-system", "--selector", "app.kubernetes.io/component=manager", "--tail=-1"},
	} {
		out, err := kubectl(t, append([]string{"--namespace", s.Namespace}, args...)...)
		if err != nil || out == "" {
			t.Errorf("reading %s: %q, %v", where, out, err)
		}
		content[where] = out
	}
	return content
}

// searchScript prints which files have a text, which it is told backwards so as
// not to find itself.
const searchScript = `printf %s "$0" | rev > /tmp/pattern
grep -rlFf /tmp/pattern --exclude=pattern $(ls -d /* /.[!.]* 2>/dev/null | grep -vxE '/(proc|sys)')
grep -lFf /tmp/pattern /proc/[0-9]*/{environ,cmdline,comm,status,mountinfo,maps}
rm /tmp/pattern; true`

// searchSandbox returns the files of the sandbox, and of /proc, with a text.
func searchSandbox(t *testing.T, s *orcav1alpha1.OrcaSession, text string) string {
	t.Helper()
	backwards := []rune(text)
	slices.Reverse(backwards)
	out, err := inSandbox(t, s, "bash", "-c", "exec 2>/dev/null; "+searchScript, string(backwards))
	if err != nil {
		t.Error(err)
	}
	return strings.TrimSpace(out)
}
