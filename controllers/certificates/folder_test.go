// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"bytes"
	"crypto/tls"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/util/cert"
)

func newPair(t *testing.T) (certificate, key []byte) {
	t.Helper()
	certificate, key, err := cert.GenerateSelfSignedCertKey(dnsName, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return certificate, key
}

// F39: another pair is served as soon as it is in the folder, and at no moment
// is there one whose halves don't belong together.
func TestAFolderServesTheLastPairThatWasPutThere(t *testing.T) {
	folder := NewFolder(Options{Folder: t.TempDir()})
	if _, err := folder.GetCertificate(nil); !errors.Is(err, errNoPair) {
		t.Errorf("serving an empty folder: %v", err)
	}
	done := make(chan error, 1)
	go func() { done <- folder.Start(t.Context()) }()
	stopped := readAllAlong(t, folder.path)
	for range 5 {
		certificate, key := newPair(t)
		if folder.has(certificate) {
			t.Fatal("the folder has a pair that nobody put there")
		}
		if err := folder.put(certificate, key); err != nil {
			t.Fatal(err)
		}
		if !folder.has(certificate) {
			t.Fatal("the folder doesn't have the pair")
		}
		want, err := leaf(certificate, key)
		if err != nil {
			t.Fatal(err)
		}
		awaitServed(t, folder, want.Raw)
	}
	stopped()
	if entries, err := os.ReadDir(folder.path); err != nil || len(entries) != 4 {
		t.Errorf("the folder holds %v, want two links, the link to the pair and the pair (%v)", entries, err)
	}
}

// readAllAlong reads the pair in a folder until the returned function is
// called, and fails if its halves don't belong together.
func readAllAlong(t *testing.T, path string) (stop func()) {
	t.Helper()
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-end:
				return
			default:
			}
			current, err := filepath.EvalSymlinks(filepath.Join(path, currentPair))
			if err != nil {
				continue // There is none yet, or it was exchanged just now.
			}
			certificate, certErr := os.ReadFile(filepath.Join(current, certFile))
			key, keyErr := os.ReadFile(filepath.Join(current, keyFile))
			if certErr != nil || keyErr != nil {
				continue
			}
			if _, err := tls.X509KeyPair(certificate, key); err != nil {
				t.Error(err)
			}
		}
	}()
	return func() { close(end); <-ended }
}

func awaitServed(t *testing.T, folder *Folder, want []byte) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		pair, err := folder.GetCertificate(nil)
		if err == nil && bytes.Equal(pair.Leaf.Raw, want) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the pair isn't served: %v", err)
		}
	}
}
