// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// matrixCall makes a call with a name relative to a descriptor.
type matrixCall func(dir int, path string) error

// errNotTried says that a call takes no such name.
var errNotTried = errors.New("not tried")

// absent stands for an argument that a call doesn't have.
const absent = -1

// others are the arguments of a call that aren't the name in question.
type others map[int]uintptr

// pointedTo is what arguments point to.
var pointedTo []any

// pointer returns the address of something, which stays.
func pointer[T any](to T) uintptr {
	at := &to
	pointedTo = append(pointedTo, at)
	return uintptr(unsafe.Pointer(at))
}

// text returns the address of a string as the kernel reads it.
func text(s string) uintptr {
	bytes := append([]byte(s), 0)
	pointedTo = append(pointedTo, bytes)
	return uintptr(unsafe.Pointer(&bytes[0]))
}

// raw makes a call by its number. The name is in two arguments of it.
func raw(number uintptr, dirArgument, pathArgument int, rest others) matrixCall {
	return func(dir int, path string) error {
		if dirArgument == absent && dir != unix.AT_FDCWD {
			return errNotTried
		}
		arguments := [6]uintptr{}
		for i, argument := range rest {
			arguments[i] = argument
		}
		if dirArgument != absent {
			arguments[dirArgument] = uintptr(dir)
		}
		name, err := unix.BytePtrFromString(path)
		if err != nil {
			return err
		}
		if pathArgument != absent {
			arguments[pathArgument] = uintptr(unsafe.Pointer(name))
		}
		return byNumber(number, arguments, name)
	}
}

// byNumber makes a call. If it gives a descriptor, that is closed.
func byNumber(number uintptr, a [6]uintptr, _ *byte) error {
	result, _, errno := unix.Syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5])
	if errno != 0 {
		return errno
	}
	if result > 2 {
		unix.Close(int(result))
	}
	return nil
}

