// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestOnAKernelWithoutLandlockMountsAloneHoldThePolicyAndThatIsSaid(t *testing.T) {
	t.Parallel()
	options := containerOptions{lost: []uint32{unix.SYS_LANDLOCK_CREATE_RULESET}}
	c := inSealedTree(t, shell(awaitFile+"echo x > /workspace/new; echo x > /dev/termination-log && echo written; exit 0"), options)
	c.awaitOutput("ready")
	var output string
	await(t, func() bool {
		var exitCode int
		output, exitCode = c.enter("/orca/bin/orca-sandbox", "started")
		return exitCode == 0
	}, func() string { return "started, which said " + output })
	if output != "the write policy is held by mounts only: the kernel has no Landlock\n" {
		t.Errorf("started says %q", output)
	}
	c.enter("touch", "/tmp/said")
	c.wantEnd(0, exited(0))
	c.wantDenials("/workspace/new")
	if !strings.Contains(c.output.String(), "written") {
		t.Errorf("a mount that is left writable should be so; output %q", c.output)
	}
}

func TestOnAKernelWithoutListenersThePolicyHoldsAndTheMissingMessageIsSaidOnce(t *testing.T) {
	t.Parallel()
	options := containerOptions{lost: []uint32{unix.SYS_SECCOMP}}
	c := inSealedTree(t, shell("echo x > /workspace/new; echo x > /workspace/newer; echo x > /dev/termination-log; echo x > /tmp/x && echo written; exit 0"), options)
	c.wantEnd(0, exited(0))
	c.wantDenials()
	said := strings.Count(c.errors.String(), "orca-sandbox: refused writes can't be explained to their programs here: function not implemented\n")
	refused := strings.Count(c.errors.String(), "Read-only file system") + strings.Count(c.errors.String(), "Permission denied")
	if said != 1 || refused != 3 || c.output.String() != "written\n" {
		t.Errorf("said %d times, %d refusals; output %q, errors:\n%s", said, refused, c.output, c.errors)
	}
}
