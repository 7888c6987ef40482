// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"
)

// trialPrefix begins the name of what a trial makes where it must not be able
// to. The rest is random, so that nothing of anybody has that name.
const trialPrefix = ".orca-sandbox-trial-"

var (
	// refusals are the kernel's ways to say that something can't be written by
	// this user; /proc says that there is no such file.
	refusals = []error{unix.EROFS, unix.EACCES, unix.EPERM, unix.ENOENT}
	// untold are answers that say nothing about the right to write: the file
	// system has no unnamed files, or no space is left for one.
	untold = []error{unix.EOPNOTSUPP, unix.EISDIR, unix.ENOSPC, unix.EDQUOT}
)

func isOneOf(err error, known []error) bool {
	return slices.ContainsFunc(known, func(one error) bool { return errors.Is(err, one) })
}

// takesFiles returns nil if files can be made and written in a directory. It
// leaves the directory as it is, its times included: a file without a name is
// never in it.
func takesFiles(directory *place) error {
	err := retry(func() error { return writeUnnamed(directory.file) })
	if isOneOf(err, untold) {
		return retry(func() error { return unix.Faccessat(directory.file, ".", unix.W_OK|unix.X_OK, 0) })
	}
	return err
}

func writeUnnamed(directory int) error {
	file, err := unix.Openat(directory, ".", unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	_, err = unix.Write(file, []byte{0})
	return errors.Join(err, unix.Close(file))
}

// refusesFiles returns nil if neither a file nor a directory can be made in a
// directory: /dev/mqueue, for one, refuses directories alone. What could be
// made is removed again.
func refusesFiles(directory *place) error {
	name := trialPrefix + rand.Text()
	for _, attempt := range []struct {
		what   string
		create func() error
		remove int
	}{
		{"file", func() error { return createFile(directory.file, name) }, 0},
		{"directory", func() error { return unix.Mkdirat(directory.file, name, 0o700) }, unix.AT_REMOVEDIR},
	} {
		err := retry(attempt.create)
		if err == nil {
			removed := retry(func() error { return unix.Unlinkat(directory.file, name, attempt.remove) })
			return errors.Join(fmt.Errorf("a %s could be made there", attempt.what), removed)
		}
		if !isOneOf(err, refusals) {
			return fmt.Errorf("making a %s there failed for another reason than its being read-only: %w", attempt.what, err)
		}
	}
	return nil
}

func createFile(directory int, name string) error {
	file, err := unix.Openat(directory, name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	return unix.Close(file)
}

// refusesContent returns nil if a file can't be opened for writing. Nothing is
// written to it.
func refusesContent(path string) error {
	file, err := openWithoutLinks(path, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_NOCTTY)
	if err == nil {
		return errors.Join(errors.New("it could be opened for writing"), unix.Close(file))
	}
	if !isOneOf(err, refusals) {
		return fmt.Errorf("opening it for writing failed for another reason than its being read-only: %w", err)
	}
	return nil
}
