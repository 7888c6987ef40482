// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"strings"
	"testing"

	"github.com/orca-agent-engine/orca-operator/controllers/layout"
)

func TestCheckApart(t *testing.T) {
	for name, tc := range map[string]struct{ line, path, text string }{
		"nothing more": {},
		"another folder of the same disk": {
			line: "900 541 8:1 /var/lib/kubelet/pods/2/outputs /data/x ro - ext4 /dev/sda1 rw",
		},
		"a folder whose name begins alike": {
			line: "900 541 8:1 /var/lib/kubelet/pods/00000000-1111-2222-3333-444444444444/volumes/kubernetes.io~empty-dir/outputs2 /data/x ro - ext4 /dev/sda1 rw",
		},
		"another export of a server that is one device": {
			line: "900 541 8:1 / /data/x ro - nfs4 server:/b rw",
		},
		"a folder of the outputs": {
			line: "900 541 8:1 /var/lib/kubelet/pods/00000000-1111-2222-3333-444444444444/volumes/kubernetes.io~empty-dir/outputs/a /data/x ro - ext4 /dev/sda1 rw",
			path: "/data/x", text: `the volume of "/mnt/session/outputs" a second time`,
		},
		"the outputs of a disk that goes by another name": {
			line: "900 541 8:1 /var/lib/kubelet/pods/00000000-1111-2222-3333-444444444444/volumes/kubernetes.io~empty-dir/outputs /data/x ro - ext4 /dev/root rw",
			path: "/data/x", text: `the volume of "/mnt/session/outputs" a second time`,
		},
		"all of the node's disk": {
			line: "900 541 8:1 / /host ro - ext4 /dev/sda1 rw",
			path: "/host", text: `the volume of "/mnt/session/outputs" a second time`,
		},
		"the scratch a second time": {
			line: "900 541 0:143 / /data/x ro - tmpfs tmpfs rw",
			path: "/data/x", text: `the volume of "/tmp" a second time`,
		},
		"the scratch a second time, covered": {
			line: "900 541 0:143 / /data/x ro - tmpfs tmpfs rw\n901 900 0:200 / /data/x ro - tmpfs tmpfs rw",
		},
		"a mount inside the scratch": {
			line: "900 557 0:200 / /tmp/x ro - tmpfs tmpfs rw",
			path: "/tmp/x", text: `is a mount inside "/tmp"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			mounts := recorded(t, "sandbox.mountinfo")
			for line := range strings.Lines(tc.line) {
				m, err := parseMount(strings.TrimSuffix(line, "\n"))
				if err != nil {
					t.Fatal(err)
				}
				mounts = append(mounts, m)
			}
			c := checker{mounts: mounts, roots: layout.WritableRoots(true)}
			wantFailure(t, c.checkApart(), tc.path, tc.text)
		})
	}
}

// wantFailure compares a failure with the wanted one, none if path is "".
func wantFailure(t *testing.T, got *Failure, path, text string) {
	t.Helper()
	switch {
	case got == nil && path == "":
	case got == nil:
		t.Errorf("no failure, want one at %s", path)
	case got.Path != path || !strings.Contains(got.Reason, text):
		t.Errorf("failure %v, want one at %q with %q", got, path, text)
	}
}

func TestAdvice(t *testing.T) {
	for name, tc := range map[string]struct {
		mount mount
		want  string
	}{
		"the image": {mount{point: "/", root: "/", filesystem: "overlay"}, "readOnlyRootFilesystem"},
		"a volume that the image declares": {
			mount{point: "/data", root: "/var/lib/containerd/io.containerd.grpc.v1.cri/containers/a0/volumes/b1", filesystem: "ext4"},
			"ignore_image_defined_volumes",
		},
		"a volume that the image declares, where containerd has a disk of its own": {
			mount{point: "/data", root: "/io.containerd.grpc.v1.cri/containers/a0/volumes/b1", filesystem: "ext4"},
			"ignore_image_defined_volumes",
		},
		"a volume of the pod": {
			mount{point: "/data", root: "/var/lib/kubelet/pods/a/volumes/kubernetes.io~empty-dir/cache", filesystem: "ext4", source: "/dev/sda1"},
			`is mounted writable (ext4, "/var/lib/kubelet/pods/a/volumes/kubernetes.io~empty-dir/cache" of "/dev/sda1") and is not part`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := advice(tc.mount); !strings.Contains(got, tc.want) {
				t.Errorf("got %q, want %q in it", got, tc.want)
			}
		})
	}
}
