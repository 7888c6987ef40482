// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"errors"
	"fmt"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Making a caller write: it is seized while its call waits for an answer, and
// stopped when the call is over and before it goes on in its own program.
// There it makes three calls more, in a page of memory of their own, with all
// signals blocked; then its registers and its signal mask are put back. It can
// tell only by the time that has passed.

const (
	getSignalMask = 0x420a // PTRACE_GETSIGMASK
	setSignalMask = 0x420b // PTRACE_SETSIGMASK
	maskSize      = 8

	// stopLimit is how long a call may take that the kernel is about to refuse.
	stopLimit = time.Second
	stopPoll  = 20 * time.Microsecond

	// syscallInstruction is what the caller has just executed, and its size.
	syscallInstruction = 0x050f
	syscallSize        = 2

	// syscallStop marks the signal of a stop at a system call.
	syscallStop = unix.SIGTRAP | 0x80

	// maxErrno bounds the values that system calls return for an error.
	maxErrno = 4095
	// Results in this range mean that the kernel is going to start the call again.
	firstRestart, lastRestart = 512, 516
)

var errGone = errors.New("the caller has ended")

// fileSystems are those whose files take a write at once: a caller that is
// made to write must not be kept by a server.
var fileSystems = map[int64]bool{
	unix.TMPFS_MAGIC: true, unix.EXT4_SUPER_MAGIC: true, unix.XFS_SUPER_MAGIC: true,
	unix.BTRFS_SUPER_MAGIC: true, unix.OVERLAYFS_SUPER_MAGIC: true,
}

// canInject reports whether a caller can be made to write to its standard error.
func canInject(caller task, to stream) bool {
	if to.fileType == unix.S_IFSOCK {
		return true
	}
	var status unix.Statfs_t
	return unix.Statfs(caller.descriptor(standardError), &status) == nil && fileSystems[status.Type]
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
	if err := seized.firstStop(); err != nil {
		return ignoreGone(err)
	}
	return ignoreGone(errors.Join(seized.visit(to, text), seized.let()))
}

func ignoreGone(err error) error {
	if errors.Is(err, errGone) || errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}

// tracee is a caller that is traced by the calling thread.
type tracee int

