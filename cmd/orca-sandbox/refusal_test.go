// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orca-agent-engine/orca-operator/controllers/layout"
	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

// sealedTree puts a read-only workspace with a writable repository in it over
// the usual one. All files are the agent's own, so that nothing but the mounts
// keeps it from writing.
const sealedTree = `
	mount -t tmpfs -o mode=0755 workspace /workspace
	mkdir -p /workspace/app/src /workspace/skills /workspace/rw
	echo main > /workspace/app/src/main
	echo readme > /workspace/app/readme
	ln -s readme /workspace/app/link
	mkfifo /workspace/app/pipe
	ln -s /proc/self/cwd /workspace/app/here
	ln -s /proc/self/fd /dev/fd
	ln -s /proc/self/fd/1 /dev/stdout
	[ "$(id -u)" != 0 ] || chown -hR 1000:1000 /workspace
	mount -t tmpfs -o mode=0777 rw /workspace/rw
	mount -o remount,bind,ro /workspace
`

// inSealedTree starts a container with a sealed tree.
func inSealedTree(t *testing.T, sandbox manifest.Sandbox, options containerOptions) *container {
	t.Helper()
	sandbox.WritableRoots = layout.WritableRoots(true, "/workspace/rw")
	options.script = sealedTree + options.script
	return startContainer(t, sandbox, options)
}

// denials returns the paths of the lines that explain refused writes, and
// fails if such a line isn't one from its begin to its end.
func denials(t *testing.T, output string) []string {
	t.Helper()
	var paths []string
	for line := range strings.Lines(output) {
		if !strings.Contains(line, "write denied for ") {
			continue
		}
		before, after, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "write denied for ")
		path, rest, _ := strings.Cut(after, "; user-downloadable files must be written under /mnt/session/outputs/")
		if before != "" || rest != "" || line != layout.Denial(path)+"\n" {
			t.Errorf("the line is %q", line)
		}
		paths = append(paths, path)
	}
	return paths
}

// wantDenials compares the paths whose refusal was explained.
func (c *container) wantDenials(want ...string) {
	c.t.Helper()
	if diff := cmp.Diff(want, denials(c.t, c.errors.String())); diff != "" {
		c.t.Errorf("the refused paths differ (-want +got):\n%s\nerrors:\n%s\noutput:\n%s", diff, c.errors, c.output)
	}
}

// needs skips a test where a program isn't there.
func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("there is no %s here", program)
	}
}

// python runs a script by the system's interpreter.
func python(t *testing.T, script string) manifest.Sandbox {
	t.Helper()
	const interpreter = "/usr/bin/python3"
	if _, err := os.Stat(interpreter); err != nil {
		t.Skipf("there is no %s here", interpreter)
	}
	sandbox := shell("")
	sandbox.Command, sandbox.Args = []string{interpreter, "-c"}, []string{script}
	return sandbox
}

