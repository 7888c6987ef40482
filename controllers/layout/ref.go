// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"errors"
	"fmt"
	"strings"
)

// maxRef is how many bytes the 255 characters can have that the API takes for
// the name of a branch or tag.
const maxRef = 255 * 4

// BranchName refuses what git doesn't take for the name of a branch, and says
// which rule it breaks.
func BranchName(name string) error {
	// Git creates no branch of that name: it is what is checked out.
	if name == "HEAD" {
		return errors.New("must not be 'HEAD'")
	}
	return TagName(name)
}

// TagName refuses what git doesn't take for the name of a tag, and says which
// rule it breaks.
func TagName(name string) error {
	switch {
	case len(name) > maxRef:
		return fmt.Errorf("must be at most %d bytes", maxRef)
	case name == "" || name == "@":
		return errors.New("must not be empty or '@'")
	case strings.HasPrefix(name, "-"):
		return errors.New("must not start with '-'")
	case strings.Contains(name, "..") || strings.Contains(name, "@{"):
		return errors.New("must not contain '..' or '@{'")
	case strings.HasSuffix(name, "."):
		return errors.New("must not end in '.'")
	case strings.ContainsFunc(name, reservedInRef):
		return errors.New(`must not contain spaces, control characters or any of '~^:?*[\'`)
	}
	return checkRefSegments(name)
}

// checkRefSegments states the rules that hold for what stands between the
// slashes of a name.
func checkRefSegments(name string) error {
	for segment := range strings.SplitSeq(name, "/") {
		switch {
		case segment == "":
			return errors.New("must not start or end with '/' or contain '//'")
		case strings.HasPrefix(segment, ".") || strings.HasSuffix(segment, ".lock"):
			return errors.New("must not have a segment that starts with '.' or ends in '.lock'")
		}
	}
	return nil
}

// reservedInRef reports what git's syntax for revisions and refspecs needs.
func reservedInRef(r rune) bool {
	return r <= ' ' || r == '\x7f' || strings.ContainsRune(`~^:?*[\`, r)
}

// CommitID refuses everything but the full id of a commit in the one spelling
// in which git prints it. Git reads capital letters too, but a status, which
// says what was checked out, would then differ from what was asked for.
func CommitID(id string) error {
	if (len(id) != 40 && len(id) != 64) || strings.Trim(id, "0123456789abcdef") != "" {
		return errors.New("must be the full id of a commit: 40 or 64 digits of 0-9 and a-f")
	}
	return nil
}
