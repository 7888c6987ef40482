// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/orca-agent-engine/orca-operator/controllers/layout"
)

// deniedPath is what a denied agent wants to write.
const deniedPath = "/workspace/denied"

// deniedAgent tries one refused write and says nothing about it.
func deniedAgent() int {
	file, err := os.OpenFile(deniedPath, os.O_WRONLY|os.O_CREATE, 0o600)
	if !errors.Is(err, syscall.EROFS) {
		return fail(fmt.Errorf("opened %v with error %w, want EROFS", file, err))
	}
	return 0
}

// streamsAgent runs a denied agent with a standard error of the given kind and
// prints what came out of it.
func streamsAgent() int {
	stream, read, err := streams[os.Args[1]]()
	if err != nil {
		return fail(err)
	}
	command := exec.Command("/proc/self/exe")
	command.Env = []string{agentVariable + "=denied"}
	command.Stderr = stream
	if stream == nil { // Closed, which exec can't give.
		command = exec.Command("sh", "-c", "exec 2>&-; exec /opt/agent")
		command.Env = []string{agentVariable + "=denied"}
	}
	if err := command.Run(); err != nil {
		return fail(err)
	}
	if stream != nil {
		stream.Close()
	}
	fmt.Print(read())
	return 0
}

// streams make a standard error and return what reads what came out of it.
var streams = map[string]func() (*os.File, func() string, error){
	"pipe": func() (*os.File, func() string, error) {
		from, to, err := os.Pipe()
		return to, readAll(from), err
	},
	"full pipe": func() (*os.File, func() string, error) {
		from, to, err := os.Pipe()
		if err == nil {
			err = fill(to)
		}
		return to, func() string { return strings.Trim(readAll(from)(), "x") }, err
	},
	"pipe without a reader": func() (*os.File, func() string, error) {
		from, to, err := os.Pipe()
		from.Close()
		return to, func() string { return "" }, err
	},
	"reading end": func() (*os.File, func() string, error) {
		from, to, err := os.Pipe()
		if err != nil {
			return nil, nil, err
		}
		copied, err := unix.FcntlInt(from.Fd(), unix.F_DUPFD_CLOEXEC, 0)
		return from, func() string {
			to.Close()
			return readAll(os.NewFile(uintptr(copied), "copy"))()
		}, err
	},
	"terminal": func() (*os.File, func() string, error) {
		main, sub, err := terminal()
		return sub, func() string {
			block := make([]byte, 4096)
			n, _ := main.Read(block)
			return strings.ReplaceAll(string(block[:n]), "\r\n", "\n")
		}, err
	},
	"stopped terminal": func() (*os.File, func() string, error) {
		main, sub, err := terminal()
		if err == nil {
			err = unix.IoctlSetInt(int(sub.Fd()), unix.TCXONC, unix.TCOOFF)
		}
		return sub, func() string { main.Close(); return "" }, err
	},
	"stream socket":   func() (*os.File, func() string, error) { return socketPair(unix.SOCK_STREAM) },
	"datagram socket": func() (*os.File, func() string, error) { return socketPair(unix.SOCK_DGRAM) },
	"full socket": func() (*os.File, func() string, error) {
		to, read, err := socketPair(unix.SOCK_STREAM)
		if err == nil {
			err = fill(to)
		}
		return to, func() string { return strings.Trim(read(), "x") }, err
	},
	"appended file": func() (*os.File, func() string, error) { return fileWith(os.O_APPEND | os.O_WRONLY) },
	"closed appended file": func() (*os.File, func() string, error) {
		file, read, err := fileWith(os.O_APPEND | os.O_WRONLY)
		if err == nil {
			err = file.Chmod(0o400)
		}
		return file, read, err
	},
	"file":           func() (*os.File, func() string, error) { return fileWith(os.O_WRONLY) },
	"read-only file": func() (*os.File, func() string, error) { return fileWith(os.O_RDONLY) },
	"closed":         func() (*os.File, func() string, error) { return nil, func() string { return "" }, nil },
}

func readAll(from *os.File) func() string {
	return func() string {
		content, _ := io.ReadAll(from)
		return string(content)
	}
}

// fill writes to a stream until it takes no more.
func fill(to *os.File) error {
	fd := int(to.Fd())
	if err := unix.SetNonblock(fd, true); err != nil {
		return err
	}
	for _, size := range []int{4096, 1} {
		for _, err := unix.Write(fd, slices.Repeat([]byte("x"), size)); !errors.Is(err, unix.EAGAIN); {
			_, err = unix.Write(fd, slices.Repeat([]byte("x"), size))
		}
	}
	return unix.SetNonblock(fd, false)
}

func socketPair(kind int) (*os.File, func() string, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
	from, to := os.NewFile(uintptr(pair[0]), "from"), os.NewFile(uintptr(pair[1]), "to")
	read := func() string {
		if err := unix.SetNonblock(pair[0], true); err != nil {
			return err.Error()
		}
		var all strings.Builder
		block := make([]byte, 65536)
		for {
			n, err := unix.Read(pair[0], block)
			if n <= 0 || err != nil {
				from.Close()
				return all.String()
			}
			all.Write(block[:n])
		}
	}
	return to, read, err
}

// fileWith opens a file that holds a line already, behind that line.
func fileWith(flags int) (*os.File, func() string, error) {
	const path = "/tmp/errors"
	if err := os.WriteFile(path, []byte("before\n"), 0o600); err != nil {
		return nil, nil, err
	}
	file, err := os.OpenFile(path, flags, 0)
	if err != nil {
		return nil, nil, err
	}
	_, err = file.Seek(0, io.SeekEnd)
	read := func() string {
		content, _ := os.ReadFile(path)
		return string(content)
	}
	return file, read, err
}

func TestTheLineReachesStandardErrorWhateverItIs(t *testing.T) {
	t.Parallel()
	line := layout.Denial(deniedPath) + "\n"
	for kind, want := range map[string]string{
		"pipe":                  line,
		"full pipe":             "",
		"pipe without a reader": "",
		"reading end":           "",
		"terminal":              line,
		"stopped terminal":      "",
		"stream socket":         line,
		"datagram socket":       line,
		"full socket":           "",
		"appended file":         "before\n" + line,
		"closed appended file":  "before\n" + line,
		"file":                  "before\n" + line,
		"read-only file":        "before\n",
		"closed":                "",
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			c := inSealedTree(t, agent("streams", kind), containerOptions{})
			c.wantEnd(0, exited(0))
			if c.output.String() != want || c.errors.String() != "" {
				t.Errorf("the stream got %q, want %q; the launcher's own %q, want nothing", c.output, want, c.errors)
			}
		})
	}
}
