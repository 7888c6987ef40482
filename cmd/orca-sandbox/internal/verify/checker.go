// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"slices"

	"golang.org/x/sys/unix"

	"github.com/orca-agent-engine/orca-operator/controllers/layout"
)

// checker checks one container.
type checker struct {
	mounts table
	// roots are the writable roots of the policy.
	roots []string
	// trying is told each path before it is touched.
	trying func(path string)
}

// checkRoots makes sure that every writable root is a directory of its own
// that takes files.
func (c *checker) checkRoots() *Failure {
	seen := map[identity]string{}
	for _, root := range c.roots {
		found, failed := c.open(root)
		if failed != nil {
			return failed
		}
		failed = c.checkRoot(root, found)
		found.close()
		if failed != nil {
			return failed
		}
		if other, known := seen[found.identity]; known {
			return failure(root, "is the same directory as %q; does the file system ignore case?", other)
		}
		seen[found.identity] = root
	}
	return nil
}

func (c *checker) checkRoot(root string, found *place) *Failure {
	m, known := c.mounts.byID(found.mount)
	switch {
	case !known || m.point != root:
		return failure(root, "must be writable, but nothing is mounted there")
	case m.readOnly:
		return refused(root, unix.EROFS, "is mounted read-only")
	case found.kind != unix.S_IFDIR:
		return failure(root, "must be writable, but is no directory")
	}
	if err := takesFiles(found); err != nil {
		return refused(root, err, "a trial failed: %v", err)
	}
	return nil
}

// checkSealed makes sure that the sealed tree is where every sandbox has it.
func (c *checker) checkSealed() *Failure {
	sharedMemory := slices.Contains(c.roots, layout.SharedMemory)
	for _, path := range append(layout.SealedDirectories(sharedMemory), layout.Hosts) {
		found, failed := c.open(path)
		if failed != nil {
			return failed
		}
		failed = c.checkSealedPath(path, found)
		found.close()
		if failed != nil {
			return failed
		}
	}
	return nil
}

func (c *checker) checkSealedPath(path string, found *place) *Failure {
	m, known := c.mounts.byID(found.mount)
	switch {
	case !known || m.point == "/":
		return failure(path, "must be covered by a read-only mount, but nothing is mounted there")
	case !m.readOnly:
		return failure(path, "must be covered by a read-only mount, but lies on the writable one (%s) at %q", m.filesystem, m.point)
	}
	var err error
	if found.kind == unix.S_IFDIR {
		err = refusesFiles(found)
	} else {
		err = refusesContent(path)
	}
	if err != nil {
		return failure(path, "must be read-only, but a trial says otherwise: %v", err)
	}
	return nil
}

// open opens a path that every sandbox has.
func (c *checker) open(path string) (*place, *Failure) {
	c.trying(path)
	found, err := openPlace(path)
	if err != nil {
		return nil, failure(path, "must be there and can't be looked at: %v", err)
	}
	return found, nil
}

// checkWritable makes sure that there is no other mount that can be written,
// and tries the exceptions and the image itself.
func (c *checker) checkWritable() *Failure {
	for _, m := range c.mounts {
		if m.point != "/" && (m.readOnly || slices.Contains(c.roots, m.point)) {
			continue
		}
		if failed := c.checkMount(m); failed != nil {
			return failed
		}
	}
	return nil
}

func (c *checker) checkMount(m mount) *Failure {
	c.trying(m.point)
	found, err := openPlace(m.point)
	if err == nil {
		defer found.close()
	}
	switch {
	case err == nil && found.mount == m.id:
		return tryMount(m, found)
	case !c.mounts.visible(m):
		return nil // Another mount covers it.
	case err != nil:
		return failure(m.point, "is mounted writable (%s) and can't be looked at: %v", m.filesystem, err)
	default:
		return failure(m.point, "is not the mount that the mount table says")
	}
}

// tryMount tries a mount that isn't a root of the policy.
func tryMount(m mount, found *place) *Failure {
	_, excepted := exceptionFor(m, found.kind)
	if !m.readOnly && !excepted {
		return failure(m.point, "%s", advice(m))
	}
	if found.kind != unix.S_IFDIR {
		return nil
	}
	if err := refusesFiles(found); err != nil {
		return failure(m.point, "must not take files, but a trial says otherwise: %v", err)
	}
	return nil
}