func TestARefusedWriteIsExplainedOnceWhateverTheProgram(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		script string
		want   string
	}{
		"a shell's redirect":            {`echo x > /workspace/new`, "/workspace/new"},
		"a redirect onto a file":        {`echo x > /workspace/app/readme`, "/workspace/app/readme"},
		"a redirect that appends":       {`echo x >> /workspace/app/readme`, "/workspace/app/readme"},
		"touch":                         {`touch /workspace/new`, "/workspace/new"},
		"touch of a file":               {`touch -c /workspace/app/readme`, "/workspace/app/readme"},
		"mkdir":                         {`mkdir /workspace/new`, "/workspace/new"},
		"mkdir -p":                      {`mkdir -p /workspace/app/src/new`, "/workspace/app/src/new"},
		"ln -s":                         {`ln -s x /workspace/new`, "/workspace/new"},
		"ln":                            {`ln /workspace/app/readme /workspace/new`, "/workspace/new"},
		"mkfifo":                        {`mkfifo /workspace/new`, "/workspace/new"},
		"rm":                            {`rm -f /workspace/app/readme`, "/workspace/app/readme"},
		"rmdir":                         {`rmdir /workspace/skills`, "/workspace/skills"},
		"mv":                            {`mv /workspace/app/readme /workspace/app/other`, "/workspace/app/readme"},
		"chmod":                         {`chmod 600 /workspace/app/readme`, "/workspace/app/readme"},
		"chown":                         {`chown 1000 /workspace/app/readme`, "/workspace/app/readme"},
		"chown of a link":               {`chown -h 1000 /workspace/app/link`, "/workspace/app/link"},
		"truncate":                      {`truncate -s 0 /workspace/app/readme`, "/workspace/app/readme"},
		"cp":                            {`cp /workspace/app/readme /workspace/new`, "/workspace/new"},
		"tee":                           {`echo x | tee /workspace/new >/dev/null`, "/workspace/new"},
		"dd":                            {`dd if=/dev/zero of=/workspace/new bs=1 count=1`, "/workspace/new"},
		"outside of every mount":        {`echo x > /new`, "/new"},
		"a folder of root's":            {`echo x > /usr/bin/new`, "/usr/bin/new"},
		"a file of root's":              {`echo x > /usr/bin/sh`, "/usr/bin/sh"},
		"a relative name":               {`cd /workspace/app && echo x > new`, "/workspace/app/new"},
		"a relative name, made plainer": {`cd /workspace/app && echo x > ./new`, "/workspace/app/new"},
		"a name with dots in it":        {`cd /workspace/rw && echo x > ../app/new`, "/workspace/rw/../app/new"},
		"by /proc/self/root":            {`echo x > /proc/self/root/workspace/new`, "/proc/self/root/workspace/new"},
		"by /proc/self/cwd":             {`echo x > /proc/self/cwd/new`, "/proc/self/cwd/new"},
		"by /proc/thread-self/cwd":      {`echo x > /proc/thread-self/cwd/new`, "/proc/thread-self/cwd/new"},
		"by a descriptor":               {`exec 5</workspace/app; echo x > /proc/self/fd/5/new`, "/proc/self/fd/5/new"},
		"a file by a descriptor":        {`exec 5</workspace/app/readme; echo x > /dev/fd/5`, "/dev/fd/5"},
		"by a link":                     {`echo x > /workspace/app/link`, "/workspace/app/link"},
		"by a link of the process":      {`cd /workspace/app; echo x > here/new`, "/workspace/app/here/new"},
		"by a link out of the outputs":  {`ln -s /workspace/app/readme /mnt/session/outputs/l; echo x > /mnt/session/outputs/l`, "/mnt/session/outputs/l"},
		"by a link to nothing":          {`ln -s /workspace/new /tmp/l; echo x > /tmp/l`, "/tmp/l"},
		"by a chain of links":           {`ln -s /tmp/b /tmp/a; ln -s ../workspace/app /tmp/b; echo x > /tmp/a/src/new`, "/tmp/a/src/new"},
		"a name with a newline":         {"echo x > '/workspace/a\nwrite \x1b[31m'", `/workspace/a\x0awrite \x1b[31m`},
		"a name that isn't text":        {`echo x > "/workspace/$(printf '\377\302\233\342\200\256')"`, `/workspace/\xff\xc2\x9b\xe2\x80\xae`},
		"a name of letters":             {"echo x > /workspace/größe", "/workspace/größe"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := inSealedTree(t, shell("("+tc.script+"); exit 0"), containerOptions{})
			c.wantEnd(0, exited(0))
			c.wantDenials(tc.want)
		})
	}
}

func TestARefusedWriteIsExplainedInOtherLanguages(t *testing.T) {
	t.Parallel()
	t.Run("sed -i", func(t *testing.T) {
		t.Parallel()
		c := inSealedTree(t, shell("sed -i s/a/b/ /workspace/app/readme; exit 0"), containerOptions{})
		c.wantEnd(0, exited(0))
		got := denials(t, c.errors.String())
		if len(got) != 1 || !strings.HasPrefix(got[0], "/workspace/app/sed") {
			t.Errorf("refused: %q, want the temporary file beside the file", got)
		}
	})
	t.Run("git init", func(t *testing.T) {
		t.Parallel()
		needs(t, "git")
		c := inSealedTree(t, shell("git init -q /workspace/new; exit 0"), containerOptions{})
		c.wantEnd(0, exited(0))
		c.wantDenials("/workspace/new")
	})
	for name, tc := range map[string]struct{ script, want string }{
		"open":      {`open("/workspace/new", "w")`, "/workspace/new"},
		"a dirfd":   {`os.open("new", os.O_CREAT|os.O_WRONLY, dir_fd=os.open("/workspace/app", os.O_RDONLY))`, "/workspace/app/new"},
		"O_PATH":    {`os.open("/proc/self/fd/%d" % os.open("/workspace/app/readme", os.O_PATH), os.O_WRONLY)`, "/proc/self/fd/3"},
		"O_TMPFILE": {`os.open("/workspace/app", os.O_TMPFILE|os.O_WRONLY)`, "/workspace/app"},
		"O_TRUNC":   {`os.open("/workspace/app/readme", os.O_RDONLY|os.O_TRUNC)`, "/workspace/app/readme"},
		"xattr":     {`os.setxattr("/workspace/app/readme", "user.a", b"b")`, "/workspace/app/readme"},
		"rename":    {`os.rename("/workspace/app/readme", "/workspace/app/src/x")`, "/workspace/app/readme"},
		"replace":   {`os.replace("/workspace/app/readme", "/workspace/app/src/main")`, "/workspace/app/readme"},
		"utime":     {`os.utime("/workspace/app/readme")`, "/workspace/app/readme"},
		"a mount":   {`os.rmdir("/mnt/session/outputs")`, "/mnt/session/outputs"},
	} {
		t.Run("python "+name, func(t *testing.T) {
			t.Parallel()
			c := inSealedTree(t, python(t, "import os\ntry:\n  "+tc.script+"\nexcept OSError as e:\n  print(e.errno)"), containerOptions{})
			c.wantEnd(0, exited(0))
			c.wantDenials(tc.want)
			if c.output.String() != "30\n" {
				t.Errorf("the program got %q, want EROFS alone", c.output)
			}
		})
	}
	t.Run("a static Go program", func(t *testing.T) {
		t.Parallel()
		if raceDetector {
			t.Skip("the race detector links dynamically")
		}
		// The program under test is one; setup begins by installing itself.
		c := inSealedTree(t, shell(`echo '{"directories":[],"timeoutSeconds":60}' > /tmp/m
			cd /tmp; /orca/bin/orca-sandbox setup --manifest=/tmp/m --manifest-digest=sha256:$(printf '{"directories":[],"timeoutSeconds":60}\n' | sha256sum | cut -c 1-64) \
			--inputs=/tmp --sealed=/tmp --work=/tmp --bin=/workspace/app --termination-message=/workspace/app/readme; exit 0`), containerOptions{})
		c.wantEnd(0, exited(0))
		if got := denials(t, c.errors.String()); len(got) == 0 || !strings.HasPrefix(got[0], "/workspace/app") {
			t.Errorf("refused: %q; errors:\n%s", got, c.errors)
		}
	})
}

