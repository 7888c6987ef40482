// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package writes lists the system calls with which a program asks to write to
// the file system, and makes the seccomp filter that picks them out.
//
// Of the calls on descriptors there are those that change an object through a
// descriptor which was opened to read. The others need one that may be written,
// which is there only after an open that wasn't refused.
package writes

import "golang.org/x/sys/unix"

// Kind says what a call does, and so when the kernel refuses it.
type Kind uint8

const (
	// Open opens a file, with flags in an argument.
	Open Kind = iota + 1
	// OpenHow opens a file, with flags in a structure that an argument points to.
	OpenHow
	// Creat opens a file with the fixed flags of creat.
	Creat
	// MakeDirectory makes a directory under a new name.
	MakeDirectory
	// MakeNode makes something else under a new name.
	MakeNode
	// Link gives an existing file, the Other of the call, a new name.
	Link
	// Remove removes a name.
	Remove
	// Rename moves a name to another, the Other of the call.
	Rename
	// Change changes an existing object of any type.
	Change
	// Truncate changes the size of an existing file.
	Truncate
	// Attributes changes what chattr(1) does, which not every file system has.
	Attributes
	// Bind makes a socket under the name that is in its address.
	Bind
)

// None stands for a number or an argument that a call doesn't have. As the
// directory of a name it means the working directory.
const None = -1

// Name says which arguments of a call make up a file name.
type Name struct{ Dir, Path int }

// Call describes one system call. Arguments count from 0.
type Call struct {
	Name string
	// AMD64 and ARM64 are its numbers.
	AMD64, ARM64 int
	Kind         Kind
	// Target is what is written. Where Rename has two, it is the old name.
	Target Name
	Other  Name
	// Flags is the argument with the flags: O_* for Open and OpenHow, AT_* for
	// all others.
	Flags int
	// NoFollow: the call itself doesn't follow a link at the end of the name.
	NoFollow bool
	// NullIsDescriptor: without a path, the call is about the descriptor alone.
	NullIsDescriptor bool
	// OpenOnly: with an empty path, the call takes no descriptor that stands for
	// a name alone, as all do that take no path.
	OpenOnly bool
	// Known are the flags that the kernel takes, if it refuses others before it
	// looks at any name.
	Known uint32
	// Check is what else the kernel refuses then, and At the argument.
	Check Check
	At    int
	// Only are the values of an argument with which the call asks to write.
	Only *Values
	// Late: not every kernel has the call.
	Late bool
}

// Check is a rule of the kernel about a call's arguments, other than names and
// flags. A call that breaks it fails for that reason, wherever it was to write.
type Check uint8

const (
	// Size is not negative.
	Size Check = iota + 1
	// NodeType is a mode of something that mknod makes.
	NodeType
	// LinkText is the text of a symbolic link, which isn't empty.
	LinkText
	// Seconds is a pointer to two times in seconds, or null; they can be any.
	Seconds
	// Microseconds is a pointer to two struct timeval, or null.
	Microseconds
	// Nanoseconds is a pointer to two struct timespec, or null.
	Nanoseconds
	// AttributeName is the name of an extended attribute.
	AttributeName
	// AttributeValue is that name, and after it come a value, its size and flags.
	AttributeValue
	// AttributeArguments is that name, and after it come a pointer to struct
	// xattr_args and its size.
	AttributeArguments
	// Pointer leads to something that can be read.
	Pointer
	// FileAttributes is a pointer to struct file_attr, and after it comes its size.
	FileAttributes
)

const (
	onLink = unix.AT_SYMLINK_NOFOLLOW | unix.AT_EMPTY_PATH
	rename = unix.RENAME_NOREPLACE | unix.RENAME_EXCHANGE | unix.RENAME_WHITEOUT

	// The requests of ioctl(2) by which chattr(1) works.
	setFlags      = 0x40086602 // FS_IOC_SETFLAGS
	setAttributes = 0x401c5820 // FS_IOC_FSSETXATTR
)

