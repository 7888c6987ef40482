// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/orca-agent-engine/orca-operator/controllers/layout"
	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

// F21, P32: a store that the agent's user can't write keeps the agent from
// running, and the result says which store and why.
func TestAStoreThatCannotBeWrittenIsToldApart(t *testing.T) {
	t.Parallel()
	const notes, app = "/mnt/memory/notes", "/workspace/app"
	owned := func(target, mode string) containerMount {
		return containerMount{Target: target, Type: "tmpfs", Data: "mode=" + mode}
	}
	for name, tc := range map[string]struct {
		mount containerMount
		code  manifest.RunCode
		text  string
	}{
		"a store on a read-only mount":                    {readOnly(memory(notes)), manifest.RunStoreReadOnly, "is mounted read-only"},
		"a store of another user":                         {owned(notes, "0755"), manifest.RunStoreForbidden, "permission denied"},
		"a store of another user that nobody may enter":   {owned(notes, "0700"), manifest.RunStoreForbidden, "permission denied"},
		"a repository on a read-only mount is no store":   {readOnly(memory(app)), manifest.RunPolicyUnverified, "is mounted read-only"},
		"a repository of another user is no store either": {owned(app, "0755"), manifest.RunPolicyUnverified, "permission denied"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sandbox := shell("echo it runs")
			sandbox.WritableRoots = layout.WritableRoots(true, tc.mount.Target)
			c := startContainer(t, sandbox, containerOptions{
				sealed: []string{tc.mount.Target}, mounts: []containerMount{tc.mount},
			})
			c.wantEnd(125, manifest.RunResult{Code: tc.code, Path: tc.mount.Target})
			if got := c.errors.String(); !strings.Contains(got, tc.text) {
				t.Errorf("standard error is %q, want %q in it", got, tc.text)
			}
			if c.output.String() != "" {
				t.Errorf("the agent ran and printed %q", c.output)
			}
		})
	}
	t.Run("a store that isn't mounted", func(t *testing.T) {
		t.Parallel()
		sandbox := shell("echo it runs")
		sandbox.WritableRoots = layout.WritableRoots(true, notes)
		c := startContainer(t, sandbox, containerOptions{sealed: []string{notes}})
		wantUnverified(t, c, notes, "nothing is mounted there")
	})
}
