// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
)

// lookForPair is how often a pair is looked for until there is one.
const lookForPair = time.Second

const (
	// pairPrefix begins the name of a folder with one pair.
	pairPrefix = "pair-"
	// currentPair is the link to the one that is served.
	currentPair = "current"
)

var errNoPair = errors.New("there is no certificate to serve yet")

// Folder serves the pair in a folder, and another one as soon as it is there.
// Until the first one is there, no connection can be made.
type Folder struct {
	path    string
	watcher atomic.Pointer[certwatcher.CertWatcher]
}

// NeedLeaderElection is false: every replica serves.
func (f *Folder) NeedLeaderElection() bool { return false }

// Start watches the folder until the context is done.
func (f *Folder) Start(ctx context.Context) error {
	err := wait.PollUntilContextCancel(ctx, lookForPair, true, func(context.Context) (bool, error) { return f.open() == nil, nil })
	if err != nil {
		return nil // The manager ends before there was a pair.
	}
	if err := f.watcher.Load().Start(ctx); err != nil {
		return fmt.Errorf("watching the webhook's certificate: %w", err)
	}
	return nil
}

func (f *Folder) open() error {
	watcher, err := certwatcher.New(filepath.Join(f.path, certFile), filepath.Join(f.path, keyFile))
	if err == nil {
		f.watcher.Store(watcher)
	}
	return err
}

// GetCertificate returns the pair for a connection.
func (f *Folder) GetCertificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	watcher := f.watcher.Load()
	if watcher == nil {
		return nil, errNoPair
	}
	return watcher.GetCertificate(hello)
}

// has reports whether the folder holds a certificate.
func (f *Folder) has(cert []byte) bool {
	held, err := os.ReadFile(filepath.Join(f.path, certFile))
	return err == nil && bytes.Equal(held, cert)
}

// put replaces the pair, both files at once, the way a kubelet fills a volume:
// they are links through a folder that is exchanged.
func (f *Folder) put(cert, key []byte) error {
	next, err := os.MkdirTemp(f.path, pairPrefix)
	if err != nil {
		return fmt.Errorf("making a place for the webhook's certificate: %w", err)
	}
	for name, content := range map[string][]byte{certFile: cert, keyFile: key} {
		if err := os.WriteFile(filepath.Join(next, name), content, 0o600); err != nil {
			return fmt.Errorf("storing the webhook's certificate: %w", err)
		}
		if err := link(filepath.Join(currentPair, name), filepath.Join(f.path, name)); err != nil {
			return fmt.Errorf("linking the webhook's certificate: %w", err)
		}
	}
	if err := link(filepath.Base(next), filepath.Join(f.path, currentPair)); err != nil {
		return fmt.Errorf("exchanging the webhook's certificate: %w", err)
	}
	return f.removeBut(next)
}

// link makes a link, or exchanges the one that is there.
func link(target, path string) error {
	if have, err := os.Readlink(path); err == nil && have == target {
		return nil
	}
	next := path + ".next"
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Symlink(target, next); err != nil {
		return err
	}
	return os.Rename(next, path)
}

// removeBut removes earlier pairs. That they go tells the watcher of the new
// one.
func (f *Folder) removeBut(current string) error {
	pairs, err := filepath.Glob(filepath.Join(f.path, pairPrefix+"*"))
	if err != nil {
		return fmt.Errorf("looking for earlier certificates: %w", err)
	}
	for _, pair := range pairs {
		if pair == current {
			continue
		}
		if err := os.RemoveAll(pair); err != nil {
			return fmt.Errorf("removing an earlier certificate: %w", err)
		}
	}
	return nil
}
