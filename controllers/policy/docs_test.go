// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orca-agent-engine/orca-operator/controllers/settings"
)

// verdict is what a table of the page says of a rule.
type verdict struct{ Reason, Admission, Start string }

// verdicts returns the reasons and stages in the table of a section, from the
// given column on.
func verdicts(t *testing.T, section string, column int) []verdict {
	t.Helper()
	page, err := os.ReadFile("../../docs/admission.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(page), "\n## "+section+"\n")
	if !found {
		t.Fatalf("the page has no section %q", section)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	var out []verdict
	for line := range strings.Lines(text) {
		cells := strings.Split(line, " | ")
		if strings.HasPrefix(line, "| ") && len(cells) > column+2 {
			out = append(out, verdict{strings.Trim(cells[column], "`"), cells[column+1], cells[column+2]})
		}
	}
	if len(out) < 2 {
		t.Fatalf("section %q has no table", section)
	}
	return out[1:]
}

func verdictOn[T any](r rule[T]) verdict {
	if r.stage == never {
		return verdict{"–", "warning", "allowed"}
	}
	return verdict{r.reason, map[stage]string{atAdmission: "refused", atStart: "warning"}[r.stage], "refused"}
}

func TestThePageListsTheRulesForSessionsInTheirOrder(t *testing.T) {
	var want []verdict
	for _, r := range sessionRules {
		want = append(want, verdictOn(r))
	}
	if diff := cmp.Diff(want, verdicts(t, "Sessions", 1)); diff != "" {
		t.Errorf("the rules (-) and the page (+):\n%s", diff)
	}
}

func TestThePageListsTheRulesForEnvironments(t *testing.T) {
	rejects := environmentRules(settings.Effective{Mode: settings.ModeColocated, Packages: settings.PackagesReject})
	stores := environmentRules(settings.Effective{Mode: settings.ModeSeparate, Packages: settings.PackagesStore})
	want := []verdict{verdictOn(rejects[0]), verdictOn(stores[0]), verdictOn(rejects[1]), verdictOn(stores[1]), verdictOn(rejects[2])}
	if diff := cmp.Diff(want, verdicts(t, "Environments", 2)); diff != "" {
		t.Errorf("the rules (-) and the page (+):\n%s", diff)
	}
}

// A warning tells of what is not refused, so every rule that lets something
// pass needs one.
func TestEveryRuleThatAdmitsHasAWarning(t *testing.T) {
	for i, r := range sessionRules {
		if (r.stage == atAdmission) != (r.warning == "") || (r.stage == never) != (r.reason == "") {
			t.Errorf("rule %d: stage %d, reason %q, warning %q", i, r.stage, r.reason, r.warning)
		}
		if len(r.warning) > 110 {
			t.Errorf("rule %d: a warning of %d bytes leaves no room for names", i, len(r.warning))
		}
	}
}
