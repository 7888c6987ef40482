// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/orca-agent-engine/orca-operator/controllers/layout"
)

// kindOf is the type of what was mounted in the recorded pods.
func kindOf(m mount) uint16 {
	switch {
	case m.root == "/null":
		return unix.S_IFCHR
	case m.point == "/dev/termination-log", strings.HasPrefix(m.point, "/etc/"):
		return unix.S_IFREG
	default:
		return unix.S_IFDIR
	}
}

// judge returns the writable mounts of a pod that are neither roots nor
// covered nor excepted, and those that are excepted.
func judge(mounts table, roots []string) (violations, excepted []string) {
	for _, m := range mounts {
		if m.readOnly || slices.Contains(roots, m.point) {
			continue
		}
		if _, known := exceptionFor(m, kindOf(m)); known {
			excepted = append(excepted, m.point)
		} else {
			violations = append(violations, m.point)
		}
	}
	return violations, excepted
}

func TestTheWritableMountsOfRealPods(t *testing.T) {
	usual := []string{"/proc", "/dev", "/dev/pts", "/sys/fs/cgroup", "/dev/termination-log", "/proc/interrupts", "/proc/keys", "/proc/timer_list"}
	for name, want := range map[string][]string{
		"plain.mountinfo":   {"/dev/mqueue", "/etc/hosts", "/dev/shm"},
		"sandbox.mountinfo": nil,
	} {
		t.Run(name, func(t *testing.T) {
			roots := layout.WritableRoots(name == "sandbox.mountinfo")
			violations, excepted := judge(recorded(t, name), roots)
			if diff := cmp.Diff(want, violations); diff != "" {
				t.Errorf("the violations differ (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(usual, excepted); diff != "" {
				t.Errorf("the exceptions differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatIsNoException(t *testing.T) {
	for name, tc := range map[string]struct {
		mount mount
		kind  uint16
	}{
		"a folder of proc":                       {mount{filesystem: "proc", point: "/proc", root: "/sys"}, unix.S_IFDIR},
		"proc elsewhere":                         {mount{filesystem: "proc", point: "/opt/proc", root: "/"}, unix.S_IFDIR},
		"another file system at /proc":           {mount{filesystem: "tmpfs", point: "/proc", root: "/"}, unix.S_IFDIR},
		"a file system below /proc":              {mount{filesystem: "proc", point: "/proc/sys", root: "/"}, unix.S_IFDIR},
		"the node's devices":                     {mount{filesystem: "devtmpfs", point: "/dev", root: "/"}, unix.S_IFDIR},
		"a folder of the node at /dev":           {mount{filesystem: "ext4", point: "/dev", root: "/srv"}, unix.S_IFDIR},
		"a file system below /dev":               {mount{filesystem: "tmpfs", point: "/dev/cache", root: "/"}, unix.S_IFDIR},
		"message queues":                         {mount{filesystem: "mqueue", point: "/dev/mqueue", root: "/"}, unix.S_IFDIR},
		"a file below /dev":                      {mount{filesystem: "ext4", point: "/dev/file", root: "/file"}, unix.S_IFREG},
		"a disk":                                 {mount{filesystem: "devtmpfs", point: "/dev/sda", root: "/sda"}, unix.S_IFBLK},
		"a device elsewhere":                     {mount{filesystem: "devtmpfs", point: "/opt/null", root: "/null"}, unix.S_IFCHR},
		"a device at /dev":                       {mount{filesystem: "devtmpfs", point: "/dev", root: "/null"}, unix.S_IFCHR},
		"a device at a name that begins alike":   {mount{filesystem: "devtmpfs", point: "/device", root: "/null"}, unix.S_IFCHR},
		"control groups of version 2":            {mount{filesystem: "cgroup2", point: "/sys/fs/cgroup", root: "/"}, unix.S_IFDIR},
		"a control group":                        {mount{filesystem: "cgroup", point: "/sys/fs/cgroup/memory", root: "/x"}, unix.S_IFDIR},
		"a folder in the place of the message":   {mount{filesystem: "ext4", point: "/dev/termination-log", root: "/x"}, unix.S_IFDIR},
		"a pipe in the place of the message":     {mount{filesystem: "ext4", point: "/dev/termination-log", root: "/x"}, unix.S_IFIFO},
		"a file in a place like the message's":   {mount{filesystem: "ext4", point: "/tmp/termination-log", root: "/x"}, unix.S_IFREG},
		"terminals elsewhere":                    {mount{filesystem: "devpts", point: "/dev/pts2", root: "/"}, unix.S_IFDIR},
		"the image":                              {mount{filesystem: "overlay", point: "/", root: "/"}, unix.S_IFDIR},
		"a volume named like an excepted folder": {mount{filesystem: "tmpfs", point: "/dev/pts", root: "/"}, unix.S_IFDIR},
	} {
		t.Run(name, func(t *testing.T) {
			if e, known := exceptionFor(tc.mount, tc.kind); known {
				t.Errorf("it is the exception at %s", e.point)
			}
		})
	}
}

func TestADeviceThatTheRuntimeMountsIsAnException(t *testing.T) {
	for _, m := range []mount{
		{filesystem: "devpts", point: "/dev/console", root: "/0"},
		{filesystem: "devtmpfs", point: "/dev/null", root: "/null"},
		{filesystem: "tmpfs", point: "/proc/sched_debug", root: "/null"},
	} {
		if _, known := exceptionFor(m, unix.S_IFCHR); !known {
			t.Errorf("%s is no exception", m.point)
		}
	}
}

func TestTheDocumentationListsEveryExceptionAndItsReason(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/write-policy.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range exceptions {
		if !strings.Contains(string(text), "`"+e.point+"`") || !strings.Contains(string(text), e.reason) {
			t.Errorf("docs/write-policy.md lacks %s or its reason: %s", e.point, e.reason)
		}
	}
}
