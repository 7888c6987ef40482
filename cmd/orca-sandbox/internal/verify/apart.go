// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"fmt"
	"regexp"
	"strings"
)

// checkApart makes sure that a writable root is all of one volume's place in
// the sandbox: that nothing is mounted inside it, and that what lies in it
// shows nowhere else, where it may have another access.
func (c *checker) checkApart() *Failure {
	for _, path := range c.roots {
		root := c.mounts.at(path)
		for _, other := range c.mounts {
			if other.id == root.id || !c.mounts.visible(other) {
				continue
			}
			if within(root.point, other.point) {
				return failure(other.point, "is a mount inside %q, all of which must be writable and of one volume", root.point)
			}
			if shareContent(root, other) {
				return failure(other.point, "shows the volume of %q a second time: what is written there would change here", root.point)
			}
		}
	}
	return nil
}

// checkClosed makes sure that no mount appears after the check: one that takes
// the node's mounts could get a writable one at any time.
func (c *checker) checkClosed() *Failure {
	for _, m := range c.mounts {
		if m.open && c.mounts.visible(m) {
			return failure(m.point, "takes over mounts that are made on the node later: it must be mounted without mountPropagation")
		}
	}
	return nil
}

// shareContent reports whether two mounts show the same files, or one of them
// some of the other's. The exports of an NFS server can be one device to the
// kernel: there the source tells them apart. Elsewhere it is but a name.
func shareContent(a, b mount) bool {
	if a.device != b.device || strings.HasPrefix(b.filesystem, "nfs") && a.source != b.source {
		return false
	}
	return within(a.root, b.root) || within(b.root, a.root)
}

// imageVolume is where containerd keeps the volumes that images declare.
var imageVolume = regexp.MustCompile(`/containers/[^/]+/volumes/[^/]+$`)

// advice says what is wrong with a mount that must not be writable, to whoever
// can change it.
func advice(m mount) string {
	switch {
	case m.point == "/":
		return "is the image itself, and it is mounted writable: the container must have readOnlyRootFilesystem"
	case imageVolume.MatchString(m.root):
		return "is a volume that the image declares, and it is mounted writable: " +
			"use an image without VOLUME, or set ignore_image_defined_volumes in containerd's configuration on the nodes"
	default:
		return fmt.Sprintf("is mounted writable (%s, %q of %q) and is not part of the write policy: "+
			"what adds it to the pod must leave it out or mount it read-only", m.filesystem, m.root, m.source)
	}
}
