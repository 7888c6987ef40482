// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

// readOnlyTree puts a repository, whose index has other times than its files,
// and a module into a read-only mount. They are the agent's own.
const readOnlyTree = `
	mount -t tmpfs -o mode=0755 tree /mnt/memory
	cd /mnt/memory
	export HOME=/mnt/memory
	git init -q repo
	echo text > repo/file
	git -C repo add file
	git -C repo -c user.name=a -c user.email=a@b commit -q -m x
	touch -d 2001-02-03T04:05:06Z repo/file
	mkdir lib
	echo 'answer = 42' > lib/module.py
	[ "$(id -u)" != 0 ] || chown -hR 1000:1000 /mnt/memory
	mount -o remount,bind,ro /mnt/memory
`

const (
	gitStatus    = `cd /mnt/memory/repo && git status --porcelain && git diff`
	moduleImport = `cd /mnt/memory/lib && /usr/bin/python3 -c 'import module; assert module.answer == 42'`
)

// bash returns the manifest of a sandbox that runs a script, and skips the
// test where what the script needs isn't there.
func bash(t *testing.T, script string) manifest.Sandbox {
	t.Helper()
	needs(t, "git")
	sandbox := python(t, "")
	sandbox.Command, sandbox.Args = []string{"bash", "-c"}, []string{script}
	return sandbox
}

func TestOrdinaryProgramsWorkInSilence(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"git init and clone in a root":         `cd /mnt/session/outputs && git init -q a && git -C a -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git clone -q a b`,
		"touch -c of a missing file":           `touch -c /workspace/missing`,
		"git status of a read-only repository": gitStatus,
		"a module of a read-only tree":         moduleImport,
		"a move between two folders of a root": `cd /mnt/session/outputs && mkdir a b && touch a/f && /usr/bin/python3 -c 'import os; os.rename("a/f", "b/f")'`,
		"python's temporary files":             `/usr/bin/python3 -c 'import tempfile; tempfile.TemporaryFile().write(b"x"); tempfile.NamedTemporaryFile().write(b"x"); tempfile.mkdtemp()'`,
		"python's multiprocessing":             `/usr/bin/python3 -c 'import multiprocessing as m; m.Lock(); m.Queue().put(1); assert m.Pool(2).map(abs, [-1]) == [1]'`,
		"python's shared memory":               `/usr/bin/python3 -c 'from multiprocessing import shared_memory as s; m = s.SharedMemory(create=True, size=9); m.close(); m.unlink()'`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := inSealedTree(t, bash(t, script), containerOptions{script: readOnlyTree})
			c.wantEnd(0, exited(0))
			c.wantDenials()
		})
	}
}

// What keeps two of those programs silent is in their environment: without it
// they try to write, and are told.
func TestProgramsThatWriteOnTheSideAreToldWithoutTheirSettings(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		script   string
		variable manifest.EnvVar
		want     string
	}{
		"git":    {gitStatus, manifest.EnvVar{Name: "GIT_OPTIONAL_LOCKS", Value: "1"}, "/mnt/memory/repo/.git/index.lock"},
		"python": {moduleImport, manifest.EnvVar{Name: "PYTHONPYCACHEPREFIX"}, "/mnt/memory/lib/__pycache__"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sandbox := bash(t, tc.script)
			sandbox.Env = []manifest.EnvVar{tc.variable}
			c := inSealedTree(t, sandbox, containerOptions{script: readOnlyTree})
			c.wantEnd(0, exited(0))
			if got := denials(t, c.errors.String()); len(got) == 0 || !strings.HasPrefix(got[0], tc.want) {
				t.Errorf("refused: %q, want %q", got, tc.want)
			}
		})
	}
}
