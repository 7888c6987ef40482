// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package writes lists the system calls with which a program asks to write to
// the file system by name, and makes the seccomp filter that picks them out.
//
// Calls on descriptors are left out: a descriptor that may be written is there
// only after an open that wasn't refused.
package writes

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
}

var none = Name{None, None}

// cwd is a name relative to the working directory.
func cwd(path int) Name { return Name{None, path} }

// Calls is the list, those first that programs use most.
var Calls = []Call{
	{Name: "openat", AMD64: 257, ARM64: 56, Kind: Open, Target: Name{0, 1}, Other: none, Flags: 2},
	{Name: "open", AMD64: 2, ARM64: None, Kind: Open, Target: cwd(0), Other: none, Flags: 1},
	{Name: "openat2", AMD64: 437, ARM64: 437, Kind: OpenHow, Target: Name{0, 1}, Other: none, Flags: 2},
	{Name: "creat", AMD64: 85, ARM64: None, Kind: Creat, Target: cwd(0), Other: none, Flags: None},

	{Name: "mkdir", AMD64: 83, ARM64: None, Kind: MakeDirectory, Target: cwd(0), Other: none, Flags: None},
	{Name: "mkdirat", AMD64: 258, ARM64: 34, Kind: MakeDirectory, Target: Name{0, 1}, Other: none, Flags: None},
	{Name: "mknod", AMD64: 133, ARM64: None, Kind: MakeNode, Target: cwd(0), Other: none, Flags: None},
	{Name: "mknodat", AMD64: 259, ARM64: 33, Kind: MakeNode, Target: Name{0, 1}, Other: none, Flags: None},
	{Name: "symlink", AMD64: 88, ARM64: None, Kind: MakeNode, Target: cwd(1), Other: none, Flags: None},
	{Name: "symlinkat", AMD64: 266, ARM64: 36, Kind: MakeNode, Target: Name{1, 2}, Other: none, Flags: None},
	{Name: "link", AMD64: 86, ARM64: None, Kind: Link, Target: cwd(1), Other: cwd(0), Flags: None},
	{Name: "linkat", AMD64: 265, ARM64: 37, Kind: Link, Target: Name{2, 3}, Other: Name{0, 1}, Flags: 4},

	{Name: "unlink", AMD64: 87, ARM64: None, Kind: Remove, Target: cwd(0), Other: none, Flags: None},
	{Name: "unlinkat", AMD64: 263, ARM64: 35, Kind: Remove, Target: Name{0, 1}, Other: none, Flags: None},
	{Name: "rmdir", AMD64: 84, ARM64: None, Kind: Remove, Target: cwd(0), Other: none, Flags: None},
	{Name: "rename", AMD64: 82, ARM64: None, Kind: Rename, Target: cwd(0), Other: cwd(1), Flags: None},
	{Name: "renameat", AMD64: 264, ARM64: 38, Kind: Rename, Target: Name{0, 1}, Other: Name{2, 3}, Flags: None},
	{Name: "renameat2", AMD64: 316, ARM64: 276, Kind: Rename, Target: Name{0, 1}, Other: Name{2, 3}, Flags: None},

	{Name: "truncate", AMD64: 76, ARM64: 45, Kind: Truncate, Target: cwd(0), Other: none, Flags: None},
	{Name: "chmod", AMD64: 90, ARM64: None, Kind: Change, Target: cwd(0), Other: none, Flags: None},
	{Name: "fchmodat", AMD64: 268, ARM64: 53, Kind: Change, Target: Name{0, 1}, Other: none, Flags: None},
	{Name: "fchmodat2", AMD64: 452, ARM64: 452, Kind: Change, Target: Name{0, 1}, Other: none, Flags: 3},
	{Name: "chown", AMD64: 92, ARM64: None, Kind: Change, Target: cwd(0), Other: none, Flags: None},
	{Name: "lchown", AMD64: 94, ARM64: None, Kind: Change, Target: cwd(0), Other: none, Flags: None, NoFollow: true},
	{Name: "fchownat", AMD64: 260, ARM64: 54, Kind: Change, Target: Name{0, 1}, Other: none, Flags: 4},
	{Name: "utime", AMD64: 132, ARM64: None, Kind: Change, Target: cwd(0), Other: none, Flags: None},
	{Name: "utimes", AMD64: 235, ARM64: None, Kind: Change, Target: cwd(0), Other: none, Flags: None},
	{Name: "futimesat", AMD64: 261, ARM64: None, Kind: Change, Target: Name{0, 1}, Other: none, Flags: None, NullIsDescriptor: true},
	{Name: "utimensat", AMD64: 280, ARM64: 88, Kind: Change, Target: Name{0, 1}, Other: none, Flags: 3, NullIsDescriptor: true},
	{Name: "setxattr", AMD64: 188, ARM64: 5, Kind: Change, Target: cwd(0), Other: none, Flags: None},
	{Name: "lsetxattr", AMD64: 189, ARM64: 6, Kind: Change, Target: cwd(0), Other: none, Flags: None, NoFollow: true},
	{Name: "setxattrat", AMD64: 463, ARM64: 463, Kind: Change, Target: Name{0, 1}, Other: none, Flags: 2},
	{Name: "removexattr", AMD64: 197, ARM64: 14, Kind: Change, Target: cwd(0), Other: none, Flags: None},
	{Name: "lremovexattr", AMD64: 198, ARM64: 15, Kind: Change, Target: cwd(0), Other: none, Flags: None, NoFollow: true},
	{Name: "removexattrat", AMD64: 466, ARM64: 466, Kind: Change, Target: Name{0, 1}, Other: none, Flags: 2},
}
