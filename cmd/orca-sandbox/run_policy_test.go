// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/orca-agent-engine/orca-operator/controllers/layout"
	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

// memory is a file system that everybody can write.
func memory(target string) containerMount {
	return containerMount{Target: target, Type: "tmpfs", Data: "mode=0777"}
}

// inside shows a path of the container at another one.
func inside(path, target string) containerMount {
	return containerMount{Target: target, BindInside: path}
}

// readOnly makes a mount read-only.
func readOnly(m containerMount) containerMount {
	m.ReadOnly = true
	return m
}

// wantUnverified waits for the end of a container that must not have started
// its agent, and must say why in one line.
func wantUnverified(t *testing.T, c *container, path, text string) {
	t.Helper()
	c.wantEnd(125, manifest.RunResult{Code: manifest.RunPolicyUnverified, Path: path})
	if got := c.errors.String(); !strings.Contains(got, text) || strings.Count(got, "\n") != 1 {
		t.Errorf("standard error is %q, want one line with %q", got, text)
	}
	if c.output.String() != "" {
		t.Errorf("the agent ran and printed %q", c.output)
	}
}

func TestTheAgentRunsWhereOnlyItsRootsAreWritable(t *testing.T) {
	t.Parallel()
	withRoots := func(extra ...string) manifest.Sandbox {
		sandbox := shell("echo it runs")
		sandbox.WritableRoots = layout.WritableRoots(true, extra...)
		return sandbox
	}
	withoutSharedMemory := withRoots()
	withoutSharedMemory.WritableRoots = layout.WritableRoots(false)
	for name, tc := range map[string]struct {
		sandbox manifest.Sandbox
		options containerOptions
	}{
		"the usual mounts": {withRoots(), containerOptions{}},
		"without shared memory": {withoutSharedMemory, containerOptions{
			mounts: []containerMount{readOnly(memory("/dev/shm"))},
		}},
		"a memory store and a repository that are writable": {withRoots("/mnt/memory/notes", "/workspace/app"), containerOptions{
			sealed: []string{"/mnt/memory/notes", "/workspace/app"},
			mounts: []containerMount{memory("/mnt/memory/notes"), memory("/workspace/app")},
		}},
		"a writable root with a space and a line break in its name": {withRoots("/data/a b\n\\c"), containerOptions{
			mounts: []containerMount{memory("/data/a b\n\\c")},
		}},
		"a read-only mount of somebody else": {withRoots(), containerOptions{
			mounts: []containerMount{readOnly(memory("/opt/agent-config"))},
		}},
		"a read-only mount of a file": {withRoots(), containerOptions{
			mounts: []containerMount{readOnly(inside("/etc/hosts", "/data/in/sales.csv"))},
		}},
		"a writable mount that a read-only one covers": {withRoots(), containerOptions{
			mounts: []containerMount{memory("/cache"), readOnly(memory("/cache"))},
		}},
		"writable mounts below a place that is covered": {withRoots(), containerOptions{
			mounts: []containerMount{memory("/cache"), memory("/cache/a"), memory("/cache/a/b"), readOnly(memory("/cache"))},
		}},
		"a writable root that is full": {withRoots(), containerOptions{
			mounts: []containerMount{{Target: "/mnt/session/outputs", Type: "tmpfs", Data: "mode=0777,nr_inodes=1"}},
		}},
		"a writable root of a file system without unnamed files": {withRoots("/data/queues"), containerOptions{
			mounts: []containerMount{{Target: "/data/queues", Type: "mqueue"}},
		}},
		"a device of the node": {withRoots(), containerOptions{
			mounts: []containerMount{{Target: "/dev/accelerators/0", Bind: "/dev/null"}},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startContainer(t, tc.sandbox, tc.options)
			c.wantEnd(0, exited(0))
			if c.output.String() != "it runs\n" || c.errors.String() != "" {
				t.Errorf("output %q, errors %q", c.output, c.errors)
			}
		})
	}
}

