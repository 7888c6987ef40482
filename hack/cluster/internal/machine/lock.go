// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/progress"
)

// Lock takes the lock file, and waits while another process has it. The lock
// goes with the returned file's last descriptor, thus also when its holder is
// killed.
func Lock(ctx context.Context, path string, say progress.Printer) (*os.File, error) {
	for {
		file, current, err := tryLock(ctx, path, say)
		if err != nil {
			return nil, fmt.Errorf("locking %s: %w", path, err)
		}
		if current {
			return file, nil
		}
		file.Close()
	}
}

// tryLock locks the file that was at the path, and reports whether it still is
// there: its last holder may have removed it.
func tryLock(ctx context.Context, path string, say progress.Printer) (file *os.File, current bool, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, false, err
	}
	file, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if errors.Is(err, fs.ErrNotExist) {
		// The folder was removed in between.
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	if err := waitLock(ctx, file, say); err != nil {
		file.Close()
		return nil, false, err
	}
	return file, isAt(file, path), nil
}

func isAt(file *os.File, path string) bool {
	held, err := file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(held, there)
}

func waitLock(ctx context.Context, file *os.File, say progress.Printer) error {
	for said := false; ; said = true {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return err
		}
		if !said {
			say.Say("waiting for another orca-cluster that holds %s", file.Name())
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
