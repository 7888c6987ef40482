// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"golang.org/x/sys/unix"

	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/writes"
)

// judge tells which calls the kernel is going to refuse because of the policy.
// Its looking changes nothing, so a wrong answer is a wrong message at worst.
type judge struct {
	calls    map[int32]writes.Call
	mounts   Mounts
	resolver resolver
	// local are the mounts of file systems without a server behind them, and
	// devices is that of the devices.
	local   Mounts
	devices uint64
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
	target, readable := c.target()
	if !readable || !c.refuses(target) || !c.wellFormed(target) {
		return "", false
	}
	return target.absolute(), true
}

// target reads the name of what is to be written.
func (c *judgement) target() (fileName, bool) {
	if c.Kind == writes.Bind {
		path, named := c.task.readSocketName(c.arguments[1], c.arguments[2])
		return fileName{c.task, unix.AT_FDCWD, path}, named
	}
	return c.name(c.Target)
}

// byDescriptor reports whether the call has a descriptor instead of a name.
func (c *judgement) byDescriptor() bool {
	return c.Target.Path == writes.None || c.NullIsDescriptor && c.arguments[c.Target.Path] == 0
}

// name reads a file name among the arguments.
func (c *judgement) name(arguments writes.Name) (fileName, bool) {
	dir := int32(unix.AT_FDCWD)
	if arguments.Dir != writes.None {
		dir = int32(c.arguments[arguments.Dir])
	}
	if arguments == c.Target && c.byDescriptor() {
		return fileName{c.task, dir, ""}, true
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
	case writes.MakeNode, writes.Bind:
		return !target.endsInSlash() && c.onRefusing(c.resolver.entry(target), missing)
	case writes.Link:
		return !target.endsInSlash() && c.onRefusing(c.resolver.entry(target), c.linkable)
	case writes.Remove:
		return c.onRefusing(c.resolver.entry(target), present)
	case writes.Rename:
		return c.refusesRename(target)
	case writes.Change:
		return c.onRefusing(c.object(target), c.changeable)
	case writes.Attributes:
		return c.onRefusing(c.object(target), c.attributed)
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

func missing(p place) bool { return !p.exists }
func present(p place) bool { return p.exists }
func regular(p place) bool { return p.exists && p.is(unix.S_IFREG) }

// changeable leaves out the links in the folder of the devices: they can be
// changed, for what it is worth.
func (c *judgement) changeable(p place) bool {
	return p.exists && !p.device() && (p.mount != c.devices || !p.is(unix.S_IFLNK))
}

func (c *judgement) attributed(p place) bool {
	return p.exists && c.local[p.mount] && (p.is(unix.S_IFREG) || p.is(unix.S_IFDIR))
}

// object returns where the name of a call leads that takes AT_* flags.
func (c *judgement) object(name fileName) place {
	flags := c.flags()
	if c.byDescriptor() {
		return c.resolver.descriptor(name.task, name.dir)
	}
	if name.path == "" && flags&unix.AT_EMPTY_PATH != 0 {
		return c.resolver.descriptor(name.task, name.dir)
	}
	return c.resolver.object(name, !c.NoFollow && flags&unix.AT_SYMLINK_NOFOLLOW == 0)
}

// linkable reports whether the file that gets another name there is there. A
// link at its end is followed only if a flag says so. Where a mount is
// read-only, the kernel says that before it says that the file is on another.
func (c *judgement) linkable(p place) bool {
	name, readable := c.name(c.Other)
	if !readable || p.exists {
		return false
	}
	flags := c.flags()
	other := place{known: true, exists: true, mount: p.mount}
	if name.path != "" || flags&unix.AT_EMPTY_PATH == 0 {
		other = c.resolver.object(name, flags&unix.AT_SYMLINK_FOLLOW != 0)
	}
	return other.exists && (p.mount != c.devices || other.mount == p.mount)
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
		var wellFormed bool
		if how, wellFormed = c.openHow(c.arguments[c.Flags], c.arguments[c.Flags+1]); !wellFormed {
			return false
		}
	}
	if !how.asksToWrite() || how.resolve&resolveCached != 0 {
		return false
	}
	follow := how.flags&unix.O_NOFOLLOW == 0 && !how.exclusive()
	var found place
	switch {
	case how.resolve != 0:
		found = c.resolver.restricted(target, follow, how.resolve)
	case how.exclusive():
		found = c.resolver.entry(target)
	default:
		found = c.resolver.object(target, follow)
	}
	return c.onRefusing(found, func(p place) bool { return how.refusedAt(p, target.endsInSlash()) })
}
