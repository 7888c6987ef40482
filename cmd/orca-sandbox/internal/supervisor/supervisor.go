// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package supervisor explains refused writes to those who tried them. It hears
// of every call with which a program of the sandbox asks to write, always lets
// the kernel decide, and when the kernel is going to refuse because of the
// sandbox's policy it writes the contract's line to the caller's standard
// error.
//
// It enforces nothing, and so needn't be told the truth: a program that
// changes a name between the supervisor's look and the kernel's deceives
// itself about the message alone.
package supervisor

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/writes"
)

const (
	// slow is how long a call may keep a receiver before another takes over:
	// a name can lead into a file system that has stopped answering.
	slow = 5 * time.Millisecond
	// maxReceivers bounds how many can be kept at the same time. While that many
	// are, calls proceed without a look.
	maxReceivers = 256
	// maxInjections bounds how many callers are made to write at the same time.
	maxInjections = 64
)

// Supervisor serves the calls of one listener.
type Supervisor struct {
	listener  listener
	judge     judge
	log       *log
	injecting chan struct{}
	// filters is how many seccomp filters a supervised program has of the
	// sandbox's; one with more may not survive a call that it doesn't make itself.
	filters   int
	receivers atomic.Int32
}

// New prepares a supervisor. Whoever collects the children of the launcher also
// sees callers stop that are made to write, and has to pass over that.
func New(mounts Mounts) (*Supervisor, error) {
	resolver, err := newResolver(mounts)
	if err != nil {
		return nil, fmt.Errorf("opening the root: %w", err)
	}
	local, err := localMounts()
	if err != nil {
		return nil, err
	}
	deviceMount, err := mountOf(devices)
	if err != nil {
		return nil, fmt.Errorf("looking at %s: %w", devices, err)
	}
	machine, _ := writes.Native() // Without, there is no listener either.
	return &Supervisor{
		judge:     judge{available(machine.ByNumber()), mounts, resolver, local, deviceMount},
		log:       newLog(),
		injecting: make(chan struct{}, maxInjections),
		filters:   filterCount(task(os.Getpid())) + 1,
	}, nil
}

// Start begins to serve a listener, which the supervisor takes over.
func (s *Supervisor) Start(file *os.File) {
	s.listener = newListener(file)
	s.addReceiver()
}

// Quieten gives up the supervisor's own standard error, which has become
// /dev/null: others may wait for the stream to be closed.
func (s *Supervisor) Quieten() { s.log.quieten() }

// AwaitEnd returns when the last supervised process has ended.
func (s *Supervisor) AwaitEnd() { s.listener.awaitEnd() }

func (s *Supervisor) addReceiver() {
	s.receivers.Add(1)
	go s.receive()
}

// The states of a receiver.
const (
	idle int32 = iota
	busy
	replaced
)

// receive serves calls one after the other, on one thread: the kernel hands
// over to it fastest. It ends when another has taken over.
func (s *Supervisor) receive() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer s.receivers.Add(-1)
	var state atomic.Int32
	takeOver := time.AfterFunc(slow, func() {
		if state.CompareAndSwap(busy, replaced) {
			s.addReceiver()
		}
	})
	buffer := new([pathSize]byte)
	for {
		n, err := s.listener.receive()
		if err != nil {
			return
		}
		if s.receivers.Load() > maxReceivers {
			s.listener.proceed(n)
			continue
		}
		state.Store(busy)
		takeOver.Reset(slow)
		s.serve(n, buffer)
		takeOver.Stop()
		if !state.CompareAndSwap(busy, idle) {
			return
		}
	}
}

// serve looks at a call and lets it proceed.
func (s *Supervisor) serve(n notification, buffer *[pathSize]byte) {
	path, refused := s.judge.refused(n, buffer)
	if !refused {
		s.listener.proceed(n)
		return
	}
	text := line(path)
	if s.tell(n, text) {
		s.listener.proceed(n)
	}
}

// tell writes a line to the caller's standard error. It reports false if the
// caller itself has to do it; whoever makes it lets the call proceed.
func (s *Supervisor) tell(n notification, text []byte) bool {
	caller := task(n.TID)
	found := lookAt(caller)
	switch channelOf(found) {
	case reopened:
		fd, err := reopen(caller)
		if errors.Is(err, unix.EACCES) && found.fileType == unix.S_IFREG {
			return !s.inject(n, found, text)
		}
		if err != nil {
			s.instead(n, ignoreFull(err), text)
			return true
		}
		defer closeDescriptor(fd)
		if s.listener.waits(n) {
			s.log.instead(write(fd, text), text)
		}
	case shared:
		if s.listener.waits(n) {
			s.log.instead(writeShared(found, text), text)
		}
	case theirs:
		return !s.inject(n, found, text)
	}
	return true
}

// inject has the caller write the line. It reports false if it can't.
func (s *Supervisor) inject(n notification, to stream, text []byte) bool {
	caller := task(n.TID)
	if filterCount(caller) != s.filters || !canInject(caller, to, s.judge.local) {
		s.instead(n, errUnreachable, text)
		return false
	}
	select {
	case s.injecting <- struct{}{}:
	default:
		s.instead(n, errUnreachable, text)
		return false
	}
	go func() {
		// Never unlocked: the thread ends with the goroutine, and the kernel lets
		// go of whatever it still traces.
		runtime.LockOSThread()
		defer func() { <-s.injecting }()
		err := injectLine(caller, to, text, func() bool {
			waited := s.listener.waits(n)
			s.listener.proceed(n)
			return waited
		})
		s.log.instead(err, text)
	}()
	return true
}

// instead writes a line to the log if an error kept it from its caller, unless
// the caller doesn't wait any more: it was killed then, and nobody is to know.
func (s *Supervisor) instead(n notification, err error, text []byte) {
	if err != nil && s.listener.waits(n) {
		s.log.instead(err, text)
	}
}
