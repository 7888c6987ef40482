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
	"syscall"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

const (
	// containerVariable makes the test binary turn itself into a container.
	containerVariable = "ORCA_TEST_CONTAINER"
	// sandboxUser is the uid and gid of a sandbox.
	sandboxUser = 1000
	// openFiles is the limit that a container sets, to see it arrive unchanged.
	openFiles = 512
	// agentProgram is where the test binary is in a container.
	agentProgram = "/opt/agent"
)

// containerSpec is what a container is made from. Paths are the host's.
type containerSpec struct {
	Root, Manifest, Message, Binary, Agent string
	Digest                                 string
	Environment                            []string
	Script                                 string
	// Without are the numbers of system calls that the kernel shall not have.
	Without []uint32
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
	steps := []func(containerSpec) error{makeRoot, mountSystem, mountDevices, mountSandbox, changeRoot, runScript, dropPrivileges, loseCalls}
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
	for _, folder := range []string{"proc", "dev/pts", "opt", "tmp", "workspace", "mnt/session/outputs", "orca/bin", "orca/manifest"} {
		if err := os.MkdirAll(filepath.Join(spec.Root, folder), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// mountSystem shows the host's programs and libraries.
func mountSystem(spec containerSpec) error {
	for _, name := range []string{"bin", "sbin", "lib", "lib32", "lib64", "usr"} {
		target := filepath.Join(spec.Root, name)
		link, err := os.Readlink("/" + name)
		switch {
		case err == nil:
			err = os.Symlink(link, target)
		case errors.Is(err, os.ErrNotExist):
			continue
		default:
			err = errors.Join(os.Mkdir(target, 0o755), unix.Mount("/"+name, target, "", unix.MS_BIND|unix.MS_REC, ""))
		}
		if err != nil {
			return fmt.Errorf("showing /%s: %w", name, err)
		}
	}
	return nil
}

func mountDevices(spec containerSpec) error {
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		if err := bindFile("/dev/"+name, filepath.Join(spec.Root, "dev", name)); err != nil {
			return err
		}
	}
	terminals := filepath.Join(spec.Root, "dev/pts")
	if err := unix.Mount("devpts", terminals, "devpts", 0, "newinstance,ptmxmode=0666,mode=0620"); err != nil {
		return fmt.Errorf("mounting the terminals: %w", err)
	}
	if err := os.Symlink("pts/ptmx", filepath.Join(spec.Root, "dev/ptmx")); err != nil {
		return err
	}
	return bindFile(spec.Message, filepath.Join(spec.Root, "dev/termination-log"))
}

// mountSandbox mounts what belongs to this sandbox.
func mountSandbox(spec containerSpec) error {
	if err := unix.Mount("proc", filepath.Join(spec.Root, "proc"), "proc", 0, ""); err != nil {
		return fmt.Errorf("mounting /proc: %w", err)
	}
	if err := unix.Mount("tmp", filepath.Join(spec.Root, "tmp"), "tmpfs", 0, "mode=1777"); err != nil {
		return fmt.Errorf("mounting /tmp: %w", err)
	}
	if err := unix.Mount("outputs", filepath.Join(spec.Root, "mnt/session/outputs"), "tmpfs", 0, "mode=0777"); err != nil {
		return fmt.Errorf("mounting the outputs: %w", err)
	}
	if spec.Manifest != "" {
		if err := bindFile(spec.Manifest, filepath.Join(spec.Root, "orca/manifest/sandbox.json")); err != nil {
			return err
		}
	}
	return errors.Join(
		bindFile(spec.Binary, filepath.Join(spec.Root, "orca/bin/orca-sandbox")),
		bindFile(spec.Agent, filepath.Join(spec.Root, agentProgram)),
	)
}

func bindFile(source, target string) error {
	if err := os.WriteFile(target, nil, 0o644); err != nil {
		return err
	}
	if err := unix.Mount(source, target, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("showing %s: %w", source, err)
	}
	return nil
}

func changeRoot(spec containerSpec) error {
	return errors.Join(syscall.Chroot(spec.Root), os.Chdir("/"))
}

func runScript(spec containerSpec) error {
	if spec.Script == "" {
		return nil
	}
	command := exec.Command("/bin/sh", "-ec", spec.Script)
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
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	defer endWithParent()
	if !spec.Privileged {
		return unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	}
	// As container runtimes do. What isn't a pipe may be the host's.
	for stream := range 3 {
		var status syscall.Stat_t
		if err := syscall.Fstat(stream, &status); err != nil || status.Mode&syscall.S_IFMT != syscall.S_IFIFO {
			continue
		}
		if err := syscall.Fchown(stream, sandboxUser, sandboxUser); err != nil {
			return err
		}
	}
	return errors.Join(syscall.Setgroups(nil), syscall.Setgid(sandboxUser), syscall.Setuid(sandboxUser))
}

// loseCalls makes the kernel one that doesn't have some system calls.
func loseCalls(spec containerSpec) error {
	if len(spec.Without) == 0 {
		return nil
	}
	program := []bpf.Instruction{bpf.LoadAbsolute{Off: 0, Size: 4}}
	for _, number := range spec.Without {
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
