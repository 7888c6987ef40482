// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"errors"
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	getSignalInfo = 0x4202 // PTRACE_GETSIGINFO
	getSignalMask = 0x420a // PTRACE_GETSIGMASK
	setSignalMask = 0x420b // PTRACE_SETSIGMASK
	maskSize      = 8

	// syscallInstruction is what makes a call, and its size.
	syscallInstruction = 0x050f
	syscallSize        = 2

	// maxErrno bounds the values that system calls return for an error.
	maxErrno = 4095

	// childDumped is the last si_code of a child's end: CLD_DUMPED.
	childDumped = 3

	// stopPoll is how often it is looked whether a caller has stopped, after
	// the first eagerPolls times.
	stopPoll   = 20 * time.Microsecond
	eagerPolls = 50
	// prodAfter is how long a caller may run before it is asked to stop again.
	prodAfter = 10 * time.Millisecond
)

var (
	errGone = errors.New("the caller has ended")
	errSlow = errors.New("the caller takes too long")
)

// tracee is a caller that is traced by the calling thread.
type tracee int

// stop is why a caller has stopped: what the signal says that it stopped with.
type stop struct{ signal, code int32 }

// asked reports whether it was asked to; the stop of its whole process counts.
func (s stop) asked() bool { return s.code>>8 == unix.PTRACE_EVENT_STOP }

// atCall reports whether it stopped at a system call's begin or end.
func (s stop) atCall() bool { return s.code == int32(unix.SIGTRAP)|0x80 }

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
	if err := t.interrupt(); err != nil {
		return fmt.Errorf("interrupting the caller: %w", err)
	}
	return nil
}

// interrupt asks the caller to stop, and out of a call that waits. It fails if
// the calling thread doesn't trace the caller any more.
func (t tracee) interrupt() error { return t.request(unix.PTRACE_INTERRUPT, 0, 0) }

// let ends the tracing of a stopped caller, with a signal for it or with 0.
func (t tracee) let(signal int32) error {
	return t.request(unix.PTRACE_DETACH, 0, uintptr(signal))
}

// await returns when the caller has stopped. It doesn't wait for children but
// asks for what only a stopped caller has: a caller can vanish without a
// report when another of its threads executes a program, and who collects
// children takes no stop away.
func (t tracee) await(deadline time.Time) (stop, error) {
	prod := time.Now().Add(prodAfter)
	for round := 0; ; round++ {
		var info unix.Siginfo
		err := t.request(getSignalInfo, 0, uintptr(unsafe.Pointer(&info)))
		if err == nil {
			return stop{info.Signo, info.Code}, nil
		}
		now := time.Now()
		switch {
		case !errors.Is(err, unix.ESRCH):
			return stop{}, err
		case now.After(deadline):
			return stop{}, errSlow
		case now.After(prod):
			if t.interrupt() != nil || t.hasEnded() {
				return stop{}, errGone
			}
			prod = now.Add(prodAfter)
		}
		if round < eagerPolls {
			_, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
		} else {
			time.Sleep(stopPoll)
		}
	}
}

// hasEnded reports whether the caller was killed. Its end is left to be
// collected by whoever collects children.
func (t tracee) hasEnded() bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, int(t), &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT|unix.WALL, nil)
	return errors.Is(err, unix.ECHILD) || err == nil && info.Signo != 0 && info.Code <= childDumped
}

// awaitCall lets the caller go on to the begin or the end of its next call.
func (t tracee) awaitCall(deadline time.Time) error {
	for signal := 0; ; {
		if err := unix.PtraceSyscall(int(t), signal); err != nil {
			return err
		}
		stopped, err := t.await(deadline)
		switch {
		case err != nil:
			return err
		case stopped.atCall():
			return nil
		}
		signal = int(stopped.signal)
		if stopped.asked() {
			signal = 0
		}
	}
}

// call has the caller make a system call and returns its result.
func (t tracee) call(before unix.PtraceRegs, deadline time.Time, number uint64, arguments ...uint64) (uint64, error) {
	registers := before
	registers.Rip -= syscallSize
	registers.Rax, registers.Orig_rax = number, ^uint64(0)
	for i, register := range []*uint64{
		&registers.Rdi, &registers.Rsi, &registers.Rdx, &registers.R10, &registers.R8, &registers.R9,
	} {
		*register = 0
		if i < len(arguments) {
			*register = arguments[i]
		}
	}
	if err := unix.PtraceSetRegs(int(t), &registers); err != nil {
		return 0, err
	}
	for range 2 { // At the call's begin, and at its end.
		if err := t.awaitCall(deadline); err != nil {
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

// isAfterSyscall reports whether the caller made its call in the usual way.
func (t tracee) isAfterSyscall(instruction uint64) bool {
	var code [syscallSize]byte
	count, err := unix.PtracePeekText(int(t), uintptr(instruction-syscallSize), code[:])
	return err == nil && count == syscallSize && uint16(code[0])|uint16(code[1])<<8 == syscallInstruction
}

// blockSignals returns the caller's signal mask after all signals that can be
// are blocked.
func (t tracee) blockSignals() (uint64, error) {
	var mask uint64
	if err := t.request(getSignalMask, maskSize, uintptr(unsafe.Pointer(&mask))); err != nil {
		return 0, fmt.Errorf("reading the caller's signal mask: %w", err)
	}
	if err := t.setMask(^uint64(0)); err != nil {
		return 0, fmt.Errorf("blocking the caller's signals: %w", err)
	}
	return mask, nil
}

func (t tracee) setMask(mask uint64) error {
	return t.request(setSignalMask, maskSize, uintptr(unsafe.Pointer(&mask)))
}
