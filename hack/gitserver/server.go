// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package gitserver runs real servers of repositories for tests and measurements: git's own
// HTTP backend behind TLS, OpenSSH, a Git LFS server and a proxy. They can be
// told to misbehave. The programs git and sshd must be installed.
package gitserver

import (
	"crypto/tls"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// T is whom a server belongs to: a test, or what stands in for one.
type T interface {
	Helper()
	Cleanup(f func())
	TempDir() string
	Failed() bool
	Logf(format string, arguments ...any)
	// Fatal and Fatalf don't return.
	Fatal(arguments ...any)
	Fatalf(format string, arguments ...any)
}

// Options say how the servers run.
type Options struct {
	// Address is the host name or IP at which the servers are reached;
	// "127.0.0.1" if empty. Each takes a free port.
	Address string
	// Listen is the IP at which they listen; Address if empty.
	Listen string
	// Authority signs the server's certificate; one of its own if nil.
	Authority *Authority
}

// Server serves the repositories of one test.
type Server struct {
	t       T
	options Options
	// root is the folder with the repositories and all else.
	root string
	// backend is git's HTTP backend.
	backend string
	// https and plain are the addresses, host:port, of the two HTTP servers.
	https, plain string

	mu           sync.Mutex
	repositories map[string]*Repository
	objects      map[string][]byte
	requests     []Request
}

// Start starts the HTTP servers, which end with the test.
func Start(t T, options Options) *Server {
	t.Helper()
	if options.Address == "" {
		options.Address = "127.0.0.1"
	}
	if options.Listen == "" {
		options.Listen = options.Address
	}
	s := &Server{
		t: t, options: options, root: newFolder(t), backend: backend(t),
		repositories: map[string]*Repository{}, objects: map[string][]byte{},
	}
	if options.Authority == nil {
		var err error
		s.options.Authority, err = NewAuthority()
		must(t, err)
	}
	certificate := s.options.Authority.sign(t, options.Address)
	s.https = s.serve(&tls.Config{Certificates: []tls.Certificate{certificate}})
	s.plain = s.serve(nil)
	return s
}

// newFolder returns a folder that other users can look into.
func newFolder(t T) string {
	t.Helper()
	folder := t.TempDir()
	must(t, os.Chmod(folder, 0o755))
	must(t, os.Chmod(filepath.Dir(folder), 0o755))
	return folder
}

func backend(t T) string {
	t.Helper()
	folder, err := exec.Command("git", "--exec-path").Output()
	must(t, err)
	return filepath.Join(strings.TrimSpace(string(folder)), "git-http-backend")
}

// serve starts an HTTP server and returns its address.
func (s *Server) serve(config *tls.Config) string {
	s.t.Helper()
	listener := s.listen()
	if config != nil {
		listener = tls.NewListener(listener, config)
	}
	server := &http.Server{Handler: http.HandlerFunc(s.handle), ErrorLog: discard}
	go func() { _ = server.Serve(listener) }()
	s.t.Cleanup(func() { _ = server.Close() })
	return s.address(listener)
}

func (s *Server) listen() net.Listener {
	s.t.Helper()
	listener, err := net.Listen("tcp", net.JoinHostPort(s.options.Listen, "0"))
	must(s.t, err)
	return listener
}

// address returns how clients reach a listener.
func (s *Server) address(listener net.Listener) string {
	_, port, err := net.SplitHostPort(listener.Addr().String())
	must(s.t, err)
	return net.JoinHostPort(s.options.Address, port)
}

// CA returns the certificate of the authority to trust, in PEM.
func (s *Server) CA() string { return s.options.Authority.CA() }

// URL returns the https address of what is at a path of the server.
func (s *Server) URL(path string) string { return "https://" + s.https + "/" + path }

// PlainURL returns the http address of what is at a path of the server.
func (s *Server) PlainURL(path string) string { return "http://" + s.plain + "/" + path }

// must ends the test with an error.
func must(t T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
