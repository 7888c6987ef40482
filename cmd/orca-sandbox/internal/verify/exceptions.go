// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"slices"

	"golang.org/x/sys/unix"

	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/termination"
)

// exception is a mount that may be writable without being a writable root of
// the policy.
type exception struct {
	// filesystem is the type that the mount must have, any if empty.
	filesystem string
	// point is where it must be mounted.
	point string
	// below tells that it must be mounted below point instead, at any depth.
	below bool
	// kind is the type of file that it must be, such as unix.S_IFDIR. A
	// directory must be the whole of its file system, and is tried: it must
	// refuse new files. Other files are what they are.
	kind uint16
	// reason says why it is no way around the policy.
	reason string
}

// exceptions is the whole list.
var exceptions = []exception{
	{
		filesystem: "proc", point: "/proc", kind: unix.S_IFDIR,
		reason: "It stores nothing. What an agent can write there is about its own processes.",
	},
	{
		filesystem: "tmpfs", point: "/dev", kind: unix.S_IFDIR,
		reason: "It belongs to root, and only root can make files in it.",
	},
	{
		filesystem: "devpts", point: "/dev/pts", kind: unix.S_IFDIR,
		reason: "It holds terminals, which store nothing, and nobody can make files in it.",
	},
	{
		filesystem: "tmpfs", point: "/sys/fs/cgroup", kind: unix.S_IFDIR,
		reason: "With version 1 of control groups it holds their mount points, which are read-only. It belongs to root, and only root can make files in it.",
	},
	{
		point: "/dev", below: true, kind: unix.S_IFCHR,
		reason: "A character device stores nothing. Runtimes mount some of the node's, and the container's terminal.",
	},
	{
		point: "/proc", below: true, kind: unix.S_IFCHR,
		reason: "A character device stores nothing. Runtimes hide some files of /proc behind /dev/null.",
	},
	{
		point: termination.DefaultPath, kind: unix.S_IFREG,
		reason: "Kubernetes takes the container's result from it and can't mount it read-only. It is one file, and the launcher replaces what it holds when no process of the agent is left.",
	},
}

// exceptionFor returns the exception that a mount is, if it is one.
func exceptionFor(m mount, kind uint16) (exception, bool) {
	i := slices.IndexFunc(exceptions, func(e exception) bool { return e.covers(m, kind) })
	if i < 0 {
		return exception{}, false
	}
	return exceptions[i], true
}

func (e exception) covers(m mount, kind uint16) bool {
	switch {
	case kind != e.kind:
		return false
	case e.filesystem != "" && m.filesystem != e.filesystem:
		return false
	case kind == unix.S_IFDIR && m.root != "/":
		return false
	case e.below:
		return m.point != e.point && within(e.point, m.point)
	default:
		return m.point == e.point
	}
}