// request makes a ptrace request.
func (t tracee) request(request int, address, data uintptr) error {
	if _, _, errno := unix.Syscall6(unix.SYS_PTRACE, uintptr(request), uintptr(t), address, data, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// seize begins to trace the caller, and asks it to stop when its call is over.
func (t tracee) seize() error {
	if err := t.request(unix.PTRACE_SEIZE, 0, unix.PTRACE_O_TRACESYSGOOD); err != nil {
		return fmt.Errorf("seizing the caller: %w", err)
	}
	if err := t.request(unix.PTRACE_INTERRUPT, 0, 0); err != nil {
		return fmt.Errorf("interrupting the caller: %w", err)
	}
	return nil
}

// let ends the tracing of a stopped caller.
func (t tracee) let() error { return t.request(unix.PTRACE_DETACH, 0, 0) }

// firstStop waits until the caller's call is over. The stop that was asked for
// comes before any signal is delivered.
func (t tracee) firstStop() error {
	for begin := time.Now(); ; time.Sleep(stopPoll) {
		status, stopped, err := t.wait(unix.WNOHANG)
		switch {
		case err != nil:
			return err
		case !stopped && time.Since(begin) > stopLimit:
			return errors.New("the caller's call takes too long")
		case !stopped:
		case event(status) == unix.PTRACE_EVENT_STOP:
			return nil
		default:
			// A signal for the caller, which must get it.
			_ = t.request(unix.PTRACE_DETACH, 0, uintptr(status.StopSignal()))
			return fmt.Errorf("the caller stopped with status %#x", uint32(status))
		}
	}
}

func event(status unix.WaitStatus) int { return int(status) >> 16 }

// The si_code of a child's stop, as the kernel has it in <asm-generic/siginfo.h>.
const (
	childTrapped = 4
	childStopped = 5
)

// wait returns the caller's next stop. It leaves the end of a caller to be
// collected by whoever waits for all children.
func (t tracee) wait(options int) (status unix.WaitStatus, stopped bool, err error) {
	var info unix.Siginfo
	options |= unix.WSTOPPED | unix.WEXITED | unix.WNOWAIT | unix.WALL
	for {
		err := unix.Waitid(unix.P_PID, int(t), &info, options, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return 0, false, errGone
		case info.Signo == 0:
			return 0, false, nil
		case info.Code != childTrapped && info.Code != childStopped:
			return 0, false, errGone
		}
		if _, err := unix.Wait4(int(t), &status, unix.WALL|unix.WNOHANG, nil); err != nil || !status.Stopped() {
			return 0, false, errGone
		}
		return status, true, nil
	}
}

// visit has the stopped caller write a text, and leaves it as it found it. It
// does nothing if the caller's call has succeeded.
func (t tracee) visit(to stream, text []byte) error {
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
	var mask uint64
	if err := t.request(getSignalMask, maskSize, uintptr(unsafe.Pointer(&mask))); err != nil {
		return fmt.Errorf("reading the caller's signal mask: %w", err)
	}
	blocked := ^uint64(0)
	if err := t.request(setSignalMask, maskSize, uintptr(unsafe.Pointer(&blocked))); err != nil {
		return fmt.Errorf("blocking the caller's signals: %w", err)
	}
	err := t.write(before, to, text)
	runtime.KeepAlive(&blocked)
	restored := before
	restored.Orig_rax = ^uint64(0) // Its call is over, not to be started again.
	return errors.Join(err,
		unix.PtraceSetRegs(int(t), &restored),
		t.request(setSignalMask, maskSize, uintptr(unsafe.Pointer(&mask))))
}

// wasRefused reports whether a call's result is an error for its caller.
func wasRefused(result int64) bool {
	restarts := result <= -firstRestart && result >= -lastRestart
	return result < 0 && result >= -maxErrno && !restarts
}

func (t tracee) isAfterSyscall(instruction uint64) bool {
	var code [syscallSize]byte
	count, err := unix.PtracePeekText(int(t), uintptr(instruction-syscallSize), code[:])
	return err == nil && count == syscallSize && uint16(code[0])|uint16(code[1])<<8 == syscallInstruction
}

// write makes the caller's three calls.
func (t tracee) write(before unix.PtraceRegs, to stream, text []byte) error {
	const (
		protection = unix.PROT_READ | unix.PROT_WRITE
		mapping    = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS
	)
	page, err := t.call(before, unix.SYS_MMAP, 0, maxLine, protection, mapping, ^uint64(0), 0)
	if err != nil {
		return fmt.Errorf("the caller has no memory: %w", err)
	}
	if _, err = unix.PtracePokeData(int(t), uintptr(page), text); err != nil {
		err = fmt.Errorf("giving the caller the text: %w", err)
	} else {
		err = t.send(before, to, page, uint64(len(text)))
	}
	_, unmapErr := t.call(before, unix.SYS_MUNMAP, page, maxLine, 0, 0, 0, 0)
	return errors.Join(err, unmapErr)
}

func (t tracee) send(before unix.PtraceRegs, to stream, text, size uint64) error {
	var err error
	if to.fileType == unix.S_IFSOCK {
		_, err = t.call(before, unix.SYS_SENDTO, standardError, text, size, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
	} else {
		_, err = t.call(before, unix.SYS_WRITE, standardError, text, size, 0, 0, 0)
	}
	return ignoreFull(err)
}

// call has the caller make a system call and returns its result.
func (t tracee) call(before unix.PtraceRegs, number uint64, arguments ...uint64) (uint64, error) {
	registers := before
	registers.Rip -= syscallSize
	registers.Rax, registers.Orig_rax = number, ^uint64(0)
	for i, register := range []*uint64{
		&registers.Rdi, &registers.Rsi, &registers.Rdx, &registers.R10, &registers.R8, &registers.R9,
	} {
		*register = arguments[i]
	}
	if err := unix.PtraceSetRegs(int(t), &registers); err != nil {
		return 0, err
	}
	for range 2 { // At the call's begin, and at its end.
		if err := t.nextSyscallStop(); err != nil {
			return 0, err
		}
	}
	if err := unix.PtraceGetRegs(int(t), &registers); err != nil {
		return 0, err
	}
	if result := int64(registers.Rax); result < 0 && result >= -maxErrno {
		return 0, unix.Errno(-result)
	}
	return registers.Rax, nil
}

func (t tracee) nextSyscallStop() error {
	for {
		if err := unix.PtraceSyscall(int(t), 0); err != nil {
			return err
		}
		status, _, err := t.wait(0)
		if err != nil {
			return err
		}
		if status.StopSignal() == syscallStop {
			return nil
		}
	}
}
