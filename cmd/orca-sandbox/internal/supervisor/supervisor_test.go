// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/writes"
)

func TestMountsAreRead(t *testing.T) {
	t.Parallel()
	const content = `21 1 0:20 / / ro,relatime - overlay overlay rw,lowerdir=/a
22 21 0:21 / /tmp rw master:1 - tmpfs tmp rw
23 21 0:22 /sub /a\040b rw - ext4 /dev/vda ro,discard
`
	got, err := parseMounts(content)
	if err != nil {
		t.Fatal(err)
	}
	want := []mount{{21, "/", true, "overlay"}, {22, "/tmp", false, "tmpfs"}, {23, "/a b", true, "ext4"}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(mount{})); diff != "" {
		t.Errorf("the mounts differ (-want +got):\n%s", diff)
	}
	for _, bad := range []string{"x", "21 1 0:20 / / ro - overlay", "x 1 0:20 / / ro - overlay overlay rw"} {
		if _, err := parseMounts(bad); err == nil {
			t.Errorf("%q is read as a mount", bad)
		}
	}
}

func TestWhichMountsRefuse(t *testing.T) {
	t.Parallel()
	mounts := []mount{
		{1, "/", true, "tmpfs"}, {2, "/tmp", false, "tmpfs"}, {3, "/tmp/sealed", true, "tmpfs"}, {4, "/tmp/open", false, "tmpfs"}, {5, "/tmpx", false, "tmpfs"},
		{6, "/proc", false, "tmpfs"}, {7, "/proc/sys", true, "tmpfs"}, {8, "/dev", false, "tmpfs"}, {9, "/dev/pts", false, "tmpfs"}, {10, "/dev/mqueue", false, "tmpfs"},
	}
	for name, tc := range map[string]struct {
		landlock bool
		want     Mounts
	}{
		"without Landlock those that are read-only, and the devices'": {false, Mounts{1: true, 3: true, 7: true, 8: true}},
		"with it those outside the roots too":                         {true, Mounts{1: true, 3: true, 5: true, 7: true, 8: true, 10: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, refusingMounts(mounts, []string{"/tmp"}, tc.landlock)); diff != "" {
				t.Errorf("the mounts differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhichOpensAreRefused(t *testing.T) {
	t.Parallel()
	var (
		absent = place{known: true}
		file   = place{known: true, exists: true, mode: unix.S_IFREG}
		folder = place{known: true, exists: true, mode: unix.S_IFDIR}
		link   = place{known: true, exists: true, mode: unix.S_IFLNK}
		device = place{known: true, exists: true, mode: unix.S_IFCHR}
	)
	for name, tc := range map[string]struct {
		flags uint64
		place place
		want  bool
	}{
		"making a file":                    {unix.O_CREAT, absent, true},
		"a missing file":                   {unix.O_WRONLY, absent, false},
		"writing a file":                   {unix.O_WRONLY, file, true},
		"writing and reading a file":       {unix.O_RDWR, file, true},
		"emptying a file":                  {unix.O_TRUNC, file, true},
		"reading a file that may be made":  {unix.O_CREAT, file, false},
		"neither reading nor writing":      {unix.O_ACCMODE, file, false},
		"a file that must not be there":    {unix.O_CREAT | unix.O_EXCL | unix.O_WRONLY, file, false},
		"a file as a folder":               {unix.O_DIRECTORY | unix.O_WRONLY, file, false},
		"a folder as a file":               {unix.O_WRONLY, folder, false},
		"a temporary file":                 {unix.O_TMPFILE | unix.O_WRONLY, folder, true},
		"a temporary file to read":         {unix.O_TMPFILE, folder, false},
		"making a folder":                  {unix.O_CREAT | unix.O_DIRECTORY, absent, false},
		"a link that isn't to be followed": {unix.O_WRONLY, link, false},
		"a device":                         {unix.O_WRONLY, device, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			how := openHow{flags: tc.flags}
			if got := how.asksToWrite() && how.refusedAt(tc.place, false); got != tc.want {
				t.Errorf("refused: %t, want %t", got, tc.want)
			}
		})
	}
}

func TestCallsThatThisKernelHasNotAreLeftOut(t *testing.T) {
	t.Parallel()
	const none = 5000
	calls := available(map[int32]writes.Call{
		none:             {Name: "one of another kernel", Late: true},
		none + 1:         {Name: "one that every kernel has"},
		unix.SYS_OPENAT2: {Name: "one that this kernel has", Late: true},
	})
	if _, left := calls[none]; left || len(calls) != 2 {
		t.Errorf("these are left: %v", calls)
	}
}

func TestHowALineReachesAStandardError(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		stream stream
		want   channel
	}{
		"closed":                  {stream{}, nowhere},
		"a pipe":                  {stream{open: true, flags: unix.O_WRONLY, fileType: unix.S_IFIFO, own: false}, reopened},
		"the launcher's pipe":     {stream{open: true, flags: unix.O_WRONLY, fileType: unix.S_IFIFO, own: true}, reopened},
		"the pipe's other end":    {stream{open: true, flags: unix.O_RDONLY, fileType: unix.S_IFIFO, own: false}, nowhere},
		"a terminal":              {stream{open: true, flags: unix.O_RDWR, fileType: unix.S_IFCHR, own: false}, reopened},
		"a name alone":            {stream{open: true, flags: unix.O_PATH | unix.O_WRONLY, fileType: unix.S_IFREG, own: false}, nowhere},
		"a file":                  {stream{open: true, flags: unix.O_WRONLY, fileType: unix.S_IFREG, own: false}, theirs},
		"the launcher's file":     {stream{open: true, flags: unix.O_WRONLY, fileType: unix.S_IFREG, own: true}, shared},
		"a file that is added to": {stream{open: true, flags: unix.O_WRONLY | unix.O_APPEND, fileType: unix.S_IFREG, own: false}, reopened},
		"a socket":                {stream{open: true, flags: unix.O_RDWR, fileType: unix.S_IFSOCK, own: false}, theirs},
		"the launcher's socket":   {stream{open: true, flags: unix.O_RDWR, fileType: unix.S_IFSOCK, own: true}, shared},
		"a folder":                {stream{open: true, flags: unix.O_RDONLY, fileType: unix.S_IFDIR, own: false}, nowhere},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := channelOf(tc.stream); got != tc.want {
				t.Errorf("channel %d, want %d", got, tc.want)
			}
		})
	}
}

