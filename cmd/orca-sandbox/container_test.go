// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

// patience is how long a test waits for what must happen.
const patience = time.Minute

// container is a sandbox's container as the kubelet would make it: namespaces
// of its own, the launcher as process 1, an unprivileged user.
type container struct {
	t       *testing.T
	command *exec.Cmd
	output  *buffer
	errors  *buffer
	message string
	digest  string
	// patience is how long its end may take.
	patience time.Duration
	once     func() error
}

// containerOptions say what is unusual about a container.
type containerOptions struct {
	// environment is the container's own, ordinaryEnvironment if nil.
	environment []string
	// digest is the manifest's if empty.
	digest string
	// noManifest leaves the manifest away.
	noManifest bool
	// fifo is a named pipe from which the manifest comes, if set.
	fifo string
	// script runs in the container before the launcher.
	script string
	// image is a script that changes the image, from its root.
	image string
	// writableImage leaves the image writable.
	writableImage bool
	// without are the usual mounts that aren't made.
	without []string
	// sealed are directories of the sealed tree beside the usual ones.
	sealed []string
	// mounts are made after the usual ones.
	mounts []containerMount
	// files are open in the process that makes the mounts, from descriptor 3.
	files []*os.File
	// patience is how long its end may take, if more than usual.
	patience time.Duration
	// newPrivileges lets programs gain privileges.
	newPrivileges bool
	// bound are capabilities that the container may have after all.
	bound []uintptr
	// lost are the numbers of system calls that the kernel shall not have.
	lost []uint32
	// terminal is the container's terminal, if it has one.
	terminal *os.File
}

// ordinaryEnvironment is what an image and Kubernetes give a container.
func ordinaryEnvironment() []string {
	return []string{"PATH=/usr/bin:/bin", "HOSTNAME=sandbox-0", "HOME=/root", "KUBERNETES_PORT=1"}
}

// startContainer starts the launcher with a manifest.
func startContainer(t *testing.T, sandbox manifest.Sandbox, options containerOptions) *container {
	t.Helper()
	encoded, err := manifest.Encode(sandbox)
	if err != nil {
		t.Fatal(err)
	}
	folder := sharedFolder(t)
	message := filepath.Join(folder, "termination-log")
	writeFile(t, message, nil, 0o666)
	spec := containerSpec{
		Root: filepath.Join(folder, "root"), Sealed: filepath.Join(folder, "sealed"),
		Manifest: filepath.Join(folder, "sandbox.json"), Message: message,
		Binary: binary, Agent: ownPath(t),
		Image: options.image, WritableImage: options.writableImage, Script: options.script,
		SealedDirectories: options.sealed, Without: options.without, Mounts: options.mounts,
		Digest: options.digest, Environment: options.environment,
		Lost: options.lost, Bound: options.bound, NewPrivileges: options.newPrivileges,
		Privileged: os.Geteuid() == 0,
	}
	if spec.Environment == nil {
		spec.Environment = ordinaryEnvironment()
	}
	if spec.Digest == "" {
		spec.Digest = manifest.Digest(encoded)
	}
	switch {
	case options.noManifest:
		spec.Manifest = ""
	case options.fifo != "":
		spec.Manifest = options.fifo
	default:
		writeFile(t, spec.Manifest, encoded, 0o644)
	}
	c := &container{
		t: t, output: &buffer{}, errors: &buffer{},
		message: message, digest: spec.Digest, patience: max(options.patience, patience),
	}
	c.start(spec, options)
	return c
}

func (c *container) start(spec containerSpec, options containerOptions) {
	c.t.Helper()
	encoded, err := json.Marshal(spec)
	if err != nil {
		c.t.Fatal(err)
	}
	c.command = exec.Command(spec.Agent)
	c.command.Env = []string{containerVariable + "=" + string(encoded)}
	c.command.Stdout, c.command.Stderr = c.output, c.errors
	c.command.SysProcAttr = namespaces()
	c.command.ExtraFiles = options.files
	if terminal := options.terminal; terminal != nil {
		c.command.Stdin, c.command.Stdout, c.command.Stderr = terminal, terminal, terminal
		c.command.SysProcAttr.Setctty = true
	}
	if err := c.command.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.once = sync.OnceValue(c.command.Wait)
	c.t.Cleanup(func() {
		_ = c.command.Process.Kill()
		_ = c.once()
	})
}

