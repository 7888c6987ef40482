// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxCauses is how many violations a message spells out.
const maxCauses = 16

// Violation is one broken rule.
type Violation struct {
	// Reason is the condition reason of a session that breaks the rule.
	Reason string
	// Resource is the name of the session's resource that breaks it, if one
	// does.
	Resource string
	// Cause names the field, its value and the rule.
	Cause *field.Error
}

// Violations are in the order of the rules, then of the fields.
type Violations []Violation

// Reason returns the reason of the first violation. There must be one.
func (v Violations) Reason() string { return v[0].Reason }

// Message lists the causes, at most 16, and says how many more there are.
func (v Violations) Message() string {
	causes := make([]string, 0, maxCauses+1)
	for _, violation := range v[:min(len(v), maxCauses)] {
		causes = append(causes, violation.message())
	}
	if more := len(v) - maxCauses; more > 0 {
		causes = append(causes, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(causes, "; ")
}

func (v Violation) message() string {
	if v.Resource == "" {
		return v.Cause.Error()
	}
	return fmt.Sprintf("resource %q: %s", v.Resource, v.Cause.Error())
}