// Values are some values of an argument, which has 32 bits.
type Values struct {
	Argument int
	List     []uint32
}

var none = Name{None, None}

// descriptor stands for the name of a call on a descriptor, its first argument.
var descriptor = Name{0, None}

// cwd is a name relative to the working directory.
func cwd(path int) Name { return Name{None, path} }

// Calls is the list, those first that programs use most.
var Calls = []Call{
	{Name: "openat", AMD64: 257, ARM64: 56, Kind: Open, Target: Name{0, 1}, Other: none, Flags: 2},
	{Name: "open", AMD64: 2, ARM64: None, Kind: Open, Target: cwd(0), Other: none, Flags: 1},
	{Name: "openat2", AMD64: 437, ARM64: 437, Kind: OpenHow, Target: Name{0, 1}, Other: none, Flags: 2, Late: true},
	{Name: "creat", AMD64: 85, ARM64: None, Kind: Creat, Target: cwd(0), Other: none, Flags: None},

	{Name: "mkdir", AMD64: 83, ARM64: None, Kind: MakeDirectory, Target: cwd(0), Other: none, Flags: None},
	{Name: "mkdirat", AMD64: 258, ARM64: 34, Kind: MakeDirectory, Target: Name{0, 1}, Other: none, Flags: None},
	{Name: "mknod", AMD64: 133, ARM64: None, Kind: MakeNode, Target: cwd(0), Other: none, Flags: None, Check: NodeType, At: 1},
	{Name: "mknodat", AMD64: 259, ARM64: 33, Kind: MakeNode, Target: Name{0, 1}, Other: none, Flags: None, Check: NodeType, At: 2},
	{Name: "symlink", AMD64: 88, ARM64: None, Kind: MakeNode, Target: cwd(1), Other: none, Flags: None, Check: LinkText, At: 0},
	{Name: "symlinkat", AMD64: 266, ARM64: 36, Kind: MakeNode, Target: Name{1, 2}, Other: none, Flags: None, Check: LinkText, At: 0},
	{Name: "link", AMD64: 86, ARM64: None, Kind: Link, Target: cwd(1), Other: cwd(0), Flags: None},
	{Name: "linkat", AMD64: 265, ARM64: 37, Kind: Link, Target: Name{2, 3}, Other: Name{0, 1}, Flags: 4, Known: unix.AT_SYMLINK_FOLLOW | unix.AT_EMPTY_PATH},

	{Name: "unlink", AMD64: 87, ARM64: None, Kind: Remove, Target: cwd(0), Other: none, Flags: None},
	{Name: "unlinkat", AMD64: 263, ARM64: 35, Kind: Remove, Target: Name{0, 1}, Other: none, Flags: 2, Known: unix.AT_REMOVEDIR},
	{Name: "rmdir", AMD64: 84, ARM64: None, Kind: Remove, Target: cwd(0), Other: none, Flags: None},
	{Name: "rename", AMD64: 82, ARM64: None, Kind: Rename, Target: cwd(0), Other: cwd(1), Flags: None},
	{Name: "renameat", AMD64: 264, ARM64: 38, Kind: Rename, Target: Name{0, 1}, Other: Name{2, 3}, Flags: None},
	{Name: "renameat2", AMD64: 316, ARM64: 276, Kind: Rename, Target: Name{0, 1}, Other: Name{2, 3}, Flags: 4, Known: rename},

	{Name: "truncate", AMD64: 76, ARM64: 45, Kind: Truncate, Target: cwd(0), Other: none, Flags: None, Check: Size, At: 1},
	{Name: "chmod", AMD64: 90, ARM64: None, Kind: Change, Target: cwd(0), Other: none, Flags: None},
	{Name: "fchmodat", AMD64: 268, ARM64: 53, Kind: Change, Target: Name{0, 1}, Other: none, Flags: None},
	{Name: "fchmodat2", AMD64: 452, ARM64: 452, Kind: Change, Target: Name{0, 1}, Other: none, Flags: 3, Known: onLink, Late: true},
	{Name: "chown", AMD64: 92, ARM64: None, Kind: Change, Target: cwd(0), Other: none, Flags: None},
	{Name: "lchown", AMD64: 94, ARM64: None, Kind: Change, Target: cwd(0), Other: none, Flags: None, NoFollow: true},
	{Name: "fchownat", AMD64: 260, ARM64: 54, Kind: Change, Target: Name{0, 1}, Other: none, Flags: 4, Known: onLink},
	{Name: "utime", AMD64: 132, ARM64: None, Kind: Change, Target: cwd(0), Other: none, Flags: None, Check: Seconds, At: 1},
	{Name: "utimes", AMD64: 235, ARM64: None, Kind: Change, Target: cwd(0), Other: none, Flags: None, Check: Microseconds, At: 1},
	{Name: "futimesat", AMD64: 261, ARM64: None, Kind: Change, Target: Name{0, 1}, Other: none, Flags: None, NullIsDescriptor: true, Check: Microseconds, At: 2},
	{Name: "utimensat", AMD64: 280, ARM64: 88, Kind: Change, Target: Name{0, 1}, Other: none, Flags: 3, NullIsDescriptor: true, Known: onLink, Check: Nanoseconds, At: 2},
	{Name: "setxattr", AMD64: 188, ARM64: 5, Kind: Change, Target: cwd(0), Other: none, Flags: None, Check: AttributeValue, At: 1},
	{Name: "lsetxattr", AMD64: 189, ARM64: 6, Kind: Change, Target: cwd(0), Other: none, Flags: None, NoFollow: true, Check: AttributeValue, At: 1},
	{Name: "setxattrat", AMD64: 463, ARM64: 463, Kind: Change, Target: Name{0, 1}, Other: none, Flags: 2, Known: onLink, Check: AttributeArguments, At: 3, OpenOnly: true, Late: true},
	{Name: "removexattr", AMD64: 197, ARM64: 14, Kind: Change, Target: cwd(0), Other: none, Flags: None, Check: AttributeName, At: 1},
	{Name: "lremovexattr", AMD64: 198, ARM64: 15, Kind: Change, Target: cwd(0), Other: none, Flags: None, NoFollow: true, Check: AttributeName, At: 1},
	{Name: "removexattrat", AMD64: 466, ARM64: 466, Kind: Change, Target: Name{0, 1}, Other: none, Flags: 2, Known: onLink, Check: AttributeName, At: 3, OpenOnly: true, Late: true},

	{Name: "fchmod", AMD64: 91, ARM64: 52, Kind: Change, Target: descriptor, Other: none, Flags: None},
	{Name: "fchown", AMD64: 93, ARM64: 55, Kind: Change, Target: descriptor, Other: none, Flags: None},
	{Name: "fsetxattr", AMD64: 190, ARM64: 7, Kind: Change, Target: descriptor, Other: none, Flags: None, Check: AttributeValue, At: 1},
	{Name: "fremovexattr", AMD64: 199, ARM64: 16, Kind: Change, Target: descriptor, Other: none, Flags: None, Check: AttributeName, At: 1},
	{Name: "ioctl", AMD64: 16, ARM64: 29, Kind: Attributes, Target: descriptor, Other: none, Flags: None, Check: Pointer, At: 2, Only: &Values{1, []uint32{setFlags, setAttributes}}},
	{Name: "file_setattr", AMD64: 469, ARM64: 469, Kind: Attributes, Target: Name{0, 1}, Other: none, Flags: 4, Known: onLink, Check: FileAttributes, At: 2, OpenOnly: true, Late: true},
	{Name: "bind", AMD64: 49, ARM64: 200, Kind: Bind, Target: none, Other: none, Flags: None},
}
