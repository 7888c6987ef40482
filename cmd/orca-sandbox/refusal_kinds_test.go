// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/orca-agent-engine/orca-operator/controllers/layout"
)

func TestARefusalIsExplainedWhereverItComesFrom(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ script, want string }{
		"a file beside the devices":    {`echo x > /dev/x`, "/dev/x"},
		"a folder beside the devices":  {`mkdir /dev/x`, "/dev/x"},
		"a link beside the devices":    {`ln -s a /dev/x`, "/dev/x"},
		"the removal of a device's":    {`rm -f /dev/stdout`, "/dev/stdout"},
		"a move beside the devices":    {`mv /dev/stdout /dev/x`, "/dev/stdout"},
		"chmod by a descriptor":        {`python3 -c 'import os; os.fchmod(os.open("app/readme", 0), 0o600)'`, "/workspace/app/readme"},
		"chown by a descriptor":        {`python3 -c 'import os; os.fchown(os.open("app/readme", 0), 1000, 1000)'`, "/workspace/app/readme"},
		"an attribute by a descriptor": {`python3 -c 'import os; os.setxattr(os.open("app/readme", 0), "user.a", b"b")'`, "/workspace/app/readme"},
		"chattr":                       {`chattr +A app/readme`, "/workspace/app/readme"},
		"a socket":                     {`python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("app/socket")'`, "/workspace/app/socket"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			needs(t, strings.Fields(tc.script)[0])
			c := inSealedTree(t, shell(tc.script+"; exit 0"), containerOptions{})
			c.wantEnd(0, exited(0))
			c.wantDenials(tc.want)
		})
	}
}

func TestBesideTheDevicesARefusalIsExplainedWithoutLandlock(t *testing.T) {
	t.Parallel()
	c := inSealedTree(t, shell(`echo x > /dev/x; exit 0`), containerOptions{lost: []uint32{unix.SYS_LANDLOCK_CREATE_RULESET}})
	c.wantEnd(0, exited(0))
	c.wantDenials("/dev/x")
}

// apartAgent has a thread whose working directory is another than the
// process's, which /proc/self leads to.
func apartAgent() int {
	create := func(path string) error {
		fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CREAT|unix.O_CLOEXEC, 0o600)
		if err == nil {
			unix.Close(fd)
		}
		return err
	}
	ended := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := errors.Join(unix.Unshare(unix.CLONE_FS), unix.Chdir("/workspace"))
		err = errors.Join(err, create("/proc/self/cwd/allowed"))
		if refused := create("/proc/thread-self/cwd/refused"); !errors.Is(refused, unix.EROFS) {
			err = errors.Join(err, errors.New("it is not refused"), refused)
		}
		ended <- err
	}()
	if err := errors.Join(os.Chdir("/tmp"), <-ended); err != nil {
		return fail(err)
	}
	return 0
}

func TestAThreadHasAWorkingDirectoryOfItsOwn(t *testing.T) {
	t.Parallel()
	sandbox := agent("apart")
	c := inSealedTree(t, sandbox, containerOptions{})
	c.wantEnd(0, exited(0))
	c.wantDenials("/proc/thread-self/cwd/refused")
}

func TestALineCostsNobodyItsLife(t *testing.T) {
	t.Parallel()
	c := inSealedTree(t, python(t, `
import os, resource, signal
os.dup2(os.open("/tmp/errors", os.O_WRONLY|os.O_CREAT), 2)
os.write(2, b"before\n")
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_FSIZE, (3, 3))
try: open("/workspace/new", "w")
except OSError as e: print(e.errno)
print(open("/tmp/errors").read(), end="")
`), containerOptions{})
	c.wantEnd(0, exited(0))
	if got, want := c.output.String(), "30\nbefore\n"; got != want {
		t.Errorf("output %q, want %q", got, want)
	}
	if got, want := c.errors.String(), "orca-sandbox: not shown to its process: "+layout.Denial("/workspace/new")+"\n"; got != want {
		t.Errorf("the log has %q, want %q", got, want)
	}
}

// A FUSE file system whose server never answers is as dead as a volume whose
// server is gone.
func TestCallersInADeadVolumeDoNotHoldUpOthers(t *testing.T) {
	t.Parallel()
	server, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		t.Skip("this machine has no FUSE for this user")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	c := inSealedTree(t, shell(`
		mkdir /tmp/begun; i=0
		while [ $i -lt 300 ]; do (: > /tmp/begun/$i; : > /opt/dead/$i) & i=$((i+1)); done
		until [ "$(ls /tmp/begun | wc -l)" = 300 ]; do sleep 0.05; done
		i=0; while [ $i -lt 100 ]; do echo x > /tmp/x; sleep 0.02; i=$((i+1)); done
		echo done; exit 0`), containerOptions{
		mounts: []containerMount{{
			Target: "/opt/dead", Type: "fuse", ReadOnly: true,
			Data: "fd=3,rootmode=40777,user_id=0,group_id=0,allow_other",
		}}, files: []*os.File{server},
	})
	c.wantEnd(0, exited(0))
	if c.output.String() != "done\n" {
		t.Errorf("output %q, errors %q", c.output, c.errors)
	}
}
