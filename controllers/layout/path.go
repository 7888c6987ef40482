// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxPath    = 1024
	maxSegment = 255
)

// forbidden lists the places that no resource may be mounted at or under:
// they belong to the kernel, the operating system and the launcher.
var forbidden = []string{
	"/proc", "/sys", "/dev", "/etc", "/bin", "/sbin", "/lib", "/lib64", "/usr",
	"/boot", "/run", "/var/run", "/orca",
}

// MountDirectory returns the canonical form of a directory at which a resource
// may be mounted. One trailing slash is accepted and ignored; a path that
// isn't canonical otherwise, or that lies where nothing may be mounted, is an
// error that says which rule it breaks.
func MountDirectory(path string) (string, error) {
	if len(path) > maxPath {
		return "", fmt.Errorf("must be at most %d bytes", maxPath)
	}
	return MountFile(strings.TrimSuffix(path, "/"))
}

// MountFile is MountDirectory for the path of a file itself, where a trailing
// slash is an error.
func MountFile(path string) (string, error) {
	if err := checkCanonical(path); err != nil {
		return "", err
	}
	for _, place := range forbidden {
		if Contains(place, path) {
			return "", fmt.Errorf("must not be at or under '%s'", place)
		}
	}
	return path, nil
}

// checkCanonical refuses every path that isn't absolute, bounded and in the
// one spelling in which paths are compared.
func checkCanonical(path string) error {
	switch {
	case path == "" || path == "/":
		return errors.New("must not be empty or '/'")
	case !strings.HasPrefix(path, "/"):
		return errors.New("must be absolute")
	case len(path) > maxPath:
		return fmt.Errorf("must be at most %d bytes", maxPath)
	}
	for segment := range strings.SplitSeq(path[1:], "/") {
		if err := checkSegment(segment); err != nil {
			return err
		}
	}
	return nil
}

// checkSegment states the rules that hold for every segment of every path.
func checkSegment(segment string) error {
	switch {
	case segment == "":
		return errors.New("must not have empty segments or end in '/'")
	case segment == "." || segment == "..":
		return errors.New("must not have '.' or '..' as a segment")
	case len(segment) > maxSegment:
		return fmt.Errorf("must have segments of at most %d bytes", maxSegment)
	case !utf8.ValidString(segment):
		return errors.New("must be valid UTF-8")
	case strings.Contains(segment, ":"):
		return errors.New("must not contain ':'")
	case strings.ContainsFunc(segment, invisible):
		return errors.New("must not contain control or format characters")
	}
	return nil
}

// SafeSegment refuses a name that can't be one segment of a derived path, and
// says which rule it breaks.
func SafeSegment(name string) error {
	switch {
	case name == "":
		return errors.New("must not be empty")
	case strings.Contains(name, "/"):
		return errors.New("must not contain '/'")
	case name == ".git":
		return errors.New("must not be '.git'")
	case strings.HasPrefix(name, "-"):
		return errors.New("must not start with '-'")
	case strings.TrimSpace(name) != name:
		return errors.New("must not start or end with a space")
	}
	return checkSegment(name)
}

// invisible reports control and format characters: a path that holds one
// doesn't read as what it is.
func invisible(r rune) bool {
	if r < utf8.RuneSelf { // Nearly all are, and to look the others up takes longer.
		return r < ' ' || r == '\x7f'
	}
	return unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r)
}

// Contains reports whether a canonical path is root or lies below it.
// Comparison is by segment, byte for byte.
func Contains(root, path string) bool {
	rest, found := strings.CutPrefix(path, root)
	return found && (rest == "" || rest[0] == '/')
}

// Overlap reports whether one of two canonical paths is the other or lies
// below it.
func Overlap(a, b string) bool {
	return Contains(a, b) || Contains(b, a)
}