func TestWhatTheKernelDoesNotRefuseForThePolicyIsNotExplained(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"mkdir -p of folders that are there": `mkdir -p /mnt/session/outputs/a/b /workspace/app/src /workspace/rw/a`,
		"writing where it is allowed":        `echo x > /tmp/x; echo x > "$HOME/x"; echo x > /mnt/session/outputs/x; echo x > /workspace/rw/x; mv /tmp/x /tmp/y; rm /tmp/y`,
		"devices":                            `echo x > /dev/null; echo x > /dev/full; echo x > /dev/tty; : > /dev/zero`,
		"the standard streams":               `echo x > /dev/stdout; echo x > /proc/self/fd/1; echo x >> /dev/fd/1`,
		"no parent":                          `echo x > /workspace/no/such; mkdir /workspace/no/such; touch /workspace/no/such`,
		"a file as a folder":                 `echo x > /workspace/app/readme/x; mkdir /workspace/app/readme/x`,
		"a folder as a file":                 `echo x > /workspace/app`,
		"nothing to remove":                  `rm -f /workspace/no; rmdir /workspace/no; chmod 600 /workspace/no; mv /workspace/no /workspace/no2`,
		"making what is there":               `mkdir /workspace/app; ln -sT x /workspace/app; ln /workspace/app/readme /workspace/app/link; mkfifo /workspace/app/readme`,
		"reading":                            `cat /workspace/app/readme; ls -lR /workspace; [ -w /workspace/app ]`,
		"a link in a loop":                   `ln -s l /tmp/l; echo x > /tmp/l`,
		"a link to a writable place":         `ln -s /tmp/x /workspace/rw/l; echo x > /workspace/rw/l; echo x > /proc/self/root/tmp/y; cd /tmp; echo x > /proc/self/cwd/z`,
		"fifo and pipes":                     `mkfifo /tmp/f; cat /tmp/f & echo x > /tmp/f; wait; cat <<<x || true; echo x | cat`,
		"git that reads":                     `cd /workspace/rw && git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git status && git diff`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if strings.Contains(script, "git ") {
				needs(t, "git")
			}
			sandbox := shell("")
			sandbox.Command, sandbox.Args = []string{"bash", "-c"}, []string{script + "; exit 0"}
			c := inSealedTree(t, sandbox, containerOptions{})
			c.wantEnd(0, exited(0))
			c.wantDenials()
		})
	}
	for name, script := range map[string]string{
		"O_RDONLY|O_CREAT of a file":  `os.open("/workspace/app/readme", os.O_RDONLY|os.O_CREAT)`,
		"makedirs":                    `os.makedirs("/workspace/app/src", exist_ok=True)`,
		"O_EXCL of a file":            `os.open("/workspace/app/readme", os.O_CREAT|os.O_EXCL|os.O_WRONLY)`,
		"O_NOFOLLOW of a link":        `os.open("/workspace/app/link", os.O_NOFOLLOW|os.O_WRONLY)`,
		"O_PATH":                      `os.open("/workspace/app/readme", os.O_PATH|os.O_WRONLY)`,
		"O_DIRECTORY of a file":       `os.open("/workspace/app/readme", os.O_DIRECTORY|os.O_WRONLY)`,
		"a file in memory":            `f = os.memfd_create("x"); os.open("/proc/self/fd/%d" % f, os.O_RDWR); os.ftruncate(f, 9)`,
		"a pipe by its descriptor":    `r, w = os.pipe(); os.open("/proc/self/fd/%d" % w, os.O_WRONLY)`,
		"a socket by its descriptor":  `import socket; s = socket.socket(); os.open("/proc/self/fd/%d" % s.fileno(), os.O_WRONLY)`,
		"a socket with a name":        `import socket; socket.socket(socket.AF_UNIX).bind("/tmp/s"); os.unlink("/tmp/s")`,
		"a move to another mount":     `os.rename("/workspace/app/readme", "/tmp/x")`,
		"a move from another mount":   `open("/tmp/x", "w"); os.rename("/tmp/x", "/workspace/app/x")`,
		"a removed working directory": `os.mkdir("/tmp/d"); os.chdir("/tmp/d"); os.rmdir("/tmp/d"); open("x", "w")`,
		"an empty name":               `os.open("", os.O_WRONLY|os.O_CREAT)`,
		"a bad descriptor":            `os.open("x", os.O_WRONLY|os.O_CREAT, dir_fd=99)`,
		"a name that is too long":     `open("/workspace/" + "a/" * 2100, "w")`,
	} {
		t.Run("python "+name, func(t *testing.T) {
			t.Parallel()
			c := inSealedTree(t, python(t, "import os\ntry:\n  "+script+"\nexcept OSError as e:\n  pass"), containerOptions{})
			c.wantEnd(0, exited(0))
			c.wantDenials()
		})
	}
}

