// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"bytes"
	"encoding/binary"
	"maps"
	"os"

	"golang.org/x/sys/unix"

	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/writes"
)

const (
	// maxAttributeName and maxAttributeValue bound extended attributes, in bytes.
	maxAttributeName  = 255
	maxAttributeValue = 65536
	// attributeArgumentsSize is that of struct xattr_args, and fileAttributesSize
	// that of struct file_attr, as they were first.
	attributeArgumentsSize = 16
	fileAttributesSize     = 24

	timeNow  = unix.UTIME_NOW
	timeOmit = unix.UTIME_OMIT
)

// available returns the calls without those that this kernel hasn't: programs try
// them all the same and do with others then.
func available(calls map[int32]writes.Call) map[int32]writes.Call {
	const nothing = ^uintptr(0) // No kernel does anything with it.
	maps.DeleteFunc(calls, func(number int32, call writes.Call) bool {
		if !call.Late {
			return false
		}
		_, _, errno := unix.Syscall6(uintptr(number), nothing, nothing, nothing, nothing, nothing, nothing)
		return errno == unix.ENOSYS
	})
	return calls
}

// wellFormed reports whether the kernel gets as far with a call as to ask
// whether it may write. It passes over what is rare: a line too many then.
func (c *judgement) wellFormed(target fileName) bool {
	if target.path == "" && (c.OpenOnly || c.byDescriptor()) && !target.isOpen() {
		return false
	}
	if c.Known != 0 && c.flags()&^uint64(c.Known) != 0 {
		return false
	}
	if c.Kind == writes.Rename && c.flags()&unix.RENAME_EXCHANGE != 0 && c.flags() != unix.RENAME_EXCHANGE {
		return false
	}
	argument := c.arguments[c.At]
	switch c.Check {
	case writes.Size:
		return int64(argument) >= 0
	case writes.NodeType:
		return isNodeType(uint32(argument) & unix.S_IFMT)
	default:
		return c.leadsOn(argument)
	}
}

// leadsOn reports whether the kernel takes what an argument points to.
func (c *judgement) leadsOn(argument uint64) bool {
	switch c.Check {
	case writes.LinkText:
		text, readable := c.task.readPath(argument, c.buffer)
		return readable && text != ""
	case writes.Seconds, writes.Microseconds, writes.Nanoseconds:
		return argument == 0 || c.timesSet(argument)
	case writes.Pointer:
		return c.task.read(argument, make([]byte, 4))
	case writes.FileAttributes:
		return c.extensible(argument, c.arguments[c.At+1], fileAttributesSize)
	case writes.AttributeName, writes.AttributeValue, writes.AttributeArguments:
		return c.attributeName(argument) && c.attributeValue()
	}
	return true
}

// isNodeType reports whether mknod makes such a file.
func isNodeType(fileType uint32) bool {
	switch fileType {
	case 0, unix.S_IFREG, unix.S_IFCHR, unix.S_IFBLK, unix.S_IFIFO, unix.S_IFSOCK:
		return true
	}
	return false
}

// timesSet reports whether a pointer leads to two times that the kernel takes,
// one of which is to be set at least.
func (c *judgement) timesSet(address uint64) bool {
	if c.Check == writes.Seconds {
		return c.task.read(address, make([]byte, 16))
	}
	var buffer [32]byte
	if !c.task.read(address, buffer[:]) {
		return false
	}
	first, second := int64(binary.NativeEndian.Uint64(buffer[8:])), int64(binary.NativeEndian.Uint64(buffer[24:]))
	if c.Check == writes.Microseconds {
		return isFraction(first, 1e6) && isFraction(second, 1e6)
	}
	return isNanoseconds(first) && isNanoseconds(second) && (first != timeOmit || second != timeOmit)
}

func isFraction(part, whole int64) bool { return part >= 0 && part < whole }

func isNanoseconds(part int64) bool {
	return isFraction(part, 1e9) || part == timeNow || part == timeOmit
}

func (c *judgement) attributeName(address uint64) bool {
	name, readable := c.task.readPath(address, c.buffer)
	return readable && name != "" && len(name) <= maxAttributeName
}

// attributeValue looks at what comes after the name of an attribute.
func (c *judgement) attributeValue() bool {
	const flags = unix.XATTR_CREATE | unix.XATTR_REPLACE
	switch c.Check {
	case writes.AttributeValue:
		return c.arguments[c.At+2] <= maxAttributeValue && uint32(c.arguments[c.At+3])&^flags == 0
	case writes.AttributeArguments:
		var buffer [attributeArgumentsSize]byte
		address, size := c.arguments[c.At+1], c.arguments[c.At+2]
		return c.extensible(address, size, attributeArgumentsSize) && c.task.read(address, buffer[:]) &&
			binary.NativeEndian.Uint32(buffer[8:]) <= maxAttributeValue && binary.NativeEndian.Uint32(buffer[12:])&^flags == 0
	}
	return true
}

// extensible reports whether the kernel takes a structure that may grow: no
// shorter than at first, and with zeros in what it doesn't know yet.
func (c *judgement) extensible(address, size, first uint64) bool {
	if size < first || size > uint64(os.Getpagesize()) {
		return false
	}
	whole := make([]byte, size)
	return c.task.read(address, whole) && len(bytes.Trim(whole[first:], "\x00")) == 0
}
