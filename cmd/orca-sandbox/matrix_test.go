// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// matrixCalls make one call each, with a name relative to a descriptor.
var matrixCalls = map[string]func(dir int, path string) error{
	"open wronly":       opening(unix.O_WRONLY),
	"open rdwr":         opening(unix.O_RDWR),
	"open creat":        opening(unix.O_WRONLY | unix.O_CREAT),
	"open rdonly creat": opening(unix.O_RDONLY | unix.O_CREAT),
	"open excl":         opening(unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL),
	"open trunc":        opening(unix.O_RDONLY | unix.O_TRUNC),
	"open nofollow":     opening(unix.O_WRONLY | unix.O_CREAT | unix.O_NOFOLLOW),
	"open path":         opening(unix.O_WRONLY | unix.O_PATH),
	"open directory":    opening(unix.O_WRONLY | unix.O_DIRECTORY),
	"open no access":    opening(3),
	"open tmpfile":      opening(unix.O_TMPFILE | unix.O_RDWR),
	"openat2":           openingHow(0),
	"openat2 beneath":   openingHow(unix.RESOLVE_BENEATH),
	"openat2 in root":   openingHow(unix.RESOLVE_IN_ROOT),
	"openat2 no links":  openingHow(unix.RESOLVE_NO_SYMLINKS),
	"mkdir":             func(dir int, path string) error { return unix.Mkdirat(dir, path, 0o755) },
	"mknod":             func(dir int, path string) error { return unix.Mknodat(dir, path, unix.S_IFIFO|0o644, 0) },
	"symlink":           func(dir int, path string) error { return unix.Symlinkat("x", dir, path) },
	"link to":           func(dir int, path string) error { return unix.Linkat(unix.AT_FDCWD, "/tmp/d/f", dir, path, 0) },
	"link read-only to": func(dir int, path string) error {
		return unix.Linkat(unix.AT_FDCWD, "/workspace/app/readme", dir, path, 0)
	},
	"link missing to": func(dir int, path string) error { return unix.Linkat(unix.AT_FDCWD, "/tmp/d/no", dir, path, 0) },
	"link from":       func(dir int, path string) error { return unix.Linkat(dir, path, unix.AT_FDCWD, "/tmp/d/linked", 0) },
	"unlink":          func(dir int, path string) error { return unix.Unlinkat(dir, path, 0) },
	"rmdir":           func(dir int, path string) error { return unix.Unlinkat(dir, path, unix.AT_REMOVEDIR) },
	"rename from":     func(dir int, path string) error { return unix.Renameat(dir, path, unix.AT_FDCWD, "/tmp/d/renamed") },
	"rename to":       func(dir int, path string) error { return unix.Renameat(unix.AT_FDCWD, "/tmp/d/f", dir, path) },
	"rename read-only to": func(dir int, path string) error {
		return unix.Renameat(unix.AT_FDCWD, "/workspace/app/readme", dir, path)
	},
	"chmod":       func(dir int, path string) error { return unix.Fchmodat(dir, path, 0o644, 0) },
	"chmod empty": emptyPath(func(fd int) error { return unix.Fchmodat(fd, "", 0o644, unix.AT_EMPTY_PATH) }),
	"chown":       func(dir int, path string) error { return unix.Fchownat(dir, path, sandboxUser, sandboxUser, 0) },
	"lchown": func(dir int, path string) error {
		return unix.Fchownat(dir, path, sandboxUser, sandboxUser, unix.AT_SYMLINK_NOFOLLOW)
	},
	"chown empty": emptyPath(func(fd int) error { return unix.Fchownat(fd, "", sandboxUser, sandboxUser, unix.AT_EMPTY_PATH) }),
	"utimes":      func(dir int, path string) error { return unix.UtimesNanoAt(dir, path, nil, 0) },
	"lutimes":     func(dir int, path string) error { return unix.UtimesNanoAt(dir, path, nil, unix.AT_SYMLINK_NOFOLLOW) },
	"truncate":    inCwd(func(path string) error { return unix.Truncate(path, 0) }),
	"setxattr":    inCwd(func(path string) error { return unix.Setxattr(path, "user.a", []byte("b"), 0) }),
	"lsetxattr":   inCwd(func(path string) error { return unix.Lsetxattr(path, "user.a", []byte("b"), 0) }),
	"removexattr": inCwd(func(path string) error { return unix.Removexattr(path, "user.a") }),
	"creat":       inCwd(func(path string) error { return closing(unix.Creat(path, 0o644)) }),
	"reopen": emptyPath(func(fd int) error {
		return closing(unix.Open(fmt.Sprintf("/proc/self/fd/%d", fd), unix.O_WRONLY|unix.O_NONBLOCK, 0))
	}),
}

