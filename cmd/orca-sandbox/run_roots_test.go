// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/orca-agent-engine/orca-operator/controllers/layout"
)

func TestTheAgentIsNotExecutedWhereARootIsNotWhatItShouldBe(t *testing.T) {
	t.Parallel()
	const outputs = layout.Outputs
	for name, tc := range map[string]struct {
		root    string // One more than the usual ones, if set.
		options containerOptions
		path    string
		text    string
	}{
		"outputs that are read-only": {
			"", containerOptions{mounts: []containerMount{readOnly(memory(outputs))}},
			outputs, "must be writable, but is mounted read-only",
		},
		"outputs of a read-only file system": {
			"", containerOptions{mounts: []containerMount{{Target: outputs, Type: "tmpfs", Data: "mode=0777,ro"}}},
			outputs, "must be writable, but is mounted read-only",
		},
		"outputs that this user can't write": {
			"", containerOptions{mounts: []containerMount{{Target: outputs, Type: "tmpfs", Data: "mode=0555"}}},
			outputs, "permission denied",
		},
		"a /tmp that is read-only": {
			"", containerOptions{mounts: []containerMount{readOnly(memory("/tmp"))}},
			"/tmp", "must be writable, but is mounted read-only",
		},
		"a file system without unnamed files that this user can't write": {
			"/data/queues", containerOptions{mounts: []containerMount{{Target: "/data/queues", Type: "mqueue"}}, script: "chmod 555 /data/queues"},
			"/data/queues", "permission denied",
		},
		"no outputs": {
			"", containerOptions{without: []string{outputs}},
			outputs, "must be there",
		},
		"outputs of the image": {
			"", containerOptions{without: []string{outputs}, image: "mkdir -p -m 777 mnt/session/outputs"},
			outputs, "must be writable, but nothing is mounted there",
		},
		"a root inside another one": {
			"/tmp/scratch", containerOptions{image: "mkdir tmp", script: "mkdir -m 777 /tmp/scratch"},
			"/tmp/scratch", "must be writable, but nothing is mounted there",
		},
		"a mounted root inside another one": {
			"/tmp/scratch", containerOptions{mounts: []containerMount{memory("/tmp/scratch")}},
			"/tmp/scratch", `is a mount inside "/tmp"`,
		},
		"a root that is a file": {
			"/data/file", containerOptions{mounts: []containerMount{inside("/dev/termination-log", "/data/file")}},
			"/data/file", "must be writable, but is no directory",
		},
		"an image with a link in the place of /tmp": {
			"", containerOptions{image: "mkdir -p opt/tmp; ln -s opt/tmp tmp"},
			"/tmp", "it is a symbolic link, or lies behind one",
		},
		"an image with a link in the place of /workspace": {
			"", containerOptions{image: "mkdir real; ln -s real workspace"},
			"/workspace", "it is a symbolic link, or lies behind one",
		},
		"an image with a link above the outputs": {
			"", containerOptions{image: "mkdir real; ln -s real mnt"},
			outputs, "it is a symbolic link, or lies behind one",
		},
		"an image with a link in the place of the hosts file": {
			"", containerOptions{image: "mkdir etc; ln -s hosts.real etc/hosts; touch etc/hosts.real"},
			"/etc/hosts", "it is a symbolic link, or lies behind one",
		},
		"no sealed tree for the attached files": {
			"", containerOptions{without: []string{"/mnt/session/uploads"}, image: "mkdir -p mnt/session/uploads"},
			"/mnt/session/uploads", "must be covered by a read-only mount, but nothing is mounted there",
		},
		"no cover over the message queues": {
			"", containerOptions{without: []string{"/dev/mqueue"}},
			"/dev/mqueue", "must be there",
		},
		"one volume for two roots": {
			"/opt/two", containerOptions{mounts: []containerMount{inside(outputs, "/opt/two")}},
			"/opt/two", `is the same directory as "/mnt/session/outputs"`,
		},
		"one volume for a root and a read-only place": {
			"", containerOptions{mounts: []containerMount{readOnly(inside(outputs, "/data/copy"))}},
			"/data/copy", `shows the volume of "/mnt/session/outputs" a second time`,
		},
		"a read-only mount inside a root": {
			"", containerOptions{mounts: []containerMount{readOnly(memory("/tmp/agent-config"))}},
			"/tmp/agent-config", `is a mount inside "/tmp"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sandbox := shell("echo it runs")
			if tc.root != "" {
				sandbox.WritableRoots = layout.WritableRoots(true, tc.root)
			}
			wantUnverified(t, startContainer(t, sandbox, tc.options), tc.path, tc.text)
		})
	}
}
