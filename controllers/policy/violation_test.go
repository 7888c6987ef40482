// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/policy"
)

func TestMessage(t *testing.T) {
	required := policy.Violation{
		Reason: orcav1alpha1.ReasonInvalidSpec,
		Cause:  field.Required(field.NewPath("spec", "command"), "why"),
	}
	reserved := policy.Violation{
		Reason: orcav1alpha1.ReasonReservedRoot, Resource: "run-py",
		Cause: field.Invalid(field.NewPath("spec", "resources").Index(3), "/workspace/skills", "why"),
	}
	const (
		limit        = 4096
		requiredText = "spec.command: Required value: why"
		reservedText = `resource "run-py": spec.resources[3]: Invalid value: "/workspace/skills": why`
	)
	many := func(count int) policy.Violations {
		out := policy.Violations{reserved}
		for range count - 1 {
			out = append(out, required)
		}
		return out
	}
	all16 := reservedText + strings.Repeat("; "+requiredText, 15)
	cases := map[string]struct {
		violations policy.Violations
		want       string
	}{
		"one cause":                            {many(1), reservedText},
		"two causes":                           {many(2), reservedText + "; " + requiredText},
		"sixteen causes are all told":          {many(16), all16},
		"of seventeen, one remains":            {many(17), all16 + "; and 1 more"},
		"of more, sixteen and how many remain": {many(18), all16 + "; and 2 more"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.violations.Message(limit); got != tc.want {
				t.Errorf("message = %q, want %q", got, tc.want)
			}
			if got := tc.violations.Reason(); got != orcav1alpha1.ReasonReservedRoot {
				t.Errorf("reason = %q, want that of the first", got)
			}
		})
	}
}

// statusLimit is what the status of a session holds of a message.
const statusLimit = 896

func TestMessageShowsTheBrokenRuleOfAnyValue(t *testing.T) {
	const name63 = "a23456789-123456789-123456789-123456789-123456789-123456789-123"
	cases := map[string]struct{ mountPath, shown, rule string }{
		"a path of 1,024 bytes": {
			"/data/../" + strings.Repeat("x", 1015), `"/data/../` + strings.Repeat("x", 68) + `…"`, "must not have '.' or '..' as a segment",
		},
		"one that is cut within a letter": {
			"/data/../" + strings.Repeat("é", 400), `"/data/../` + strings.Repeat("é", 34) + `…"`, "must not have '.' or '..' as a segment",
		},
		"one of which every character is escaped": {
			"/" + strings.Repeat("\U000e0001", 200), `"/` + strings.Repeat(`\U000e0001`, 19) + `…"`, "must have segments of at most 255 bytes",
		},
		"one of control characters": {
			"/" + strings.Repeat("\x01", 1000), `"/` + strings.Repeat(`\x01`, 76) + `…"`, "must have segments of at most 255 bytes",
		},
		"80 bytes are shown whole": {
			"/data/../" + strings.Repeat("x", 71), `"/data/../` + strings.Repeat("x", 71) + `"`, "must not have '.' or '..' as a segment",
		},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			got := policy.Session(session(file(name63, tc.mountPath)), effective(t, "")).Message(statusLimit)
			want := fmt.Sprintf("resource %q: spec.resources[0].file.mountPath: Invalid value: %s: %s", name63, tc.shown, tc.rule)
			if got != want {
				t.Errorf("message = %s\n   want %s", got, want)
			}
		})
	}
}

func TestMessageSaysHowManyCausesItLeavesOut(t *testing.T) {
	bad := make([]orcav1alpha1.SessionResource, 0, 100)
	for i := range 100 {
		bad = append(bad, file(fmt.Sprintf("file-%03d", i), "/data/../"+strings.Repeat("é", 100)))
	}
	violations := policy.Session(session(bad...), effective(t, ""))
	if len(violations) != 100 {
		t.Fatalf("%d violations, want 100", len(violations))
	}
	for limit := 300; limit <= 8192; limit += 7 {
		got := violations.Message(limit)
		causes := strings.Split(got, "; ")
		told := len(causes) - 1
		if len(got) > limit || told < 1 || told > 16 {
			t.Fatalf("limit %d: %d causes in %d bytes: %s", limit, told, len(got), got)
		}
		if want := fmt.Sprintf("and %d more", 100-told); causes[told] != want {
			t.Fatalf("limit %d: message ends in %q, want %q", limit, causes[told], want)
		}
		for _, cause := range causes[:told] {
			if !strings.HasSuffix(cause, "must not have '.' or '..' as a segment") {
				t.Fatalf("limit %d: cause %q lacks its rule", limit, cause)
			}
		}
	}
	if got := strings.Count(violations.Message(statusLimit), "Invalid value"); got != 4 {
		t.Errorf("a status tells %d causes, want 4, which is what it has room for", got)
	}
}

func TestMessageCutsTheFirstCauseWhereItMust(t *testing.T) {
	violations := policy.Session(session(file("a", "é"), file("b", "é")), effective(t, ""))
	whole := violations[:1].Message(statusLimit)
	for limit := 40; limit < len(whole); limit++ {
		got := violations.Message(limit)
		if len(got) > limit || !utf8.ValidString(got) || !strings.HasPrefix(got, `resource "a": `) || !strings.HasSuffix(got, "…; and 1 more") {
			t.Fatalf("limit %d: message = %q", limit, got)
		}
	}
}
