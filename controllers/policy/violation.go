// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	// maxCauses is how many violations a message spells out.
	maxCauses = 16
	// maxValue is how many bytes of a value a message shows. Who wrote it knows
	// the rest, and the rule needs the room.
	maxValue = 80
)

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

// Message lists as many whole causes as limit bytes hold, at most 16, and says
// how many more there are. There must be one; the first is told in any case,
// cut if it must be.
func (v Violations) Message(limit int) string {
	rest := len(v) - 1
	message := truncate(v[0].message(), limit-len(more(rest)))
	for _, violation := range v[1:min(len(v), maxCauses)] {
		next := message + "; " + violation.message()
		if len(next)+len(more(rest-1)) > limit {
			break
		}
		message, rest = next, rest-1
	}
	return message + more(rest)
}

// Causes returns the violations as an answer of the API server has them: at most
// 16, of which the last then says how many more there are. Each names its
// resource and its reason.
func (v Violations) Causes() field.ErrorList {
	told := v
	if len(v) > maxCauses {
		told = v[:maxCauses-1]
	}
	out := make(field.ErrorList, 0, len(told)+1)
	for _, violation := range told {
		out = append(out, violation.answer())
	}
	if rest := len(v) - len(told); rest > 0 {
		out = append(out, field.Invalid(field.NewPath("spec"), field.OmitValueType{}, fmt.Sprintf("and %d more", rest)))
	}
	return out
}

// answer returns a violation as one cause of an answer, which has no other place
// for the resource and the reason.
func (v Violation) answer() *field.Error {
	cause := v.bounded()
	if v.Resource != "" {
		cause.Detail = fmt.Sprintf("resource %q: %s", v.Resource, cause.Detail)
	}
	cause.Detail += " (" + v.Reason + ")"
	return &cause
}

// more returns the end of a message that leaves out so many causes.
func more(count int) string {
	if count == 0 {
		return ""
	}
	return fmt.Sprintf("; and %d more", count)
}

// bounded returns the cause with no more of the value than is shown.
func (v Violation) bounded() field.Error {
	cause := *v.Cause
	if value, is := cause.BadValue.(string); is {
		cause.BadValue = truncate(value, maxValue)
	}
	return cause
}

func (v Violation) message() string {
	cause := v.bounded()
	if v.Resource == "" {
		return cause.Error()
	}
	return fmt.Sprintf("resource %q: %s", v.Resource, cause.Error())
}

// truncate cuts a text to limit bytes, at the boundary of a rune, and shows
// that it did.
func truncate(text string, limit int) string {
	const ellipsis = "…"
	if len(text) <= limit {
		return text
	}
	end := max(limit-len(ellipsis), 0)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + ellipsis
}
