// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"errors"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// maxLinks is how many links the kernel follows in one name.
const maxLinks = 40

// procRoot is the inode of the root of every proc file system.
const procRoot = 1

// walker follows a path name by name, links as the caller would follow them.
type walker struct {
	resolver
	task task
	// at is the descriptor of where it is; it is the walker's own.
	at    int
	todo  []string
	links int
	// scoped keeps it below the resolver's root, which is another than the
	// caller's then.
	scoped bool
}

func (r resolver) walker(t task, base int, path string) (*walker, error) {
	at, err := unix.FcntlInt(uintptr(base), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	w := &walker{resolver: r, task: t, at: at}
	w.push(path)
	return w, nil
}

// walk is object for a name with links in it, or one that must stay below the
// resolver's root.
func (r resolver) walk(name fileName, base int, follow, scoped bool) place {
	w, err := r.walker(name.task, base, name.path)
	if err != nil {
		return place{}
	}
	w.scoped = scoped
	defer func() { unix.Close(w.at) }()
	exists, err := w.run(follow)
	if err != nil {
		return place{}
	}
	found := statPlace(w.at)
	if exists && name.endsInSlash() && !found.is(unix.S_IFDIR) {
		return place{}
	}
	found.exists = exists
	return found
}

// run walks to the end, and over a link at the end if follow is set. If the
// last name doesn't exist, it ends in the folder that would have it.
func (w *walker) run(follow bool) (exists bool, err error) {
	for len(w.todo) > 0 {
		name := w.todo[0]
		w.todo = w.todo[1:]
		last := len(w.todo) == 0
		if w.scoped && name == ".." && sameFile(w.at, w.root) {
			continue
		}
		fd, err := unix.Openat(w.at, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.ENOENT) && last {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if !statPlace(fd).is(unix.S_IFLNK) || last && !follow {
			w.move(fd)
			continue
		}
		err = w.follow(name, fd)
		unix.Close(fd)
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// follow goes over a link, of which the descriptor is given.
func (w *walker) follow(name string, link int) error {
	if w.links++; w.links > maxLinks {
		return unix.ELOOP
	}
	if onProc(link) {
		switch inProcRoot := inode(w.at) == procRoot; {
		case inProcRoot && (name == "self" || name == "thread-self"):
			return w.enterOwn(name == "thread-self")
		case !inProcRoot && w.scoped:
			return unix.EXDEV
		case !inProcRoot:
			return w.jump(name)
		}
	}
	target := make([]byte, pathSize)
	size, err := unix.Readlinkat(link, "", target)
	if err != nil {
		return err
	}
	if size == 0 {
		return unix.ENOENT
	}
	if target[0] == '/' {
		root, err := unix.FcntlInt(uintptr(w.root), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			return err
		}
		w.move(root)
	}
	w.push(string(target[:size]))
	return nil
}

// enterOwn goes on into the folder of the caller's process, or of its thread:
// a thread can have a working directory and descriptors of its own.
func (w *walker) enterOwn(thread bool) error {
	group, found := w.task.group()
	if !found {
		return unix.ENOENT
	}
	own := strconv.Itoa(int(group))
	if thread {
		own += "/task/" + strconv.Itoa(int(w.task))
	}
	w.push(own)
	return nil
}

// jump follows a link of a process's folder, such as fd/1 or cwd. It leads to
// an object, whatever its text says; in the caller's folder the kernel finds
// the caller's object.
func (w *walker) jump(name string) error {
	fd, err := unix.Openat(w.at, name, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err == nil {
		w.move(fd)
	}
	return err
}

func (w *walker) move(fd int) {
	unix.Close(w.at)
	w.at = fd
}

// push puts the names of a path before those that are left to walk.
func (w *walker) push(path string) {
	var names []string
	for name := range strings.SplitSeq(path, "/") {
		if name != "" && name != "." {
			names = append(names, name)
		}
	}
	w.todo = append(names, w.todo...)
}

func onProc(fd int) bool {
	var status unix.Statfs_t
	return unix.Fstatfs(fd, &status) == nil && status.Type == unix.PROC_SUPER_MAGIC
}

func inode(fd int) uint64 {
	var status unix.Statx_t
	if err := unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_INO, &status); err != nil {
		return 0
	}
	return status.Ino
}

// sameFile reports whether two descriptors are open on one file by one mount.
func sameFile(one, other int) bool {
	const wanted = unix.STATX_INO | unix.STATX_MNT_ID
	var a, b unix.Statx_t
	err := errors.Join(unix.Statx(one, "", unix.AT_EMPTY_PATH, wanted, &a), unix.Statx(other, "", unix.AT_EMPTY_PATH, wanted, &b))
	return err == nil && a.Ino == b.Ino && a.Mnt_id == b.Mnt_id
}