func TestALineIsOneLineThatAPipeTakesAsAWhole(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{
		"letters":   "/" + strings.Repeat("x", 5000),
		"escapes":   "/" + strings.Repeat("\n", 5000),
		"runes":     "/" + strings.Repeat("ö", 5000),
		"not text":  "/" + strings.Repeat("\xff", 5000),
		"one short": "/x",
	} {
		got := string(line(path))
		if len(got) > maxLine || strings.Count(got, "\n") != 1 || strings.ToValidUTF8(got, "") != got {
			t.Errorf("%s: %d bytes: %q", name, len(got), got)
		}
		if len(path) > maxLine && len(got) < maxLine-4 {
			t.Errorf("%s: only %d bytes of the path's %d", name, len(got), len(path))
		}
	}
}

func FuzzALineIsOneLine(f *testing.F) {
	f.Add("/workspace/a\nb\x1b[31m\xff\xc2\x9b")
	f.Fuzz(func(t *testing.T, path string) {
		got := string(line(path))
		if len(got) > maxLine || strings.Count(got, "\n") != 1 || strings.ContainsAny(got, "\x1b\r\x00\u009b\u2028") {
			t.Errorf("%q", got)
		}
	})
}

func TestWhatComesBeforeTheLastName(t *testing.T) {
	t.Parallel()
	for path, want := range map[string][2]string{
		"a": {"", "a"}, "/a": {"/", "a"}, "a/b": {"a/", "b"}, "a/b//": {"a/", "b"}, "/": {"", ""}, "": {"", ""},
		"a/.": {"a/", ""}, "a/..": {"a/", ""}, "a//b": {"a//", "b"},
	} {
		dir, last := fileName{path: path}.split()
		if got := [2]string{dir, last}; got != want {
			t.Errorf("%q is split into %q, want %q", path, got, want)
		}
	}
}
