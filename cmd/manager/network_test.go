// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
)

// forward spreads connections over ports of this machine, as a Service does,
// and returns its own port.
func forward(t *testing.T, ports ...int) int {
	t.Helper()
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	var next atomic.Int64
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go pipe(connection, ports[int(next.Add(1))%len(ports)])
		}
	}()
	return listener.Addr().(*net.TCPAddr).Port
}

func pipe(connection net.Conn, port int) {
	defer connection.Close()
	target, err := net.Dial("tcp", fmt.Sprintf("localhost:%d", port))
	if err != nil {
		return
	}
	defer target.Close()
	go func() {
		_, _ = io.Copy(target, connection)
		_ = target.(*net.TCPConn).CloseWrite()
	}()
	_, _ = io.Copy(connection, target)
}

// readiness returns what a manager says about each check.
func (p *process) readiness() string {
	response, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/readyz?verbose", p.port))
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err.Error()
	}
	return string(body)
}
