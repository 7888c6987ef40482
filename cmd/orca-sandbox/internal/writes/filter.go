// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package writes

import (
	"fmt"
	"runtime"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Machine is a processor architecture as seccomp knows it.
type Machine struct {
	// Audit is its AUDIT_ARCH value.
	Audit uint32
	// Number returns a call's number, None if the architecture hasn't the call.
	Number func(Call) int
}

// The architectures that calls are listed for.
var (
	AMD64 = Machine{unix.AUDIT_ARCH_X86_64, func(c Call) int { return c.AMD64 }}
	ARM64 = Machine{unix.AUDIT_ARCH_AARCH64, func(c Call) int { return c.ARM64 }}
)

// Native returns the architecture that this program was built for. It reports
// whether its calls are listed.
func Native() (Machine, bool) {
	switch runtime.GOARCH {
	case "amd64":
		return AMD64, true
	case "arm64":
		return ARM64, true
	}
	return Machine{Number: func(Call) int { return None }}, false
}

// ByNumber returns the calls of an architecture by their numbers.
func (m Machine) ByNumber() map[int32]Call {
	calls := map[int32]Call{}
	for _, call := range Calls {
		if number := m.Number(call); number != None {
			calls[int32(number)] = call
		}
	}
	return calls
}

// Offsets of the fields of struct seccomp_data. The architectures are little
// endian: an argument's lower half comes first.
const (
	offsetNumber    = 0
	offsetMachine   = 4
	offsetArguments = 16
	argumentSize    = 8
	wordSize        = 4
)

// writing are the flags of which an open that writes has one at least.
const writing = unix.O_WRONLY | unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC

// Filter returns the seccomp filter that notifies of the listed calls and
// allows everything else. Calls by another architecture's numbers are allowed,
// without a message: the kernel refuses what it must all the same.
func (m Machine) Filter() ([]unix.SockFilter, error) {
	raw, err := bpf.Assemble(m.program())
	if err != nil {
		return nil, fmt.Errorf("assembling the seccomp filter: %w", err)
	}
	filter := make([]unix.SockFilter, len(raw))
	for i, instruction := range raw {
		filter[i] = unix.SockFilter{Code: instruction.Op, Jt: instruction.Jt, Jf: instruction.Jf, K: instruction.K}
	}
	return filter, nil
}

var (
	allow  = bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}
	notify = bpf.RetConstant{Val: unix.SECCOMP_RET_USER_NOTIF}
)

func (m Machine) program() []bpf.Instruction {
	program := []bpf.Instruction{
		bpf.LoadAbsolute{Off: offsetMachine, Size: wordSize},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: m.Audit, SkipTrue: 1},
		allow,
		bpf.LoadAbsolute{Off: offsetNumber, Size: wordSize},
	}
	for _, call := range Calls {
		number := m.Number(call)
		if number == None {
			continue
		}
		verdict := call.verdict()
		skip := bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: uint32(number), SkipTrue: uint8(len(verdict))}
		program = append(append(program, skip), verdict...)
	}
	return append(program, allow)
}

// verdict returns what decides about the call by its arguments.
func (c Call) verdict() []bpf.Instruction {
	switch {
	case c.Kind == Open:
		return []bpf.Instruction{
			loadArgument(c.Flags, 0),
			bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: unix.O_PATH, SkipTrue: 2},
			bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: writing, SkipFalse: 1},
			notify,
			allow,
		}
	case c.NullIsDescriptor:
		return []bpf.Instruction{
			loadArgument(c.Target.Path, 0),
			bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: 0, SkipTrue: 2},
			loadArgument(c.Target.Path, 1),
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0, SkipTrue: 1},
			notify,
			allow,
		}
	case c.Only != nil:
		verdict := []bpf.Instruction{loadArgument(c.Only.Argument, 0)}
		for _, value := range c.Only.List {
			verdict = append(verdict, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: value, SkipTrue: 1}, notify)
		}
		return append(verdict, allow)
	default:
		return []bpf.Instruction{notify}
	}
}

// loadArgument loads the lower half, 0, or the upper half, 1, of an argument.
func loadArgument(argument, half int) bpf.Instruction {
	return bpf.LoadAbsolute{Off: uint32(offsetArguments + argument*argumentSize + half*wordSize), Size: wordSize}
}
