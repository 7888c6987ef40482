// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package gitbox runs a program in a Landlock domain of its own, from which it
// sees the system, and of everything else only what it is given. What runs in
// one box can't read, trace or signal what runs in another.
package gitbox

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"github.com/landlock-lsm/go-landlock/landlock"
	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// Subcommand is the program's subcommand that calls Enter.
const Subcommand = "gitbox"

// running is this very program.
const running = "/proc/self/exe"

// ExitFailed is the exit code of a box that could not be made.
const ExitFailed = 125

// Box is what a program may touch beside the system's own files.
type Box struct {
	// Read are files and folders that it may read and execute.
	Read []string
	// Write are folders that it may write, too.
	Write []string
}

// Command returns the command that runs a program in the box, as the leader of
// a process group of its own, which is killed as a whole when the context ends.
// The caller sets its environment.
func (b Box) Command(ctx context.Context, program string, arguments ...string) *exec.Cmd {
	var flags []string
	for _, path := range b.Read {
		flags = append(flags, "--read="+path)
	}
	for _, path := range b.Write {
		flags = append(flags, "--write="+path)
	}
	flags = append(flags, "--", program)
	command := exec.CommandContext(ctx, running, append([]string{Subcommand}, append(flags, arguments...)...)...)
	command.Args[0] = "orca-sandbox"
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return Kill(command) }
	return command
}

// Kill kills a started command and all that it started.
func Kill(command *exec.Cmd) error {
	return syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
}

// Enter puts this process into the box that its arguments describe and becomes
// the program in it. It returns an exit code if it fails.
func Enter(arguments []string) int {
	box, command, err := parse(arguments)
	if err == nil {
		err = box.enter(command)
	}
	fmt.Fprintln(os.Stderr, "orca-sandbox: entering the box:", err)
	return ExitFailed
}

func parse(arguments []string) (Box, []string, error) {
	var box Box
	flags := flag.NewFlagSet(Subcommand, flag.ContinueOnError)
	flags.Func("read", "a `path` that can be read", appendTo(&box.Read))
	flags.Func("write", "a `folder` that can be written", appendTo(&box.Write))
	if err := flags.Parse(arguments); err != nil {
		return Box{}, nil, err
	}
	if flags.NArg() == 0 {
		return Box{}, nil, fmt.Errorf("a program is required")
	}
	return box, flags.Args(), nil
}

func appendTo(list *[]string) func(string) error {
	return func(value string) error {
		*list = append(*list, value)
		return nil
	}
}

// enter confines this process and executes the command. New files have the
// modes that git gives them, whatever the umask was.
func (b Box) enter(command []string) error {
	program, err := exec.LookPath(command[0])
	if err != nil {
		return err
	}
	rules, err := b.rules()
	if err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("setting no_new_privs: %w", err)
	}
	if err := domain().Restrict(rules...); err != nil {
		return fmt.Errorf("entering the Landlock domain: %w", err)
	}
	syscall.Umask(0o022)
	return syscall.Exec(program, command, os.Environ())
}

// domain is what Landlock governs: files by the rules of ABI 5 and signals,
// which reach nothing outside the box. Kernels that lack some of it give less.
func domain() landlock.Config {
	return landlock.Config{
		HandledAccessFS: landlock.V5.HandledAccessFS,
		Scoped:          landlock.V6.Scoped,
	}.BestEffort()
}

// Supported reports whether the kernel has Landlock as boxes need it: the first
// version of it can't move files from one folder to another.
func Supported() bool {
	version, err := llsys.LandlockGetABIVersion()
	return err == nil && version >= 2
}

// system is what programs need of the system to run, find hosts and check
// certificates. /proc isn't among it.
var system = []string{"/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/etc"}

func (b Box) rules() ([]landlock.Rule, error) {
	rules := []landlock.Rule{
		landlock.RODirs(system...).IgnoreIfMissing(),
		landlock.RWFiles("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom").IgnoreIfMissing(),
		landlock.RWDirs(b.Write...).WithRefer(),
	}
	for _, path := range b.Read {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if info.IsDir() {
			rules = append(rules, landlock.RODirs(path))
		} else {
			rules = append(rules, landlock.ROFiles(path))
		}
	}
	return rules, nil
}
