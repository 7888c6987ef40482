// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/orca-agent-engine/orca-operator/controllers/layout"
)

const (
	// containerVariable makes the test binary turn itself into a container.
	containerVariable = "ORCA_TEST_CONTAINER"
	// sandboxUser is the uid and gid of a sandbox.
	sandboxUser = 1000
	// openFiles is the limit that a container sets, to see it arrive unchanged.
	openFiles = 512
	// pipeSize is what a container's streams hold, in bytes.
	pipeSize = 1 << 20
	// agentProgram is where the test binary is in a container.
	agentProgram = "/opt/agent"
)

// containerSpec is what a container is made from. Paths are the host's.
type containerSpec struct {
	Root, Sealed, Manifest, Message, Binary, Agent string
	Digest                                         string
	Environment                                    []string
	Image, Script                                  string
	WritableImage, NewPrivileges                   bool
	SealedDirectories, Without                     []string
	Mounts                                         []containerMount
	// Bound are the capabilities that the container may have after all.
	Bound []uintptr
	// Lost are the numbers of system calls that the kernel shall not have.
	Lost []uint32
	// Privileged tells that the container is made by the host's root, who has to
	// become the sandbox's user. Others are that user already.
	Privileged bool
}

// enterContainer makes a container around the calling process, which is
// process 1 of new namespaces, and becomes the launcher in it. It returns only
// if that fails.
func enterContainer(encoded string) error {
	runtime.LockOSThread() // no_new_privs is a thread's.
	var spec containerSpec
	if err := json.Unmarshal([]byte(encoded), &spec); err != nil {
		return err
	}
	steps := []func(containerSpec) error{
		makeRoot, changeImage, makeSealed, mountSystem, mountAll, closeRoot, changeRoot, runScript, dropPrivileges, loseCalls,
	}
	for _, step := range steps {
		if err := step(spec); err != nil {
			return err
		}
	}
	arguments := []string{"orca-sandbox", "run", "--manifest=/orca/manifest/sandbox.json", "--manifest-digest=" + spec.Digest}
	return syscall.Exec("/orca/bin/orca-sandbox", arguments, spec.Environment)
}

// makeRoot makes an empty root, of which nothing shows on the host.
func makeRoot(spec containerSpec) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keeping mounts apart: %w", err)
	}
	if err := os.Mkdir(spec.Root, 0o755); err != nil {
		return err
	}
	if err := unix.Mount("root", spec.Root, "tmpfs", 0, "mode=0755"); err != nil {
		return fmt.Errorf("mounting the root: %w", err)
	}
	return nil
}

// changeImage lets a script change the root before anything is mounted there.
func changeImage(spec containerSpec) error {
	return shellIn(spec.Root, spec.Image)
}

// makeSealed makes the sealed tree, as setup does.
func makeSealed(spec containerSpec) error {
	if err := os.Mkdir(spec.Sealed, 0o755); err != nil {
		return err
	}
	if err := unix.Mount("sealed", spec.Sealed, "tmpfs", 0, "mode=0755"); err != nil {
		return fmt.Errorf("mounting the sealed tree: %w", err)
	}
	for _, path := range append(layout.SealedDirectories(true), spec.SealedDirectories...) {
		if err := os.MkdirAll(spec.Sealed+path, 0o777); err != nil {
			return err
		}
		// Its modes leave it to the mount to refuse writing.
		if err := os.Chmod(spec.Sealed+path, 0o777); err != nil {
			return err
		}
	}
	hosts := spec.Sealed + layout.Hosts
	return errors.Join(makeFile(hosts), os.Chmod(hosts, 0o666))
}

