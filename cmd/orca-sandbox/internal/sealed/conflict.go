// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package sealed

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode"
)

// Conflict says that something of a resource can't be where it belongs, because
// of something else, which the cause names.
type Conflict struct {
	// Resource is the name of the one that came later.
	Resource string
	Cause    string
}

func (c *Conflict) Error() string { return fmt.Sprintf("resource %q: %s", c.Resource, c.Cause) }

// shownEnds is how much of a long path's beginning and end a message has, in
// bytes. Two paths, both resources and the text must fit into a result.
const shownEnds = 70

// Shown returns a path as messages have it: long ones without their middle, and
// nothing that a terminal would obey, since repositories choose names as well.
func Shown(name string) string {
	if len(name) > 2*shownEnds {
		name = name[:shownEnds] + "..." + name[len(name)-shownEnds:]
	}
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cc, unicode.Cf) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(name, ""))
}

// origin says what something in the tree, with all that is in it, is there for.
type origin struct {
	resource string
	// reason is given of directories that the composition needs.
	reason string
	// repository says that a repository brought it, not a file resource.
	repository bool
}

// originOf returns the origin of something that is in the tree.
func (t *Tree) originOf(name string) origin {
	for ; name != "/"; name = path.Dir(name) {
		if origin, found := t.origins[name]; found {
			return origin
		}
	}
	return origin{}
}

// inTheWay says of something in the tree, for a message, who has it there. What
// says what a repository has.
func (t *Tree) inTheWay(name, what string) string {
	found := t.originOf(name)
	switch {
	case found.repository:
		return fmt.Sprintf("where the repository of resource %q has %s", found.resource, what)
	case found.reason != "":
		return found.reason
	default:
		return fmt.Sprintf("where resource %q puts one with other content", found.resource)
	}
}

// kind names what has a mode.
func kind(mode fs.FileMode) string {
	switch mode.Type() {
	case 0:
		return "a file"
	case fs.ModeDir:
		return "a directory"
	case fs.ModeSymlink:
		return "a symbolic link"
	default:
		return "a special file"
	}
}