// namespaces are those of a container. A user who isn't root needs one more.
// The session is the container's own, or what signals its process group would
// signal other containers.
func namespaces() *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWIPC,
		Pdeathsig:  syscall.SIGKILL, Setsid: true,
	}
	if os.Geteuid() != 0 {
		attributes.Cloneflags |= syscall.CLONE_NEWUSER
		attributes.UidMappings = []syscall.SysProcIDMap{{ContainerID: sandboxUser, HostID: os.Geteuid(), Size: 1}}
		attributes.GidMappings = []syscall.SysProcIDMap{{ContainerID: sandboxUser, HostID: os.Getegid(), Size: 1}}
		attributes.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SYS_CHROOT, unix.CAP_SETPCAP}
	}
	return attributes
}

// wait returns the exit code of the container.
func (c *container) wait() int {
	c.t.Helper()
	done := make(chan error, 1)
	go func() { done <- c.once() }()
	select {
	case err := <-done:
		if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
			c.t.Fatal(err)
		}
	case <-time.After(c.patience):
		c.t.Fatalf("the container still runs; output:\n%s\nerrors:\n%s", c.output, c.errors)
	}
	return c.command.ProcessState.ExitCode()
}

// wantEnd waits for the end and compares it.
func (c *container) wantEnd(exitCode int, result manifest.RunResult) {
	c.t.Helper()
	if got := c.wait(); got != exitCode {
		c.t.Errorf("exit code %d, want %d; errors:\n%s", got, exitCode, c.errors)
	}
	content, err := os.ReadFile(c.message)
	if err != nil {
		c.t.Fatal(err)
	}
	got, err := manifest.DecodeResult[manifest.RunResult](string(content))
	if err != nil {
		c.t.Fatalf("%v: %q", err, content)
	}
	if diff := cmp.Diff(result, got); diff != "" {
		c.t.Errorf("the result differs (-want +got):\n%s", diff)
	}
}

// signal sends process 1 of the container a signal.
func (c *container) signal(number syscall.Signal) {
	c.t.Helper()
	if err := c.command.Process.Signal(number); err != nil {
		c.t.Fatal(err)
	}
}

// awaitOutput waits until the agent has printed a text.
func (c *container) awaitOutput(text string) {
	c.t.Helper()
	await(c.t, func() bool { return strings.Contains(c.output.String(), text) }, func() string {
		return "output " + strconv.Quote(text) + "; output:\n" + c.output.String() + "\nerrors:\n" + c.errors.String()
	})
}

// enter runs a program in the running container, as an exec probe does.
func (c *container) enter(arguments ...string) (output string, exitCode int) {
	c.t.Helper()
	command := c.entering(arguments...)
	combined, err := command.CombinedOutput()
	if command.ProcessState == nil {
		c.t.Fatal(err)
	}
	return string(combined), command.ProcessState.ExitCode()
}

// entering returns a command that runs in the container.
func (c *container) entering(arguments ...string) *exec.Cmd {
	into := []string{"--target", strconv.Itoa(c.command.Process.Pid), "--mount", "--pid", "--root", "--wd"}
	if os.Geteuid() != 0 {
		into = append(into, "--user", "--preserve-credentials")
	} else {
		into = append(into, "--setgid", strconv.Itoa(sandboxUser), "--setuid", strconv.Itoa(sandboxUser))
	}
	return exec.CommandContext(c.t.Context(), "nsenter", append(append(into, "--"), arguments...)...)
}

// await waits for a condition.
func await(t *testing.T, reached func() bool, missing func() string) {
	t.Helper()
	for deadline := time.Now().Add(patience); !reached(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", missing())
		}
	}
}

// buffer collects output while others read it.
type buffer struct {
	lock    sync.Mutex
	content bytes.Buffer
}

func (b *buffer) Write(data []byte) (int, error) {
	b.lock.Lock()
	defer b.lock.Unlock()
	return b.content.Write(data)
}

func (b *buffer) String() string {
	b.lock.Lock()
	defer b.lock.Unlock()
	return b.content.String()
}

// sharedFolder returns a temporary folder that other users may enter.
func sharedFolder(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for _, f := range []string{folder, filepath.Dir(folder)} {
		if err := os.Chmod(f, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// writeFile makes a file with exactly the given mode.
func writeFile(t *testing.T, path string, content []byte, mode os.FileMode) {
	t.Helper()
	if err := errors.Join(os.WriteFile(path, content, 0o600), os.Chmod(path, mode)); err != nil {
		t.Fatal(err)
	}
}

func ownPath(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}
