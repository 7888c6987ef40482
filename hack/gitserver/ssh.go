// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package gitserver

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"time"
)

// startTime is the time of everything that is served.
var startTime = time.Now()

// SSH is an OpenSSH server of a Server's repositories.
type SSH struct {
	// User is who to log in as.
	User string
	// Key is the private key that it lets in.
	Key string
	// KnownHosts holds its host key.
	KnownHosts string

	address string
	folder  string
	t       T
}

// Address returns ssh://host:port.
func (s *SSH) Address() string { return "ssh://" + s.address }

// Admit lets another private key in, too.
func (s *SSH) Admit(key string) {
	s.t.Helper()
	path := filepath.Join(s.t.TempDir(), "key")
	write(s.t, path, key, 0o600)
	public, err := exec.Command("ssh-keygen", "-y", "-f", path).Output()
	must(s.t, err)
	admitted := filepath.Join(s.folder, "authorized_keys")
	write(s.t, admitted, read(s.t, admitted)+string(public), 0o600)
}

// URL returns the address of what is at a path of the server.
func (s *SSH) URL(path string) string { return "ssh://" + s.User + "@" + s.address + "/" + path }

// StartSSH starts an OpenSSH server with keys of its own, which ends with the
// test. LFS is handed on to the HTTP servers, as GitHub does.
func (s *Server) StartSSH() *SSH {
	s.t.Helper()
	current, err := user.Current()
	must(s.t, err)
	folder := newFolder(s.t)
	must(s.t, os.Chmod(folder, 0o700))
	for _, name := range []string{"host", "client"} {
		run(s.t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", filepath.Join(folder, name))
	}
	write(s.t, filepath.Join(folder, "serve"), s.script(), 0o755)
	write(s.t, filepath.Join(folder, "authorized_keys"), read(s.t, filepath.Join(folder, "client.pub")), 0o600)

	listener := s.listen()
	address := s.address(listener)
	must(s.t, listener.Close()) // For sshd, which can't be given one.
	s.startDaemon(folder, listener.Addr().String())
	host, port, err := net.SplitHostPort(address)
	must(s.t, err)
	return &SSH{
		User: current.Username, Key: read(s.t, filepath.Join(folder, "client")), address: address, folder: folder, t: s.t,
		KnownHosts: fmt.Sprintf("[%s]:%s %s", host, port, read(s.t, filepath.Join(folder, "host.pub"))),
	}
}

// script is what sshd runs in the place of a shell.
func (s *Server) script() string {
	var script strings.Builder
	script.WriteString("#!/bin/sh\nset -f\n")
	for _, variable := range environment() {
		name, value, _ := strings.Cut(variable, "=")
		fmt.Fprintf(&script, "export %s='%s'\n", name, value)
	}
	fmt.Fprintf(&script, `path=${SSH_ORIGINAL_COMMAND#* }
case $SSH_ORIGINAL_COMMAND in
"git-upload-pack '"*) path=${path#\'}; exec git-upload-pack '%s'"${path%%\'}" ;;
"git-lfs-authenticate "*) path=${path%% download}; path=${path#/}; echo '{"href":"https://%s/'"$path"'/info/lfs"}' ;;
*) echo "not served: $SSH_ORIGINAL_COMMAND" >&2; exit 1 ;;
esac
`, filepath.Join(s.root, "repositories"), s.https)
	return script.String()
}

func (s *Server) startDaemon(folder, address string) {
	s.t.Helper()
	if os.Geteuid() == 0 { // It demands this folder then.
		must(s.t, os.MkdirAll("/run/sshd", 0o755))
	}
	config := filepath.Join(folder, "sshd_config")
	write(s.t, config, strings.Join([]string{
		"ListenAddress " + address, "HostKey " + filepath.Join(folder, "host"), "PidFile none", "UsePAM no", "StrictModes no",
		"AuthorizedKeysFile " + filepath.Join(folder, "authorized_keys"), "AuthenticationMethods publickey", "PermitRootLogin yes",
		"AcceptEnv GIT_PROTOCOL", "ForceCommand " + filepath.Join(folder, "serve"), "PrintMotd no", "PrintLastLog no", "MaxStartups 100",
	}, "\n")+"\n", 0o600)
	program, err := exec.LookPath("sshd")
	if err != nil {
		program = "/usr/sbin/sshd" // Not on everybody's path.
	}
	command := exec.Command(program, "-D", "-e", "-f", config)
	var log strings.Builder
	command.Stderr = &log
	must(s.t, command.Start())
	s.t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		if s.t.Failed() {
			s.t.Logf("sshd:\n%s", log.String())
		}
	})
	await(s.t, address)
}

// await waits until something listens at an address.
func await(t T, address string) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if connection, err := net.Dial("tcp", address); err == nil {
			_ = connection.Close()
			return
		}
	}
	t.Fatalf("nothing listens at %s", address)
}

func run(t T, program string, arguments ...string) {
	t.Helper()
	if output, err := exec.Command(program, arguments...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", program, err, output)
	}
}

func read(t T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	must(t, err)
	return string(content)
}

func write(t T, path, content string, mode os.FileMode) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(content), mode))
	must(t, os.Chmod(path, mode))
}
