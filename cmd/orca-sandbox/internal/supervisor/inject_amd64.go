// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"errors"
	"fmt"
	"math"
	"time"

	"golang.org/x/sys/unix"
)

// Making a caller write: it is seized while its call waits for an answer, and
// stopped when the call is over and before it goes on in its own program.
// There it makes a few calls more, in a page of memory of their own, with all
// signals blocked; then its registers and its signal mask are put back. It can
// tell only by the time that has passed.
//
// A caller may work against this, with other threads of its. So no wait is
// without an end, nothing is held that others wait for, and none of the calls
// can be made to wait by what descriptor 2 is open on.

const (
	// lineLimit is how long a line may take, from the answer to the end of the
	// caller's calls.
	lineLimit = time.Second
	// restoreLimit is how long a caller may then take to be found stopped, which
	// it must be to get its registers back. One that is stuck in the kernel for
	// longer goes on without: it must have changed its own descriptor to one that
	// leads to a server which is gone.
	restoreLimit = 10 * time.Second

	// Results in this range mean that the kernel is going to start the call again.
	firstRestart, lastRestart = 512, 516
)

// canInject reports whether a caller can be made to write to its standard
// error. A file must be on a local mount; one that may not grow any more would
// cost the caller its life.
func canInject(caller task, to stream, local Mounts) bool {
	if to.fileType == unix.S_IFSOCK {
		return true
	}
	var limit unix.Rlimit
	err := unix.Prlimit(int(caller), unix.RLIMIT_FSIZE, nil, &limit)
	return err == nil && limit.Cur == math.MaxUint64 && local[to.mount]
}

// injectLine has a caller write a text to its standard error. It calls proceed
// when the caller's own call may go on, and once in any case; that reports
// whether the caller still waited. injectLine must be called on a thread of its
// own that ends afterwards.
func injectLine(caller task, to stream, text []byte, proceed func() bool) error {
	seized := tracee(caller)
	err := seized.seize()
	if waited := proceed(); !waited {
		return nil
	}
	if err != nil {
		return err
	}
	deadline := time.Now().Add(lineLimit)
	stopped, err := seized.await(deadline)
	switch {
	case err != nil:
		return ignoreGone(err)
	case !stopped.asked():
		// A signal for the caller, which must get it.
		_ = seized.let(stopped.signal)
		return fmt.Errorf("the caller stopped for signal %d", stopped.signal)
	}
	err = seized.visit(to, text, deadline)
	gone := seized.let(0)
	if errors.Is(err, errSlow) {
		return err
	}
	// Whatever failed in a caller that was killed, it isn't missed.
	if gone != nil {
		return ignoreGone(gone)
	}
	return ignoreGone(err)
}

func ignoreGone(err error) error {
	if errors.Is(err, errGone) || errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}

// visit has the stopped caller write a text, and leaves it as it found it. It
// does nothing if the caller's call has succeeded.
func (t tracee) visit(to stream, text []byte, deadline time.Time) error {
	var before unix.PtraceRegs
	if err := unix.PtraceGetRegs(int(t), &before); err != nil {
		return fmt.Errorf("reading the caller's registers: %w", err)
	}
	if !wasRefused(int64(before.Rax)) {
		return nil
	}
	if !t.isAfterSyscall(before.Rip) {
		return errors.New("the caller made its call in an unknown way")
	}
	if lookAt(task(t)) != to {
		return errUnreachable // Another thread of its has changed it.
	}
	mask, err := t.blockSignals()
	if err != nil {
		return err
	}
	err = t.write(before, to, text, deadline)
	return errors.Join(err, t.restore(before, mask))
}

// wasRefused reports whether a call's result is an error for its caller.
func wasRefused(result int64) bool {
	restarts := result <= -firstRestart && result >= -lastRestart
	return result < 0 && result >= -maxErrno && !restarts
}

// restore puts back the caller's registers and signal mask, wherever its own
// calls have got it.
func (t tracee) restore(before unix.PtraceRegs, mask uint64) error {
	if _, err := t.await(time.Now().Add(restoreLimit)); err != nil {
		return err
	}
	before.Orig_rax = ^uint64(0) // Its call is over, not to be started again.
	return errors.Join(unix.PtraceSetRegs(int(t), &before), t.setMask(mask))
}

// write makes the caller's calls.
func (t tracee) write(before unix.PtraceRegs, to stream, text []byte, deadline time.Time) error {
	const (
		protection = unix.PROT_READ | unix.PROT_WRITE
		mapping    = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS
	)
	call := func(number uint64, arguments ...uint64) (uint64, error) {
		return t.call(before, deadline, number, arguments...)
	}
	page, err := call(unix.SYS_MMAP, 0, maxLine, protection, mapping, ^uint64(0), 0)
	if err != nil {
		return fmt.Errorf("the caller has no memory: %w", err)
	}
	if _, err = unix.PtracePokeData(int(t), uintptr(page), text); err != nil {
		err = fmt.Errorf("giving the caller the text: %w", err)
	} else {
		err = send(call, to, page, uint64(len(text)))
	}
	if errors.Is(err, errSlow) || errors.Is(err, errGone) {
		return err
	}
	_, unmapErr := call(unix.SYS_MUNMAP, page, maxLine)
	return errors.Join(err, unmapErr)
}

// send writes to standard error by calls that return at once or fail if that
// isn't what it was. In a file the place for the text is taken first and then
// filled, for a plain write would wait for the reader of a pipe.
func send(call func(uint64, ...uint64) (uint64, error), to stream, text, size uint64) error {
	if to.fileType == unix.S_IFSOCK {
		_, err := call(unix.SYS_SENDTO, standardError, text, size, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
		return ignoreFull(err)
	}
	if to.flags&unix.O_APPEND != 0 {
		_, err := call(unix.SYS_PWRITE64, standardError, text, size, 0)
		return err
	}
	end, err := call(unix.SYS_LSEEK, standardError, size, unix.SEEK_CUR)
	if err != nil {
		return err
	}
	if _, err = call(unix.SYS_PWRITE64, standardError, text, size, end-size); err != nil {
		_, back := call(unix.SYS_LSEEK, standardError, -size, unix.SEEK_CUR)
		return errors.Join(err, back)
	}
	return nil
}