// errNotTried says that a call takes no such name.
var errNotTried = errors.New("not tried")

func opening(flags int) func(int, string) error {
	return func(dir int, path string) error {
		return closing(unix.Openat(dir, path, flags|unix.O_NONBLOCK|unix.O_NOCTTY, 0o644))
	}
}

func openingHow(resolve uint64) func(int, string) error {
	how := unix.OpenHow{Flags: unix.O_WRONLY | unix.O_CREAT, Mode: 0o644, Resolve: resolve}
	return func(dir int, path string) error { return closing(unix.Openat2(dir, path, &how)) }
}

func closing(fd int, err error) error {
	if err == nil {
		unix.Close(fd)
	}
	return err
}

func emptyPath(change func(fd int) error) func(int, string) error {
	return func(dir int, path string) error {
		fd, err := unix.Openat(dir, path, unix.O_PATH, 0)
		if err != nil {
			return errNotTried
		}
		defer unix.Close(fd)
		return change(fd)
	}
}

func inCwd(call func(path string) error) func(int, string) error {
	return func(dir int, path string) error {
		if dir != unix.AT_FDCWD {
			return errNotTried
		}
		return call(path)
	}
}

var matrixPaths = []string{
	"", "/", "/workspace", "/workspace/", "/workspace/no", "/workspace/no/", "/workspace/no/no",
	"/workspace/app/readme", "/workspace/app/readme/", "/workspace/app/readme/x", "/workspace/app/link", "/workspace/app/src",
	"/workspace/app/here/no", "/workspace/../workspace/app/./no", "/workspace/skills/../app/no", "/workspace/app/..",
	"/workspace/rw", "/workspace/rw/no", "/workspace/rw/../app/no", "/usr/bin/ls", "/usr/no", "/no", "/tmp", "/mnt/session/outputs",
	"/mnt/session/outputs/no", "/mnt/session", "/mnt/session/no",
	"/dev/null", "/dev/stdout", "/dev/fd/1", "/dev/fd/no", "/proc/no", "/proc/self/no", "/proc/self/comm",
	"/proc/self/root/workspace/no", "/proc/self/root/tmp/d/no", "/proc/self/cwd/app/no", "/proc/thread-self/cwd/app/no", "/proc/self/task/../cwd/app/no",
	"/tmp/d/f", "/tmp/d/no", "/tmp/d/no/", "/tmp/d/no/no", "/tmp/d/folder", "/tmp/d/to-file", "/tmp/d/to-missing", "/tmp/d/to-missing/", "/tmp/d/to-folder",
	"/tmp/d/to-folder/", "/tmp/d/to-folder/no", "/tmp/d/to-folder/link", "/tmp/d/to-tmp", "/tmp/d/to-tmp-missing", "/tmp/d/loop", "/tmp/d/to-null", "/tmp/d/to-cwd/no", "/tmp/d/chain",
	"app/no", "./app/readme", "../usr/no", "../tmp/d/no", "rw/no", "skills",
}

// freshFiles puts back what the calls of the matrix may have changed.
func freshFiles() error {
	links := map[string]string{
		"to-file": "/workspace/app/readme", "to-missing": "/workspace/app/no", "to-folder": "/workspace/app", "to-tmp": "f",
		"to-tmp-missing": "no", "loop": "loop", "to-null": "/dev/null", "to-cwd": "/proc/self/cwd/app", "chain": "to-file",
	}
	err := errors.Join(os.RemoveAll("/tmp/d"), os.RemoveAll("/workspace/rw/no"), os.RemoveAll("/mnt/session/outputs/no"),
		os.MkdirAll("/tmp/d/folder", 0o755), os.WriteFile("/tmp/d/f", []byte("f"), 0o644))
	for name, target := range links {
		err = errors.Join(err, os.Symlink(target, "/tmp/d/"+name))
	}
	return err
}