func TestTheAgentIsNotExecutedWhereSomethingElseIsWritable(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		options containerOptions
		path    string
		text    string
	}{
		"the image": {
			containerOptions{writableImage: true},
			"/", "readOnlyRootFilesystem",
		},
		"a volume that a webhook added": {
			containerOptions{mounts: []containerMount{memory("/cache")}},
			"/cache", "is not part of the write policy",
		},
		"a volume that only root can write": {
			containerOptions{mounts: []containerMount{{Target: "/cache", Type: "tmpfs", Data: "mode=0700"}}},
			"/cache", "is mounted writable (tmpfs",
		},
		"a volume in a directory that nobody may enter": {
			containerOptions{image: "mkdir -p closed/cache; chmod 700 closed", mounts: []containerMount{memory("/closed/cache")}},
			"/closed/cache", "is mounted writable (tmpfs",
		},
		"a file": {
			containerOptions{mounts: []containerMount{inside("/dev/termination-log", "/etc/passwd")}},
			"/etc/passwd", "is not part of the write policy",
		},
		"a volume in the workspace": {
			containerOptions{sealed: []string{"/workspace/skills/cache"}, mounts: []containerMount{memory("/workspace/skills/cache")}},
			"/workspace/skills/cache", "is not part of the write policy",
		},
		"a volume with an unusual name": {
			containerOptions{mounts: []containerMount{memory("/ca\\134 che")}},
			"/ca\\134 che", `"/ca\\134 che"`,
		},
		"a volume over a read-only one": {
			containerOptions{mounts: []containerMount{readOnly(memory("/cache")), memory("/cache")}},
			"/cache", "is not part of the write policy",
		},
		"the message queues": {
			containerOptions{without: []string{"/dev/mqueue"}, mounts: []containerMount{{Target: "/dev/mqueue", Type: "mqueue"}}},
			"/dev/mqueue", "must be covered by a read-only mount",
		},
		"the hosts file": {
			containerOptions{mounts: []containerMount{inside("/dev/termination-log", "/etc/hosts")}},
			"/etc/hosts", "must be covered by a read-only mount",
		},
		"the attached files": {
			containerOptions{mounts: []containerMount{memory("/mnt/session/uploads")}},
			"/mnt/session/uploads", "must be covered by a read-only mount",
		},
		"the skills": {
			containerOptions{mounts: []containerMount{memory("/workspace/skills")}},
			"/workspace/skills", "must be covered by a read-only mount",
		},
		"the devices": {
			containerOptions{script: "chmod 777 /dev"},
			"/dev", "a file could be made there",
		},
		"a file system in the place of the devices": {
			containerOptions{mounts: []containerMount{memory("/dev/cache")}},
			"/dev/cache", "is not part of the write policy",
		},
		"a disk": {
			containerOptions{script: "mknod -m 666 /dev/xvdz b 7 0"},
			"/dev/xvdz", "is a disk",
		},
		"a disk on a read-only mount": {
			containerOptions{script: "mknod -m 666 /dev/disk b 7 0; mkdir /dev/x; touch /dev/x/d; mount --bind /dev/disk /dev/x/d; mount -o remount,bind,ro /dev/x/d; rm /dev/disk"},
			"/dev/x/d", "is a disk",
		},
		"what a capability lets it, once a program gives it that": {
			containerOptions{bound: []uintptr{unix.CAP_SYS_ADMIN}},
			"/proc/self/status", "the container must drop ALL",
		},
		"what a privileged program lets it": {
			containerOptions{newPrivileges: true},
			"/proc/self/status", "the container must not have allowPrivilegeEscalation",
		},
		"nothing yet, but mounts that are made later appear": {
			containerOptions{mounts: []containerMount{readOnly(memory("/opt/plugins"))}, script: "mount --make-shared /opt/plugins"},
			"/opt/plugins", "without mountPropagation",
		},
		"the control groups": {
			containerOptions{script: "chmod 777 /sys/fs/cgroup"},
			"/sys/fs/cgroup", "a file could be made there",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantUnverified(t, startContainer(t, shell("echo it runs"), tc.options), tc.path, tc.text)
		})
	}
	t.Run("the shared memory, without a deployment that allows any", func(t *testing.T) {
		t.Parallel()
		sandbox := shell("echo it runs")
		sandbox.WritableRoots = layout.WritableRoots(false)
		wantUnverified(t, startContainer(t, sandbox, containerOptions{}), "/dev/shm", "must be covered by a read-only mount")
	})
}

func TestTheCheckLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	const (
		age  = `touch -d 2001-02-03T04:05:06Z /mnt/session/outputs /dev/shm /dev /sys/fs/cgroup`
		show = `stat -c '%n %Y' /mnt/session/outputs /dev/shm /dev /sys/fs/cgroup; ls -A /mnt/session/outputs /dev/shm /tmp /sys/fs/cgroup`
		want = `/mnt/session/outputs 981173106
/dev/shm 981173106
/dev 981173106
/sys/fs/cgroup 981173106
/dev/shm:

/mnt/session/outputs:

/sys/fs/cgroup:

/tmp:
home
`
	)
	c := startContainer(t, shell(show), containerOptions{script: age})
	c.wantEnd(0, exited(0))
	if got := c.output.String(); got != want {
		t.Errorf("the agent finds\n%s\nwant\n%s", got, want)
	}
}

// A FUSE file system whose server never answers is as dead as a volume whose
// server is gone.
func TestTheCheckEndsThoughAVolumeHangs(t *testing.T) {
	t.Parallel()
	server, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		t.Skip("this machine has no FUSE for this user")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	dead := containerMount{Target: "/mnt/session/outputs", Type: "fuse", Data: "fd=3,rootmode=40777,user_id=0,group_id=0,allow_other"}
	c := startContainer(t, shell("echo it runs"), containerOptions{
		mounts: []containerMount{dead}, files: []*os.File{server}, patience: 2 * patience,
	})
	wantUnverified(t, c, "/mnt/session/outputs", "did not answer within 30s")
}
