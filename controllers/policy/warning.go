// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"strings"
)

// maxWarning is how many bytes a warning has at most: the API server may cut
// longer ones.
const maxWarning = 256

// warning returns a text, then the names of as many resources as there is room
// for, and how many more there are. A rule that isn't about resources finds one
// thing without a name.
func warning(text string, found []finding) string {
	if found[0].resource == "" {
		return text
	}
	out := text + " " + found[0].name()
	rest := len(found) - 1
	for _, f := range found[1:] {
		next := out + ", " + f.name()
		if len(next)+len(moreNames(rest-1)) > maxWarning {
			break
		}
		out, rest = next, rest-1
	}
	return truncate(out, maxWarning-len(moreNames(rest))) + moreNames(rest)
}

func moreNames(count int) string {
	if count == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", count)
}

// name returns the names of what breaks a rule.
func (f finding) name() string {
	return strings.TrimSuffix(f.resource+" with "+f.other, " with ")
}
