// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import "k8s.io/apimachinery/pkg/util/validation/field"

// stage is where an object that breaks a rule is refused first. Every later
// stage refuses it too.
type stage int

const (
	// atAdmission: it is not stored. One that got past admission starts nothing.
	atAdmission stage = iota
	// atStart: it is stored with a warning and starts nothing.
	atStart
	// never: it is stored with a warning.
	never
)

// rule is one thing that a session or an environment must keep, or should. T is
// what it is judged by.
type rule[T any] struct {
	// judge returns what breaks the rule, in the order of the fields.
	judge func(T) []finding
	// reason is the condition reason of a session that breaks it; empty for a
	// rule that refuses nothing.
	reason string
	stage  stage
	// warning is what admission says of what it doesn't refuse. If the rule is
	// about resources, it ends in a colon and their names follow.
	warning string
}

// finding is one thing that breaks a rule.
type finding struct {
	// resource is the name of the resource that does, if one does; other that of
	// the one that it doesn't go with.
	resource, other string
	// cause may be nil in a rule that refuses nothing.
	cause *field.Error
}

// refusals returns what a stage refuses, in the order of the rules.
func refusals[T any](rules []rule[T], at stage, subject T) Violations {
	var out Violations
	for _, rule := range rules {
		if rule.stage > at {
			continue
		}
		for _, found := range rule.judge(subject) {
			out = append(out, Violation{Reason: rule.reason, Resource: found.resource, Cause: found.cause})
		}
	}
	return out
}

// warnings returns what admission says of what it doesn't refuse, one text for
// each rule at most.
func warnings[T any](rules []rule[T], subject T) []string {
	var out []string
	for _, rule := range rules {
		if rule.stage == atAdmission {
			continue
		}
		if found := rule.judge(subject); len(found) > 0 {
			out = append(out, warning(rule.warning, found))
		}
	}
	return out
}
