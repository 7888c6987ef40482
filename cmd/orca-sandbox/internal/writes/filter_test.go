// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package writes

import (
	"encoding/binary"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// seccompData returns what the kernel would show a filter. The virtual machine
// of the tests reads big endian words, so each half of an argument is one.
func seccompData(audit uint32, number int, arguments [6]uint64) []byte {
	data := make([]byte, 64)
	binary.BigEndian.PutUint32(data[0:], uint32(number))
	binary.BigEndian.PutUint32(data[4:], audit)
	for i, argument := range arguments {
		binary.BigEndian.PutUint32(data[16+8*i:], uint32(argument))
		binary.BigEndian.PutUint32(data[20+8*i:], uint32(argument>>32))
	}
	return data
}

// machines have, beside the numbers, one that each has and doesn't list: read.
var machines = map[string]struct {
	machine Machine
	read    int
}{"amd64": {AMD64, 0}, "arm64": {ARM64, 63}}

func answer(t *testing.T, machine Machine, data []byte) uint32 {
	t.Helper()
	vm, err := bpf.NewVM(machine.program())
	if err != nil {
		t.Fatal(err)
	}
	got, err := vm.Run(data)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(got)
}

func TestTheFilterNotifiesOfWritesOnly(t *testing.T) {
	t.Parallel()
	const anywhere = 0x7fff_0000_1000
	byName := map[string]Call{}
	for _, call := range Calls {
		byName[call.Name] = call
	}
	for name, tc := range map[string]struct {
		call      string
		arguments [6]uint64
		notified  bool
	}{
		"open to read":                       {"openat", [6]uint64{0, anywhere, unix.O_RDONLY | unix.O_CLOEXEC}, false},
		"open a folder":                      {"openat", [6]uint64{0, anywhere, unix.O_DIRECTORY}, false},
		"open to write":                      {"openat", [6]uint64{0, anywhere, unix.O_WRONLY}, true},
		"open to read and write":             {"openat", [6]uint64{0, anywhere, unix.O_RDWR}, true},
		"open to make":                       {"openat", [6]uint64{0, anywhere, unix.O_CREAT}, true},
		"open to empty":                      {"openat", [6]uint64{0, anywhere, unix.O_TRUNC}, true},
		"open a name only":                   {"openat", [6]uint64{0, anywhere, unix.O_PATH | unix.O_WRONLY}, false},
		"flags beyond 32 bits don't count":   {"openat", [6]uint64{0, anywhere, unix.O_WRONLY << 32}, false},
		"openat2, whose flags are elsewhere": {"openat2", [6]uint64{0, anywhere, 0}, true},
		"utimensat of a name":                {"utimensat", [6]uint64{0, anywhere}, true},
		"utimensat of a high address":        {"utimensat", [6]uint64{0, 1 << 40}, true},
		"utimensat of a descriptor":          {"utimensat", [6]uint64{3, 0}, false},
		"ioctl of the flags":                 {"ioctl", [6]uint64{3, setFlags}, true},
		"ioctl of the attributes":            {"ioctl", [6]uint64{3, setAttributes}, true},
		"ioctl of anything else":             {"ioctl", [6]uint64{3, unix.TCGETS}, false},
		"fchmod":                             {"fchmod", [6]uint64{3}, true},
		"unlinkat":                           {"unlinkat", [6]uint64{}, true},
		"bind, the last of all":              {"bind", [6]uint64{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for arch, m := range machines {
				want := uint32(unix.SECCOMP_RET_ALLOW)
				if tc.notified {
					want = unix.SECCOMP_RET_USER_NOTIF
				}
				data := seccompData(m.machine.Audit, m.machine.Number(byName[tc.call]), tc.arguments)
				if got := answer(t, m.machine, data); got != want {
					t.Errorf("%s: the filter answers %#x, want %#x", arch, got, want)
				}
			}
		})
	}
}

func TestTheFilterNotifiesOfEveryListedCall(t *testing.T) {
	t.Parallel()
	everything := [6]uint64{^uint64(unix.O_PATH), ^uint64(unix.O_PATH), ^uint64(unix.O_PATH), ^uint64(unix.O_PATH)}
	for arch, m := range machines {
		for _, call := range Calls {
			number := m.machine.Number(call)
			if number == None {
				continue
			}
			arguments := everything
			if call.Only != nil {
				arguments[call.Only.Argument] = uint64(call.Only.List[0])
			}
			if got := answer(t, m.machine, seccompData(m.machine.Audit, number, arguments)); got != unix.SECCOMP_RET_USER_NOTIF {
				t.Errorf("%s: %s, number %d, is answered %#x", arch, call.Name, number, got)
			}
		}
	}
}

func TestTheFilterAllowsWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	for arch, m := range machines {
		for name, data := range map[string][]byte{
			"a call that isn't listed":      seccompData(m.machine.Audit, m.read, [6]uint64{}),
			"a listed number elsewhere":     seccompData(unix.AUDIT_ARCH_I386, m.machine.Number(Calls[0]), [6]uint64{0, 1, unix.O_WRONLY}),
			"a number of the x32 interface": seccompData(m.machine.Audit, 0x4000_0000|m.machine.Number(Calls[0]), [6]uint64{0, 1, unix.O_WRONLY}),
		} {
			if got := answer(t, m.machine, data); got != unix.SECCOMP_RET_ALLOW {
				t.Errorf("%s: %s is answered %#x", arch, name, got)
			}
		}
	}
}

func TestNumbersAreUnique(t *testing.T) {
	t.Parallel()
	for arch, m := range machines {
		seen := map[int]string{}
		for _, call := range Calls {
			number := m.machine.Number(call)
			if other, taken := seen[number]; taken && number != None {
				t.Errorf("%s: %s and %s both have number %d", arch, other, call.Name, number)
			}
			seen[number] = call.Name
		}
	}
}

func TestTheFilterIsShortEnoughForTheKernel(t *testing.T) {
	t.Parallel()
	for arch, m := range machines {
		filter, err := m.machine.Filter()
		if err != nil {
			t.Fatal(err)
		}
		if len(filter) > 4096 {
			t.Errorf("%s: %d instructions", arch, len(filter))
		}
	}
}
