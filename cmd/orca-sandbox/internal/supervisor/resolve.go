// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"errors"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// fileName is a name as a caller gives it.
type fileName struct {
	task task
	// dir is the descriptor that a relative path starts from.
	dir  int32
	path string
}

// absolute returns the name as the caller gave it, made absolute.
func (n fileName) absolute() string {
	if strings.HasPrefix(n.path, "/") {
		return n.path
	}
	dir, err := os.Readlink(n.task.descriptor(n.dir))
	if err != nil || n.path == "" {
		return dir
	}
	return strings.TrimSuffix(dir, "/") + "/" + strings.TrimPrefix(n.path, "./")
}

// split parts a path before its last name. The last name is empty if there is
// none, or if it isn't one that could be made or removed.
func (n fileName) split() (dir, last string) {
	path := strings.TrimRight(n.path, "/")
	slash := strings.LastIndexByte(path, '/')
	dir, last = path[:slash+1], path[slash+1:]
	if last == "." || last == ".." {
		last = ""
	}
	return dir, last
}

// endsInSlash reports whether the name can only mean a folder.
func (n fileName) endsInSlash() bool { return strings.HasSuffix(n.path, "/") }

// place is where a name leads.
type place struct {
	// known is false where the kernel has an answer of its own to the name, or
	// where the supervisor can't tell.
	known  bool
	exists bool
	// mode has the type of what exists.
	mode uint16
	// mount is that of the object; or that of its folder, if the object doesn't
	// exist or a question is about the folder's entry.
	mount uint64
}

func (p place) is(fileType uint16) bool { return p.mode&unix.S_IFMT == fileType }

// device reports whether it is one: writing it is no matter of its mount.
func (p place) device() bool { return p.is(unix.S_IFCHR) || p.is(unix.S_IFBLK) }

// resolver finds out where names lead in a caller's view. The callers have the
// resolver's own root and mounts.
type resolver struct {
	root   int
	mounts Mounts
}

func newResolver(mounts Mounts) (resolver, error) {
	root, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	return resolver{root, mounts}, err
}

// object returns where a name leads. A missing object is known if its folder
// is there.
func (r resolver) object(name fileName, follow bool) place {
	if name.path == "" {
		return place{}
	}
	if found, plain := r.plainObject(name, follow); plain {
		return found
	}
	base, done, err := r.base(name)
	if err != nil {
		return place{}
	}
	defer done()
	follow = follow || name.endsInSlash()
	fd, err := openName(base, relative(name.path))
	switch {
	case err == nil:
		found := statPlace(fd)
		unix.Close(fd)
		if found.is(unix.S_IFLNK) && follow {
			return r.walk(name, base, follow, false)
		}
		return found
	case errors.Is(err, unix.ELOOP):
		return r.walk(name, base, follow, false)
	case errors.Is(err, unix.ENOENT):
		return r.missing(name, base)
	default:
		return place{}
	}
}

// missing returns the place of a name whose object isn't there.
func (r resolver) missing(name fileName, base int) place {
	dir, last := name.split()
	if last == "" {
		return place{}
	}
	fd, err := r.folder(name.task, dir, base)
	if err != nil {
		return place{}
	}
	defer unix.Close(fd)
	found := statPlace(fd)
	found.exists = false
	return found
}

// plainObject is object for most names, at a smaller cost: those without links
// that end in the name of a file. It reports whether the name is one.
func (r resolver) plainObject(name fileName, follow bool) (found place, plain bool) {
	dir, last := name.split()
	if last == "" || name.endsInSlash() {
		return place{}, false
	}
	in, err := r.spot(name, dir)
	if err != nil {
		return place{}, false
	}
	defer in.close()
	found = in.look(last)
	if found.known && !found.exists {
		found.mount = in.look("").mount
	}
	toFollow := follow && found.is(unix.S_IFLNK)
	return found, found.known && !toFollow
}

// entry returns the place of a name itself, in its folder. It isn't known if
// the name is none that could be made or removed, nor if its folder is on a
// mount that takes writes: nothing is refused there.
func (r resolver) entry(name fileName) place {
	dir, last := name.split()
	if last == "" {
		return place{}
	}
	in, err := r.spot(name, dir)
	if err != nil {
		return place{}
	}
	defer in.close()
	folder := in.look("")
	if !folder.known || !r.mounts[folder.mount] {
		return place{}
	}
	found := in.look(last)
	found.mount = folder.mount
	return found
}

// descriptor returns the place of what a descriptor is open on.
func (r resolver) descriptor(t task, fd int32) place {
	opened, err := unix.Open(t.descriptor(fd), unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return place{}
	}
	defer unix.Close(opened)
	return statPlace(opened)
}

// base opens what a name starts from. The caller must call done.
func (r resolver) base(name fileName) (fd int, done func(), err error) {
	if strings.HasPrefix(name.path, "/") {
		return r.root, func() {}, nil
	}
	fd, err = unix.Open(name.task.descriptor(name.dir), unix.O_PATH|unix.O_CLOEXEC, 0)
	return fd, func() { unix.Close(fd) }, err
}

// folder opens the folder of a name, which links may lead to.
func (r resolver) folder(t task, dir string, base int) (int, error) {
	fd, err := openName(base, relative(dir))
	if !errors.Is(err, unix.ELOOP) {
		return fd, err
	}
	w, err := r.walker(t, base, dir)
	if err != nil {
		return -1, err
	}
	exists, err := w.run(true)
	if err == nil && !exists {
		err = unix.ENOENT
	}
	if err != nil {
		unix.Close(w.at)
		return -1, err
	}
	return w.at, nil
}

// relative makes a path one that is looked up from the base that its first
// byte says.
func relative(path string) string { return orDot(strings.TrimLeft(path, "/")) }

func orDot(path string) string {
	if path == "" {
		return "."
	}
	return path
}

// openName opens what a name means, or the link itself that the name is. It
// fails with ELOOP at any other link: the kernel would follow /proc/self and
// its kind in the supervisor's view.
func openName(base int, path string) (int, error) {
	return unix.Openat2(base, path, &unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
}
