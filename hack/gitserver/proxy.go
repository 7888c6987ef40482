// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package gitserver

import (
	"io"
	"net"
	"net/http"
	"sync"
)

// Proxy is one that connects to whatever it is asked for.
type Proxy struct {
	// URL is its address.
	URL string

	mu      sync.Mutex
	targets []string
}

// StartProxy starts a proxy, which ends with the test.
func StartProxy(t T, options Options) *Proxy {
	t.Helper()
	if options.Address == "" {
		options.Address = "127.0.0.1"
	}
	if options.Listen == "" {
		options.Listen = options.Address
	}
	s := &Server{t: t, options: options}
	listener := s.listen()
	proxy := &Proxy{URL: "http://" + s.address(listener)}
	server := &http.Server{Handler: proxy, ErrorLog: discard}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return proxy
}

// Targets returns the addresses, host:port, that the proxy was asked for.
func (p *Proxy) Targets() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string{}, p.targets...)
}

// ServeHTTP connects a client to what it asks for.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.targets = append(p.targets, r.Host)
	p.mu.Unlock()
	if r.Method != http.MethodConnect {
		http.Error(w, "this proxy only connects", http.StatusMethodNotAllowed)
		return
	}
	target, err := net.Dial("tcp", r.Host)
	if err != nil {
		http.Error(w, "the target is not there", http.StatusBadGateway)
		return
	}
	defer target.Close()
	w.WriteHeader(http.StatusOK)
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer client.Close()
	go func() {
		_, _ = io.Copy(target, buffered)
		_ = target.(*net.TCPConn).CloseWrite()
	}()
	_, _ = io.Copy(client, target)
}
