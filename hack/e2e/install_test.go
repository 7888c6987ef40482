// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// render returns what config/default gives with a line added to its settings,
// and with those that all tests run with.
func render(t *testing.T, line string) string {
	t.Helper()
	out, err := renderWith(t.Context(), trustingAuthority(), line)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// renderWith returns what config/default gives with lines added to its settings.
func renderWith(ctx context.Context, lines ...string) (string, error) {
	folder, err := os.MkdirTemp("", "config-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	copied := filepath.Join(folder, "config")
	if err := os.CopyFS(copied, os.DirFS("../../config")); err != nil {
		return "", err
	}
	path := filepath.Join(copied, "default", "settings.yaml")
	settings, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(path, fmt.Appendf(settings, "%s\n", strings.Join(lines, "\n")), 0o600); err != nil {
		return "", err
	}
	return run(ctx, "", "kustomize", filepath.Join(copied, "default"))
}

// install applies what renderWith gives and waits until no other manager runs.
func install(ctx context.Context, manifests string) error {
	if _, err := run(ctx, manifests, "apply", "--server-side", "--force-conflicts", "--filename", "-"); err != nil {
		return err
	}
	if _, err := run(ctx, "", "rollout", "status", "--namespace", "orca-system", "deployment/orca-manager", "--timeout", "3m"); err != nil {
		return err
	}
	return awaitManagers(ctx, 2)
}

func TestAChangeOfTheSettingsRollsTheManager(t *testing.T) {
	t.Parallel()
	mounted := regexp.MustCompile(`(?s)configMap:\s+name: (orca-settings-\w+)`)
	before, after := mounted.FindStringSubmatch(render(t, "")), mounted.FindStringSubmatch(render(t, "packages: Store"))
	if before == nil || after == nil || before[1] == after[1] {
		t.Errorf("the manager mounts %q and, with other settings, %q", before, after)
	}
}

// P19: what is applied as a whole has no object twice.
func TestNoManifestStandsTwice(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for document := range strings.SplitSeq(render(t, ""), "\n---\n") {
		var object metav1.PartialObjectMetadata
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			t.Fatal(err)
		}
		id := fmt.Sprintf("%s %s/%s", object.Kind, object.Namespace, object.Name)
		if object.Name == "" || seen[id] {
			t.Errorf("%q stands twice, or has no name", id)
		}
		seen[id] = true
	}
}

func TestUsersHaveTheRightsThatTheirRolesSay(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	for role, user := range map[string]string{"view": "viewer", "edit": "editor"} {
		if _, err := kubectl(t, "create", "rolebinding", role, "--namespace", namespace, "--clusterrole", role, "--user", user+"-"+namespace); err != nil {
			t.Fatal(err)
		}
	}
	cases := map[string]struct {
		user, verb, resource string
		want                 bool
	}{
		"a viewer reads sessions":            {"viewer", "list", "orcasessions.orca.dev", true},
		"a viewer gets outputs":              {"viewer", "get", "orcasessions.orca.dev/outputs", true},
		"a viewer makes no session":          {"viewer", "create", "orcasessions.orca.dev", false},
		"a viewer uploads no files":          {"viewer", "create", "orcasessions.orca.dev/files", false},
		"an editor makes sessions":           {"editor", "create", "orcasessions.orca.dev", true},
		"an editor gets outputs":             {"editor", "get", "orcasessions.orca.dev/outputs", true},
		"an editor uploads files":            {"editor", "create", "orcasessions.orca.dev/files", true},
		"an editor changes environments":     {"editor", "update", "orcaenvironments.orca.dev", true},
		"an editor writes no session status": {"editor", "patch", "orcasessions.orca.dev/status", false},
		"a stranger reads no session":        {"stranger", "get", "orcasessions.orca.dev", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := canI(t, namespace, tc.user+"-"+namespace, tc.verb, tc.resource); got != tc.want {
				t.Errorf("it can: %v, want %v", got, tc.want)
			}
		})
	}
}

func TestTheManagerCanDoNoMoreThanItNeeds(t *testing.T) {
	t.Parallel()
	const manager = "system:serviceaccount:orca-system:orca-manager"
	for _, denied := range [][]string{
		{"get", "secrets"}, {"list", "secrets"}, {"list", "configmaps"}, {"watch", "configmaps"}, {"update", "configmaps"},
		{"update", "pods"}, {"patch", "pods"}, {"create", "pods/exec"}, {"get", "pods/log"}, {"get", "nodes"},
		{"update", "orcasessions.orca.dev"}, {"create", "orcasessions.orca.dev"}, {"create", "serviceaccounts/token"},
	} {
		if canI(t, "default", manager, denied[0], denied[1]) {
			t.Errorf("the manager can %s %s", denied[0], denied[1])
		}
	}
	if canI(t, "orca-system", manager, "list", "secrets") || canI(t, "orca-system", manager, "create", "secrets") {
		t.Error("the manager can do more than look after the one Secret of its certificates")
	}
	if !canI(t, "default", manager, "create", "pods") {
		t.Error("the manager can't create pods: the answers above mean nothing")
	}
}

// canI asks the API server whether a user may do something to a resource, or
// to a subresource of it after a slash.
func canI(t *testing.T, namespace, user, verb, resource string) bool {
	t.Helper()
	resource, subresource, _ := strings.Cut(resource, "/")
	out, _ := kubectl(t, "auth", "can-i", verb, resource, "--subresource", subresource, "--namespace", namespace, "--as", user)
	switch answer := strings.TrimSpace(out); answer {
	case "yes", "no":
		return answer == "yes"
	default:
		t.Fatalf("can-i answers %q", answer)
		return false
	}
}