// mountSystem shows the host's programs and libraries.
func mountSystem(spec containerSpec) error {
	for _, name := range []string{"bin", "sbin", "lib", "lib32", "lib64", "usr"} {
		link, err := os.Readlink("/" + name)
		switch {
		case err == nil:
			err = os.Symlink(link, filepath.Join(spec.Root, name))
		case errors.Is(err, os.ErrNotExist):
			continue
		default:
			err = containerMount{Target: "/" + name, Bind: "/" + name, ReadOnly: true}.mount(spec.Root)
		}
		if err != nil {
			return fmt.Errorf("showing /%s: %w", name, err)
		}
	}
	return nil
}

// closeRoot makes the image read-only. What root owns in a real container is
// the sandbox's user's own here where the host's root isn't there to help.
func closeRoot(spec containerSpec) error {
	if !spec.Privileged {
		for _, path := range []string{"/dev", "/sys/fs/cgroup"} {
			if err := os.Chmod(spec.Root+path, 0o555); err != nil {
				return err
			}
		}
	}
	if spec.WritableImage {
		return nil
	}
	return makeReadOnly(spec.Root, 0)
}

// changeRoot leaves the host's mounts behind. Without them the kernel lets the
// sandbox's user make user namespaces, as it does in a real container.
func changeRoot(spec containerSpec) error {
	if err := os.Chdir(spec.Root); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("changing the root: %w", err)
	}
	// The old root lies over the new one.
	return unix.Unmount(".", unix.MNT_DETACH)
}

func runScript(spec containerSpec) error {
	return shellIn("/", spec.Script)
}

func shellIn(folder, script string) error {
	if script == "" {
		return nil
	}
	command := exec.Command("/bin/sh", "-ec", script)
	command.Dir = folder
	command.Stderr = os.Stderr
	return command.Run()
}

// dropPrivileges leaves a process what a restricted pod has.
func dropPrivileges(spec containerSpec) error {
	if err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return err
	}
	limit := syscall.Rlimit{Cur: openFiles, Max: 2 * openFiles}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	if !spec.NewPrivileges {
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return err
		}
	}
	defer endWithParent()
	if err := dropCapabilities(spec.Bound); err != nil {
		return err
	}
	if !spec.Privileged {
		var none [2]unix.CapUserData
		return unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0])
	}
	// As container runtimes do. What isn't a pipe may be the host's. A test that
	// is slow to read must find every line: what doesn't fit is left out.
	for stream := range 3 {
		var status syscall.Stat_t
		if err := syscall.Fstat(stream, &status); err != nil || status.Mode&syscall.S_IFMT != syscall.S_IFIFO {
			continue
		}
		if err := syscall.Fchown(stream, sandboxUser, sandboxUser); err != nil {
			return err
		}
		if _, err := unix.FcntlInt(uintptr(stream), unix.F_SETPIPE_SZ, pipeSize); err != nil {
			return err
		}
	}
	return errors.Join(syscall.Setgroups(nil), syscall.Setgid(sandboxUser), syscall.Setuid(sandboxUser))
}

// dropCapabilities takes all of them, but for those to leave in the bounding
// set.
func dropCapabilities(left []uintptr) error {
	for capability := range uintptr(unix.CAP_LAST_CAP + 1) {
		if slices.Contains(left, capability) {
			continue
		}
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0); err != nil {
			return fmt.Errorf("dropping capability %d: %w", capability, err)
		}
	}
	return nil
}

// loseCalls makes the kernel one that doesn't have some system calls.
func loseCalls(spec containerSpec) error {
	if len(spec.Lost) == 0 {
		return nil
	}
	program := []bpf.Instruction{bpf.LoadAbsolute{Off: 0, Size: 4}}
	for _, number := range spec.Lost {
		program = append(program,
			bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: number, SkipTrue: 1},
			bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)})
	}
	raw, err := bpf.Assemble(append(program, bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}))
	if err != nil {
		return err
	}
	filter := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		filter[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return errno
	}
	return nil
}

// endWithParent keeps the container from outliving tests that were killed. A
// change of user has undone what was asked for before.
func endWithParent() { _ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL), 0, 0, 0) }