func TestLandlockRefusesWhatMountsLeaveWritable(t *testing.T) {
	t.Parallel()
	needsLandlock(t)
	c := inSealedTree(t, shell(`echo forged > /dev/termination-log && echo written; exit 0`), containerOptions{})
	c.wantEnd(0, exited(0))
	c.wantDenials("/dev/termination-log")
	if c.output.String() != "" || !strings.Contains(c.errors.String(), "Permission denied") {
		t.Errorf("it was not refused by Landlock: output %q, errors %q", c.output, c.errors)
	}
}

func TestALongPathIsCutToALineThatAPipeTakesAsAWhole(t *testing.T) {
	t.Parallel()
	c := inSealedTree(t, python(t, `
import os
try: open("/workspace/" + "./" * 2000 + "\n" * 50, "w")
except OSError as e: print(e.errno)
`), containerOptions{})
	c.wantEnd(0, exited(0))
	got := c.errors.String()
	if len(got) > 4096 || strings.Count(got, "\n") != 1 || len(denials(t, got)) != 1 || c.output.String() != "30\n" {
		t.Errorf("%d bytes, output %q: %q", len(got), c.output, got)
	}
}

func TestProgramsThatNeedMoreThanFilesStillWork(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"names of threads":              `echo name > /proc/self/comm`,
		"moves inside a root":           `mkdir /tmp/a /tmp/b; echo x > /tmp/a/x; mv /tmp/a/x /tmp/b/y; ln /tmp/b/y /tmp/a/z`,
		"here-documents":                "cat <<X\ntext\nX",
		"a program that is made":        `cp /bin/true /tmp/true; /tmp/true`,
		"a call can stop another":       `sleep 3600 & kill $!; wait $! || true`,
		"tar":                           `cd /tmp; mkdir t; echo x > t/x; tar cf t.tar t; rm -r t; tar xf t.tar; cat t/x`,
		"sed -i, xargs, sort, mktemp":   `f=$(mktemp); echo b > $f; sed -i s/b/a/ $f; echo $f | xargs -P2 sort -o $f; grep -q a $f`,
		"flock and a unix socket":       `flock /tmp/lock true`,
		"a file without a name, linked": `/usr/bin/python3 -c 'import os; f=os.open("/tmp",os.O_TMPFILE|os.O_RDWR); os.link("/proc/self/fd/%d"%f,"/tmp/linked",src_dir_fd=f,follow_symlinks=True); os.stat("/tmp/linked")'`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if strings.Contains(script, "python3") {
				python(t, "")
			}
			c := inSealedTree(t, shell("set -e; "+script), containerOptions{})
			c.wantEnd(0, exited(0))
			c.wantDenials()
		})
	}
}
