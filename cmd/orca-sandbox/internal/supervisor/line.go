// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/orca-agent-engine/orca-operator/controllers/layout"
)

// maxLine keeps a line within what a pipe takes as a whole.
const maxLine = 4096

// line returns the line for a refused write, with its end.
func line(path string) []byte {
	room := maxLine - len(layout.Denial("")) - len("\n")
	return []byte(layout.Denial(printable(path, room)) + "\n")
}

// printable returns a path in which nothing can end the line or reach a
// terminal as a command, in at most the given number of bytes.
func printable(path string, room int) string {
	var out strings.Builder
	for len(path) > 0 {
		r, size := utf8.DecodeRuneInString(path)
		unit := path[:size]
		if r == utf8.RuneError && size == 1 || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			unit = escaped(unit)
		}
		if out.Len()+len(unit) > room {
			break
		}
		out.WriteString(unit)
		path = path[size:]
	}
	return out.String()
}

func escaped(bytes string) string {
	var out strings.Builder
	for i := range len(bytes) {
		fmt.Fprintf(&out, `\x%02x`, bytes[i])
	}
	return out.String()
}
