// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package layout

import "slices"

// The contract's fixed paths.
const (
	// Outputs is always writable; what is written here is collected when the
	// session ends.
	Outputs = "/mnt/session/outputs"
	// Uploads holds the attached files, each in a folder named by its file id.
	Uploads = "/mnt/session/uploads"
	// Memory holds the attached memory stores.
	Memory = "/mnt/memory"
	// Workspace holds the repositories; it is the agent's working directory.
	Workspace = "/workspace"
	// Skills is reserved: no resource may overlap it. It exists in every
	// sandbox, empty and read-only.
	Skills = "/workspace/skills"
	// Tmp is scratch: fresh for each agent process, destroyed with the sandbox.
	Tmp = "/tmp"
	// Home is the agent's HOME, a private directory in Tmp.
	Home = "/tmp/home"
	// SharedMemory is scratch for POSIX shared memory, where the deployment
	// allows any.
	SharedMemory = "/dev/shm"
)

// Paths that a container runtime would leave writable. The sealed tree covers
// them with read-only content of its own.
const (
	MessageQueues = "/dev/mqueue"
	Hosts         = "/etc/hosts"
)

// SealedRoots returns the directories that exist read-only in every sandbox
// and hold its read-only resources. A resource at or below one of them needs
// no mount of its own.
func SealedRoots() []string {
	return []string{Memory, Uploads, Workspace}
}

// WritableRoots returns, sorted, every path of a sandbox at or below which its
// agent may write: the fixed ones, SharedMemory if the deployment allows any,
// and the given directories of ReadWrite resources.
func WritableRoots(sharedMemory bool, resources ...string) []string {
	roots := append([]string{Outputs, Tmp}, resources...)
	if sharedMemory {
		roots = append(roots, SharedMemory)
	}
	slices.Sort(roots)
	return slices.Compact(roots)
}

// SealedDirectories returns, sorted, the directories that the sealed tree has
// in every sandbox. They are the mount points of the writable roots inside it
// and the covers of what the runtime would leave writable.
func SealedDirectories(sharedMemory bool) []string {
	dirs := append(SealedRoots(), Skills, MessageQueues)
	if !sharedMemory {
		dirs = append(dirs, SharedMemory)
	}
	slices.Sort(dirs)
	return dirs
}

// InSealedRoot reports whether a canonical path lies at or below one of
// SealedRoots.
func InSealedRoot(path string) bool {
	return slices.ContainsFunc(SealedRoots(), func(root string) bool { return Contains(root, path) })
}
