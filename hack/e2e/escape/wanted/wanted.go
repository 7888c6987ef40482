// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package wanted says what the program that tries to escape must get.
package wanted

import (
	"strings"

	"github.com/google/go-cmp/cmp"
)

// Place is where the program ran.
type Place struct {
	// File and Root are what it was told to try with.
	File, Root string
	// Landlock: it was in the launcher's Landlock domain.
	Landlock bool
	// Profile: the container runtime's seccomp profile was on it.
	Profile bool
	// Supervisor is who explains refusals to it, and is its parent.
	Supervisor Supervisor
}

// Supervisor is a process of the launcher's.
type Supervisor int

const (
	// Nobody explains anything, and the parent isn't in the sandbox.
	Nobody Supervisor = iota
	// Process1 supervises the agent.
	Process1
	// OfCall supervises a tool call.
	OfCall
)

// Difference compares what the program printed with what it must, and is
// empty if they are equal.
func Difference(output string, place Place) string {
	got := map[string]string{}
	for line := range strings.Lines(output) {
		name, result, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		got[name] = result
	}
	return cmp.Diff(place.all(), got)
}

func (p Place) all() map[string]string {
	results := map[string]string{}
	for name, r := range table {
		if p.Supervisor != Nobody || !r.parent {
			results[name] = p.errno(r) + "\t" + p.line(r)
		}
	}
	return results
}

func (p Place) errno(r result) string {
	switch {
	case p.Profile && r.profile != "":
		return r.profile
	case !p.Landlock && r.bare != "":
		return r.bare
	default:
		return r.errno
	}
}

func (p Place) line(r result) string {
	switch {
	case r.line == "", p.Supervisor == Nobody:
		return "-"
	case !p.Landlock && r.bare != "", p.Supervisor != Process1 && r.process1:
		return "-"
	}
	folder := p.File[:strings.LastIndexByte(p.File, '/')]
	return strings.NewReplacer("FILE", p.File, "FOLDER", folder, "ROOT", p.Root).Replace(r.line)
}
