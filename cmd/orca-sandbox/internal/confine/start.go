// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package confine starts a program under the sandbox's write policy: in a
// Landlock domain, and with a seccomp filter that tells a listener of every
// call with which the program asks to write.
//
// Both can only be put on by the process that is going to be confined, so the
// launcher first starts itself again (Enter), and that child confines itself
// and then becomes the program.
package confine

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Subcommand is the launcher's subcommand that calls Enter.
const Subcommand = "confine"

// The descriptors that the child inherits beside the standard streams.
const (
	planFD   = 3
	reportFD = 4
)

// Plan says what is to be started.
type Plan struct {
	// Program is the file to execute.
	Program string
	// Argv and Env are given to it byte for byte.
	Argv, Env []string
	// WritableRoots are the directories at or below which it may write.
	WritableRoots []string
}

// Process is a program that was started. Its execve has succeeded.
type Process struct {
	PID int
	// Landlock tells whether it is in a Landlock domain. The kernel may have none.
	Landlock bool
	// Listener is where its calls can be answered; it is the caller's to close.
	// It is nil if nobody can listen, and Unheard says why.
	Listener *os.File
	Unheard  error
}

// ExecError says that everything was ready and the program couldn't be
// executed.
type ExecError struct{ Errno syscall.Errno }

func (e *ExecError) Error() string { return e.Errno.Error() }

// Unwrap returns what execve returned.
func (e *ExecError) Unwrap() error { return e.Errno }

// report is what the child says when it has confined itself, or can't, and
// once more if it then can't execute the program.
type report struct {
	Failure  string
	Landlock bool
	// Unheard is why there is no listener, 0 if there is one.
	Unheard syscall.Errno
	// Exec is what execve returned.
	Exec syscall.Errno
}

// Start starts a program under the policy. An *ExecError is about the program;
// with any other error the policy couldn't be established.
func Start(plan Plan) (Process, error) {
	conversation, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return Process{}, fmt.Errorf("making a socket: %w", err)
	}
	defer unix.Close(conversation[0])
	pid, err := fork(plan, conversation[1])
	unix.Close(conversation[1])
	if err != nil {
		return Process{}, err
	}
	process, err := converse(conversation[0])
	if err != nil {
		// It says no more than it did, and ends by itself.
		for _, waitErr := unix.Wait4(pid, nil, 0, nil); errors.Is(waitErr, unix.EINTR); {
			_, waitErr = unix.Wait4(pid, nil, 0, nil)
		}
		return Process{}, err
	}
	process.PID = pid
	return process, nil
}

// fork starts the child with its plan and its end of the conversation.
//
// It shares the launcher's session and process group: with a terminal the
// program is in the foreground from the start, so that a shell finds job
// control working. Its environment is empty, because what is meant for the
// program could change how the child itself works. It doesn't outlive the
// launcher, which it couldn't write a file without.
func fork(plan Plan, conversation int) (int, error) {
	file, err := planFile(plan)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	pid, err := syscall.ForkExec("/proc/self/exe", []string{"orca-sandbox", Subcommand}, &syscall.ProcAttr{
		Env:   []string{},
		Files: []uintptr{0, 1, 2, file.Fd(), uintptr(conversation)},
		Sys:   &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return 0, fmt.Errorf("starting the launcher's child: %w", err)
	}
	return pid, nil
}

// planFile returns a file in memory that holds a plan. A pipe would hold only
// so much.
func planFile(plan Plan) (*os.File, error) {
	fd, err := unix.MemfdCreate("plan", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("making a file for the plan: %w", err)
	}
	file := os.NewFile(uintptr(fd), "plan")
	if err := writePlan(file, plan); err != nil {
		file.Close()
		return nil, fmt.Errorf("writing the plan: %w", err)
	}
	return file, nil
}

func writePlan(file *os.File, plan Plan) error {
	if err := gob.NewEncoder(file).Encode(plan); err != nil {
		return err
	}
	_, err := file.Seek(0, 0)
	return err
}

// converse listens to the child until it has become the program.
func converse(conversation int) (Process, error) {
	first, listener, err := receive(conversation)
	switch {
	case err != nil:
		return Process{}, err
	case first == nil:
		return Process{}, errors.New("the launcher's child ended before it had confined itself")
	case first.Failure != "":
		return Process{}, errors.New(first.Failure)
	}
	// The child's end closes when execve succeeds.
	second, _, err := receive(conversation)
	if err == nil && second != nil {
		err = &ExecError{second.Exec}
	}
	if err != nil {
		listener.Close()
		return Process{}, err
	}
	process := Process{Landlock: first.Landlock, Listener: listener}
	if first.Unheard != 0 {
		process.Unheard = first.Unheard
	}
	return process, nil
}

// receive returns what the child says next, nil if it says no more, and the
// listener if it sent one.
func receive(conversation int) (*report, *os.File, error) {
	message, rights := make([]byte, 4096), make([]byte, unix.CmsgSpace(4))
	size, rightsSize, err := receiveMessage(conversation, message, rights)
	if err != nil {
		return nil, nil, fmt.Errorf("listening to the launcher's child: %w", err)
	}
	if size == 0 {
		return nil, nil, nil
	}
	var said report
	if err := gob.NewDecoder(bytes.NewReader(message[:size])).Decode(&said); err != nil {
		return nil, nil, fmt.Errorf("understanding the launcher's child: %w", err)
	}
	listener, err := listenerOf(rights[:rightsSize])
	return &said, listener, err
}

func receiveMessage(conversation int, message, rights []byte) (size, rightsSize int, err error) {
	for {
		size, rightsSize, _, _, err = unix.Recvmsg(conversation, message, rights, unix.MSG_CMSG_CLOEXEC)
		if !errors.Is(err, unix.EINTR) {
			return size, rightsSize, err
		}
	}
}

// listenerOf returns the descriptor that came with a message, nil if none did.
func listenerOf(rights []byte) (*os.File, error) {
	if len(rights) == 0 {
		return nil, nil
	}
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil {
		return nil, fmt.Errorf("receiving the listener: %w", err)
	}
	descriptors, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return nil, fmt.Errorf("receiving the listener: %w", err)
	}
	return os.NewFile(uintptr(descriptors[0]), "listener"), nil
}
