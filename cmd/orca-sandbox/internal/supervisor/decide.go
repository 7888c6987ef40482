// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"golang.org/x/sys/unix"

	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/writes"
)

// resolveCached is RESOLVE_CACHED: such an open fails when it would make
// anything, and its caller opens again without it.
const resolveCached = 0x20

// judge tells which calls the kernel is going to refuse because of the policy.
// Its looking changes nothing, so a wrong answer is a wrong message at worst.
type judge struct {
	calls    map[int32]writes.Call
	mounts   Mounts
	resolver resolver
}

// judgement is about one call.
type judgement struct {
	*judge
	writes.Call
	arguments [6]uint64
	task      task
	buffer    *[pathSize]byte
}

// refused reports whether the kernel is going to refuse a call because of the
// policy, and what the call wanted to write. The buffer is scratch.
func (j *judge) refused(n notification, buffer *[pathSize]byte) (path string, refused bool) {
	call, listed := j.calls[n.Number]
	if !listed {
		return "", false
	}
	c := judgement{j, call, n.Arguments, task(n.TID), buffer}
	target, readable := c.name(call.Target)
	if !readable || !c.refuses(target) {
		return "", false
	}
	return target.absolute(), true
}

// name reads a file name among the arguments.
func (c *judgement) name(arguments writes.Name) (fileName, bool) {
	dir := int32(unix.AT_FDCWD)
	if arguments.Dir != writes.None {
		dir = int32(c.arguments[arguments.Dir])
	}
	path, readable := c.task.readPath(c.arguments[arguments.Path], c.buffer)
	return fileName{c.task, dir, path}, readable
}

// flags returns the argument with the flags, which has 32 bits.
func (c *judgement) flags() uint64 {
	if c.Flags == writes.None {
		return 0
	}
	return uint64(uint32(c.arguments[c.Flags]))
}

func (c *judgement) refuses(target fileName) bool {
	switch c.Kind {
	case writes.Open, writes.OpenHow, writes.Creat:
		return c.refusesOpen(target)
	case writes.MakeDirectory:
		return c.onRefusing(c.resolver.entry(target), missing)
	case writes.MakeNode:
		return !target.endsInSlash() && c.onRefusing(c.resolver.entry(target), missing)
	case writes.Link:
		return !target.endsInSlash() && c.onRefusing(c.resolver.entry(target), missing) && c.otherExists()
	case writes.Remove:
		return c.onRefusing(c.resolver.entry(target), present)
	case writes.Rename:
		return c.refusesRename(target)
	case writes.Change:
		return c.onRefusing(c.object(target), changeable)
	case writes.Truncate:
		return c.onRefusing(c.object(target), regular)
	}
	return false
}

// onRefusing reports whether a place is known, is on a mount that refuses
// writes, and has a property.
func (c *judgement) onRefusing(p place, has func(place) bool) bool {
	return p.known && c.mounts[p.mount] && has(p)
}

func missing(p place) bool    { return !p.exists }
func present(p place) bool    { return p.exists }
func regular(p place) bool    { return p.exists && p.is(unix.S_IFREG) }
func changeable(p place) bool { return p.exists && !p.special() }

// object returns where the name of a call leads that takes AT_* flags.
func (c *judgement) object(name fileName) place {
	flags := c.flags()
	if name.path == "" && flags&unix.AT_EMPTY_PATH != 0 {
		return c.resolver.descriptor(name.task, name.dir)
	}
	return c.resolver.object(name, !c.NoFollow && flags&unix.AT_SYMLINK_NOFOLLOW == 0)
}

// otherExists tells of the file that gets another name. A link at its end is
// followed only if a flag says so.
func (c *judgement) otherExists() bool {
	name, readable := c.name(c.Other)
	if !readable {
		return false
	}
	flags := c.flags()
	if name.path == "" && flags&unix.AT_EMPTY_PATH != 0 {
		return true
	}
	return c.resolver.object(name, flags&unix.AT_SYMLINK_FOLLOW != 0).exists
}

// refusesRename leaves out moves between mounts: those fail for another
// reason, whatever the policy, and programs copy then.
func (c *judgement) refusesRename(from fileName) bool {
	if !c.onRefusing(c.resolver.entry(from), present) {
		return false
	}
	to, readable := c.name(c.Other)
	if !readable {
		return false
	}
	source, target := c.resolver.entry(from), c.resolver.entry(to)
	return target.known && source.mount == target.mount
}

func (c *judgement) refusesOpen(target fileName) bool {
	how := openHow{flags: c.flags()}
	switch c.Kind {
	case writes.Creat:
		how.flags = unix.O_CREAT | unix.O_WRONLY | unix.O_TRUNC
	case writes.OpenHow:
		var readable bool
		if how, readable = c.task.readOpenHow(c.arguments[2], c.arguments[3]); !readable {
			return false
		}
	}
	if !asksToWrite(how.flags) || how.resolve&resolveCached != 0 {
		return false
	}
	follow := how.flags&unix.O_NOFOLLOW == 0 && !exclusive(how.flags)
	var found place
	switch {
	case how.resolve != 0:
		found = c.resolver.restricted(target, follow, how.resolve)
	case exclusive(how.flags):
		found = c.resolver.entry(target)
	default:
		found = c.resolver.object(target, follow)
	}
	return c.onRefusing(found, func(p place) bool { return openRefused(how.flags, p, target.endsInSlash()) })
}

// asksToWrite reports whether an open may write at all.
func asksToWrite(flags uint64) bool {
	return flags&unix.O_PATH == 0 && flags&(unix.O_ACCMODE|unix.O_CREAT|unix.O_TRUNC) != 0
}

// exclusive reports whether an open is to make a new file or fail.
func exclusive(flags uint64) bool { return flags&unix.O_CREAT != 0 && flags&unix.O_EXCL != 0 }

// openRefused reports whether an open by a name that may be a folder's alone
// fails at a place where writes are refused, and for that reason.
func openRefused(flags uint64, p place, folderOnly bool) bool {
	temporary := flags&unix.O_TMPFILE == unix.O_TMPFILE
	switch {
	case !p.exists:
		return flags&unix.O_CREAT != 0 && flags&unix.O_DIRECTORY == 0 && !folderOnly
	case exclusive(flags):
		return false
	case p.is(unix.S_IFDIR):
		return temporary && flags&unix.O_CREAT == 0
	case !p.is(unix.S_IFREG) || flags&unix.O_DIRECTORY != 0:
		return false
	}
	access := flags & unix.O_ACCMODE
	return access == unix.O_WRONLY || access == unix.O_RDWR || flags&unix.O_TRUNC != 0
}