// matrixAgent makes every call with every name, and prints each result. It
// fails if a line comes of a call that succeeds, or more than one of any.
func matrixAgent() int {
	lines, err := ownErrors()
	if err != nil {
		return fail(err)
	}
	root, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return fail(err)
	}
	explained := 0
	for _, name := range slices.Sorted(maps.Keys(matrixCalls)) {
		call := matrixCalls[name]
		for _, path := range matrixPaths {
			for _, view := range []struct {
				name string
				dir  int
				path string
			}{
				{"cwd", unix.AT_FDCWD, path},
				{"dirfd", root, strings.TrimPrefix(path, "/")},
				{"descriptor", unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d%s", root, path)},
			} {
				if view.name != "cwd" && !strings.HasPrefix(path, "/") {
					continue
				}
				if err := freshFiles(); err != nil {
					return fail(err)
				}
				lines()
				result := call(view.dir, view.path)
				count := lines()
				explained += count
				fmt.Printf("%s %s %s: %v\n", name, view.name, path, result)
				if count > 1 || count == 1 && (result == nil || errors.Is(result, errNotTried)) {
					fmt.Printf("WRONG: %d lines for %s %s %s: %v\n", count, name, view.name, path, result)
				}
			}
		}
	}
	fmt.Printf("EXPLAINED %d\n", explained)
	return 0
}

// ownErrors makes standard error a pipe of the process itself, and returns
// what counts the lines that have come since it was last asked.
func ownErrors() (func() int, error) {
	var ends [2]int
	if err := errors.Join(unix.Pipe2(ends[:], unix.O_NONBLOCK|unix.O_CLOEXEC), unix.Dup3(ends[1], 2, 0)); err != nil {
		return nil, err
	}
	block := make([]byte, 65536)
	return func() int {
		n, _ := unix.Read(ends[0], block)
		return strings.Count(string(block[:max(n, 0)]), "write denied for ")
	}, nil
}

// sortedResults parts what a matrix agent has printed.
func sortedResults(t *testing.T, output string) (results map[string]string, explained int) {
	t.Helper()
	results = map[string]string{}
	for line := range strings.Lines(output) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "WRONG") {
			t.Error(line)
			continue
		}
		if _, err := fmt.Sscanf(line, "EXPLAINED %d", &explained); err == nil {
			continue
		}
		key, result, _ := strings.Cut(line, ": ")
		results[key] = result
	}
	return results, explained
}

func TestTheSupervisorChangesNoResult(t *testing.T) {
	t.Parallel()
	supervised := inSealedTree(t, agent("matrix"), containerOptions{})
	bare := startSeparate(t)
	plain := bare.startProgram(nil, "env", "-i", agentVariable+"=matrix", agentProgram)
	if exitCode := plain.exitCode(t); exitCode != 0 {
		t.Fatalf("exit code %d: %s", exitCode, plain.output)
	}
	want, none := sortedResults(t, plain.output.String())
	supervised.wantEnd(0, exited(0))
	got, explained := sortedResults(t, supervised.output.String())
	for key, result := range got {
		// Landlock, which only the supervised have, may refuse before the kernel
		// comes to its own reason.
		if result == unix.EACCES.Error() && want[key] != "<nil>" {
			want[key] = result
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results differ from those without a supervisor (-without +with):\n%s", diff)
	}
	t.Logf("%d cases, %d explained", len(got), explained)
	if none != 0 || explained < len(got)/10 {
		t.Errorf("%d lines without a supervisor, %d with one: this shows nothing", none, explained)
	}
}

// hostileAgent gives calls pointers that aren't any.
func hostileAgent() int {
	page, err := unix.Mmap(-1, 0, 2*os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return fail(err)
	}
	end := os.Getpagesize()
	if err := unix.Mprotect(page[end:], unix.PROT_NONE); err != nil {
		return fail(err)
	}
	const path = "/workspace/edge"
	copy(page[end-len(path)-1:], path+"\x00")
	edge := uintptr(unsafe.Pointer(&page[end-len(path)-1]))
	create := func(path uintptr) unix.Errno {
		_, _, errno := unix.Syscall6(unix.SYS_OPENAT, uintptr(unix.AT_FDCWD&0xffffffff), path, unix.O_WRONLY|unix.O_CREAT, 0o600, 0, 0)
		return errno
	}
	fmt.Println(create(0), create(1), create(^uintptr(0)), create(^uintptr(0)-10), create(edge))
	page[end-1] = 'x' // No end any more.
	fmt.Println(create(edge))
	_, _, errno := unix.Syscall6(unix.SYS_OPENAT2, uintptr(unix.AT_FDCWD&0xffffffff), edge, 7, 24, 0, 0)
	fmt.Println(errno)
	return 0
}

func TestPointersThatAreNoneGetTheKernelsAnswer(t *testing.T) {
	t.Parallel()
	c := inSealedTree(t, agent("hostile"), containerOptions{})
	c.wantEnd(0, exited(0))
	const bad = "bad address"
	want := strings.Join([]string{bad, bad, bad, bad, "read-only file system"}, " ") + "\n" + bad + "\n" + bad + "\n"
	if c.output.String() != want {
		t.Errorf("results %q, want %q", c.output, want)
	}
	c.wantDenials("/workspace/edge")
}