// opened makes a call on a descriptor of what a name leads to, and with an
// empty name if it takes one.
func opened(flags int, call matrixCall) matrixCall {
	return func(dir int, path string) error {
		fd, err := unix.Openat(dir, path, flags|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
		if err != nil {
			return errNotTried
		}
		defer unix.Close(fd)
		return call(fd, "")
	}
}

// onDescriptor is raw for a call on a descriptor, its first argument.
func onDescriptor(number uintptr, rest others) matrixCall {
	return opened(unix.O_RDONLY, raw(number, 0, absent, rest))
}

// opening opens with flags that are not to hold it up.
func opening(flags int) matrixCall {
	return raw(unix.SYS_OPENAT, 0, 1, others{2: uintptr(flags | unix.O_NONBLOCK | unix.O_NOCTTY), 3: 0o644})
}

func openingHow(flags, mode, resolve uint64) matrixCall {
	how := unix.OpenHow{Flags: flags | unix.O_NONBLOCK | unix.O_NOCTTY, Mode: mode, Resolve: resolve}
	return raw(unix.SYS_OPENAT2, 0, 1, others{2: pointer(how), 3: unix.SizeofOpenHow})
}

// reopening opens what a descriptor is open on by the descriptor's name.
func reopening(fd int, _ string) error {
	fd, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", fd), unix.O_WRONLY|unix.O_NONBLOCK, 0)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

// binding makes a socket under the name.
func binding(dir int, path string) error {
	if dir != unix.AT_FDCWD || path == "" || len(path) > 100 {
		return errNotTried
	}
	socket, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(socket)
	return unix.Bind(socket, &unix.SockaddrUnix{Name: path})
}

const (
	create = unix.O_WRONLY | unix.O_CREAT

	hereArgument = uintptr(0xffffff9c) // AT_FDCWD
	badFlag      = 0x8000

	setFlagsRequest      = 0x40086602 // FS_IOC_SETFLAGS
	setAttributesRequest = 0x401c5820 // FS_IOC_FSSETXATTR
	inQueueRequest       = 0x541b     // FIONREAD
)

// xattrArguments is struct xattr_args.
type xattrArguments struct {
	value       uint64
	size, flags uint32
}

// times is what utimensat takes.
func times(first, second int64) uintptr {
	return pointer([4]int64{0, first, 0, second})
}

var (
	writableFile = text("/tmp/d/f")
	readOnlyFile = text("/workspace/app/readme")
	missingFile  = text("/tmp/d/no")
	attribute    = text("user.a")
	value        = text("b")
	attributes   = pointer([32]byte{})
)

// matrixCalls are calls of every kind, by the call's name and what is special.
var matrixCalls = map[string]matrixCall{
	"openat wronly":        opening(unix.O_WRONLY),
	"openat rdwr":          opening(unix.O_RDWR),
	"openat creat":         opening(create),
	"openat rdonly creat":  opening(unix.O_RDONLY | unix.O_CREAT),
	"openat excl":          opening(create | unix.O_EXCL),
	"openat trunc":         opening(unix.O_RDONLY | unix.O_TRUNC),
	"openat nofollow":      opening(create | unix.O_NOFOLLOW),
	"openat path":          opening(unix.O_WRONLY | unix.O_PATH),
	"openat directory":     opening(unix.O_WRONLY | unix.O_DIRECTORY),
	"openat new directory": opening(create | unix.O_DIRECTORY),
	"openat no access":     opening(3),
	"openat tmpfile":       opening(unix.O_TMPFILE | unix.O_RDWR),
	"openat tmpfile read":  opening(unix.O_TMPFILE),
	"openat again":         opened(unix.O_PATH, reopening),

	"openat2":                  openingHow(create, 0o644, 0),
	"openat2 beneath":          openingHow(create, 0o644, unix.RESOLVE_BENEATH),
	"openat2 in root":          openingHow(create, 0o644, unix.RESOLVE_IN_ROOT),
	"openat2 no links":         openingHow(create, 0o644, unix.RESOLVE_NO_SYMLINKS),
	"openat2 no magic links":   openingHow(create, 0o644, unix.RESOLVE_NO_MAGICLINKS),
	"openat2 one mount":        openingHow(create, 0o644, unix.RESOLVE_NO_XDEV),
	"openat2 cached":           openingHow(create, 0o644, 0x20),
	"openat2 both scopes":      openingHow(create, 0o644, unix.RESOLVE_IN_ROOT|unix.RESOLVE_BENEATH),
	"openat2 bad resolve":      openingHow(create, 0o644, 1<<20),
	"openat2 bad flags":        openingHow(create|1<<40, 0o644, 0),
	"openat2 bad mode":         openingHow(create, 0o100644, 0),
	"openat2 mode for nothing": openingHow(unix.O_WRONLY, 0o644, 0),
	"openat2 short":            raw(unix.SYS_OPENAT2, 0, 1, others{2: pointer(unix.OpenHow{Flags: create}), 3: 16}),
	"openat2 longer":           raw(unix.SYS_OPENAT2, 0, 1, others{2: pointer([4]uint64{create, 0o644, 0, 0}), 3: 32}),
	"openat2 newer":            raw(unix.SYS_OPENAT2, 0, 1, others{2: pointer([4]uint64{create, 0o644, 0, 1}), 3: 32}),

	"mkdirat":                raw(unix.SYS_MKDIRAT, 0, 1, others{2: 0o755}),
	"mknodat":                raw(unix.SYS_MKNODAT, 0, 1, others{2: unix.S_IFIFO | 0o644}),
	"mknodat file":           raw(unix.SYS_MKNODAT, 0, 1, others{2: 0o644}),
	"mknodat device":         raw(unix.SYS_MKNODAT, 0, 1, others{2: unix.S_IFCHR | 0o644, 3: 259}),
	"mknodat folder":         raw(unix.SYS_MKNODAT, 0, 1, others{2: unix.S_IFDIR | 0o755}),
	"mknodat nothing":        raw(unix.SYS_MKNODAT, 0, 1, others{2: 0o170000}),
	"symlinkat":              raw(unix.SYS_SYMLINKAT, 1, 2, others{0: value}),
	"symlinkat to nothing":   raw(unix.SYS_SYMLINKAT, 1, 2, others{0: text("")}),
	"linkat to":              raw(unix.SYS_LINKAT, 2, 3, others{0: hereArgument, 1: writableFile}),
	"linkat read-only to":    raw(unix.SYS_LINKAT, 2, 3, others{0: hereArgument, 1: readOnlyFile}),
	"linkat missing to":      raw(unix.SYS_LINKAT, 2, 3, others{0: hereArgument, 1: missingFile}),
	"linkat from":            raw(unix.SYS_LINKAT, 0, 1, others{2: hereArgument, 3: text("/tmp/d/linked")}),
	"linkat bad flags":       raw(unix.SYS_LINKAT, 2, 3, others{0: hereArgument, 1: readOnlyFile, 4: badFlag}),
	"unlinkat":               raw(unix.SYS_UNLINKAT, 0, 1, nil),
	"unlinkat folder":        raw(unix.SYS_UNLINKAT, 0, 1, others{2: unix.AT_REMOVEDIR}),
	"unlinkat bad flags":     raw(unix.SYS_UNLINKAT, 0, 1, others{2: badFlag}),
	"renameat from":          raw(unix.SYS_RENAMEAT, 0, 1, others{2: hereArgument, 3: text("/tmp/d/renamed")}),
	"renameat to":            raw(unix.SYS_RENAMEAT, 2, 3, others{0: hereArgument, 1: writableFile}),
	"renameat within":        raw(unix.SYS_RENAMEAT, 0, 1, others{2: hereArgument, 3: text("/workspace/app/no")}),
	"renameat read-only to":  raw(unix.SYS_RENAMEAT, 2, 3, others{0: hereArgument, 1: readOnlyFile}),
	"renameat2":              raw(unix.SYS_RENAMEAT2, 0, 1, others{2: hereArgument, 3: text("/workspace/app/no")}),
	"renameat2 no replacing": raw(unix.SYS_RENAMEAT2, 0, 1, others{2: hereArgument, 3: readOnlyFile, 4: unix.RENAME_NOREPLACE}),
	"renameat2 exchange":     raw(unix.SYS_RENAMEAT2, 0, 1, others{2: hereArgument, 3: readOnlyFile, 4: unix.RENAME_EXCHANGE}),
	"renameat2 bad flags":    raw(unix.SYS_RENAMEAT2, 0, 1, others{2: hereArgument, 3: readOnlyFile, 4: badFlag}),
	"renameat2 two flags":    raw(unix.SYS_RENAMEAT2, 0, 1, others{2: hereArgument, 3: readOnlyFile, 4: unix.RENAME_EXCHANGE | unix.RENAME_NOREPLACE}),

	"truncate":             raw(unix.SYS_TRUNCATE, absent, 0, nil),
	"truncate negative":    raw(unix.SYS_TRUNCATE, absent, 0, others{1: ^uintptr(0)}),
	"fchmodat":             raw(unix.SYS_FCHMODAT, 0, 1, others{2: 0o644}),
	"fchmodat2":            raw(unix.SYS_FCHMODAT2, 0, 1, others{2: 0o644}),
	"fchmodat2 link":       raw(unix.SYS_FCHMODAT2, 0, 1, others{2: 0o644, 3: unix.AT_SYMLINK_NOFOLLOW}),
	"fchmodat2 empty":      opened(unix.O_PATH, raw(unix.SYS_FCHMODAT2, 0, 1, others{2: 0o644, 3: unix.AT_EMPTY_PATH})),
	"fchmodat2 bad flags":  raw(unix.SYS_FCHMODAT2, 0, 1, others{2: 0o644, 3: badFlag}),
	"fchownat":             raw(unix.SYS_FCHOWNAT, 0, 1, others{2: sandboxUser, 3: sandboxUser}),
	"fchownat link":        raw(unix.SYS_FCHOWNAT, 0, 1, others{2: sandboxUser, 3: sandboxUser, 4: unix.AT_SYMLINK_NOFOLLOW}),
	"fchownat empty":       opened(unix.O_PATH, raw(unix.SYS_FCHOWNAT, 0, 1, others{2: sandboxUser, 3: sandboxUser, 4: unix.AT_EMPTY_PATH})),
	"fchownat bad flags":   raw(unix.SYS_FCHOWNAT, 0, 1, others{2: sandboxUser, 3: sandboxUser, 4: badFlag}),
	"utimensat":            raw(unix.SYS_UTIMENSAT, 0, 1, nil),
	"utimensat link":       raw(unix.SYS_UTIMENSAT, 0, 1, others{3: unix.AT_SYMLINK_NOFOLLOW}),
	"utimensat one":        raw(unix.SYS_UTIMENSAT, 0, 1, others{2: times(unix.UTIME_OMIT, 1)}),
	"utimensat neither":    raw(unix.SYS_UTIMENSAT, 0, 1, others{2: times(unix.UTIME_OMIT, unix.UTIME_OMIT)}),
	"utimensat bad time":   raw(unix.SYS_UTIMENSAT, 0, 1, others{2: times(1e10, 0)}),
	"utimensat bad flags":  raw(unix.SYS_UTIMENSAT, 0, 1, others{3: badFlag}),
	"utimensat empty":      opened(unix.O_PATH, raw(unix.SYS_UTIMENSAT, 0, 1, others{3: unix.AT_EMPTY_PATH})),
	"utimensat descriptor": onDescriptor(unix.SYS_UTIMENSAT, nil),

	"setxattr":                 raw(unix.SYS_SETXATTR, absent, 0, others{1: attribute, 2: value, 3: 1}),
	"setxattr no name":         raw(unix.SYS_SETXATTR, absent, 0, others{1: text(""), 2: value, 3: 1}),
	"setxattr long name":       raw(unix.SYS_SETXATTR, absent, 0, others{1: text("user." + strings.Repeat("x", 300)), 2: value, 3: 1}),
	"setxattr big":             raw(unix.SYS_SETXATTR, absent, 0, others{1: attribute, 2: value, 3: 1 << 20}),
	"setxattr bad flags":       raw(unix.SYS_SETXATTR, absent, 0, others{1: attribute, 2: value, 3: 1, 4: 99}),
	"lsetxattr":                raw(unix.SYS_LSETXATTR, absent, 0, others{1: attribute, 2: value, 3: 1}),
	"setxattrat":               raw(unix.SYS_SETXATTRAT, 0, 1, others{3: attribute, 4: pointer(xattrArguments{uint64(value), 1, 0}), 5: 16}),
	"setxattrat link":          raw(unix.SYS_SETXATTRAT, 0, 1, others{2: unix.AT_SYMLINK_NOFOLLOW, 3: attribute, 4: pointer(xattrArguments{uint64(value), 1, 0}), 5: 16}),
	"setxattrat empty":         opened(unix.O_RDONLY, raw(unix.SYS_SETXATTRAT, 0, 1, others{2: unix.AT_EMPTY_PATH, 3: attribute, 4: pointer(xattrArguments{uint64(value), 1, 0}), 5: 16})),
	"setxattrat bad flags":     raw(unix.SYS_SETXATTRAT, 0, 1, others{2: badFlag, 3: attribute, 4: pointer(xattrArguments{uint64(value), 1, 0}), 5: 16}),
	"setxattrat bad arguments": raw(unix.SYS_SETXATTRAT, 0, 1, others{3: attribute, 4: pointer(xattrArguments{uint64(value), 1, 99}), 5: 16}),
	"removexattr":              raw(unix.SYS_REMOVEXATTR, absent, 0, others{1: attribute}),
	"removexattr no name":      raw(unix.SYS_REMOVEXATTR, absent, 0, others{1: text("")}),
	"lremovexattr":             raw(unix.SYS_LREMOVEXATTR, absent, 0, others{1: attribute}),
	"removexattrat":            raw(unix.SYS_REMOVEXATTRAT, 0, 1, others{3: attribute}),
	"removexattrat bad flags":  raw(unix.SYS_REMOVEXATTRAT, 0, 1, others{2: badFlag, 3: attribute}),

	"fchmod":                 onDescriptor(unix.SYS_FCHMOD, others{1: 0o644}),
	"fchmod name alone":      opened(unix.O_PATH, raw(unix.SYS_FCHMOD, 0, absent, others{1: 0o644})),
	"fchown":                 onDescriptor(unix.SYS_FCHOWN, others{1: sandboxUser, 2: sandboxUser}),
	"fsetxattr":              onDescriptor(unix.SYS_FSETXATTR, others{1: attribute, 2: value, 3: 1}),
	"fremovexattr":           onDescriptor(unix.SYS_FREMOVEXATTR, others{1: attribute}),
	"ioctl flags":            onDescriptor(unix.SYS_IOCTL, others{1: setFlagsRequest, 2: attributes}),
	"ioctl flags of nothing": onDescriptor(unix.SYS_IOCTL, others{1: setFlagsRequest}),
	"ioctl attributes":       onDescriptor(unix.SYS_IOCTL, others{1: setAttributesRequest, 2: attributes}),
	"ioctl another":          onDescriptor(unix.SYS_IOCTL, others{1: inQueueRequest, 2: pointer(0)}),
	"file_setattr":           raw(unix.SYS_FILE_SETATTR, 0, 1, others{2: attributes, 3: 24}),
	"file_setattr empty":     opened(unix.O_PATH, raw(unix.SYS_FILE_SETATTR, 0, 1, others{2: attributes, 3: 24, 4: unix.AT_EMPTY_PATH})),
	"file_setattr short":     raw(unix.SYS_FILE_SETATTR, 0, 1, others{2: attributes, 3: 8}),
	"file_setattr bad flags": raw(unix.SYS_FILE_SETATTR, 0, 1, others{2: attributes, 3: 24, 4: badFlag}),
	"bind":                   binding,
}
