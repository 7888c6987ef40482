// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"strings"
	"testing"

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
			if got := tc.violations.Message(); got != tc.want {
				t.Errorf("message = %q, want %q", got, tc.want)
			}
			if got := tc.violations.Reason(); got != orcav1alpha1.ReasonReservedRoot {
				t.Errorf("reason = %q, want that of the first", got)
			}
		})
	}
}
