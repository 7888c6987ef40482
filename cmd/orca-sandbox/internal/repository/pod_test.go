// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package repository_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/repository"
	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

// pod is what the setup container sees.
type pod struct {
	t *testing.T
	// volume is where trees appear, work the folder in memory, secrets where
	// credentials are mounted.
	volume, work, secrets string
	options               repository.Options
	limit                 time.Duration
	// log is what the last run logged.
	log string
}

func newPod(t *testing.T) *pod {
	t.Helper()
	folder := t.TempDir()
	p := &pod{
		t: t, limit: time.Minute,
		volume: filepath.Join(folder, "volume"), work: filepath.Join(folder, "work"), secrets: filepath.Join(folder, "secrets"),
	}
	p.must(os.Chmod(folder, 0o755))
	p.must(os.Chmod(filepath.Dir(folder), 0o755))
	for _, folder := range []string{p.volume, p.work, p.secrets} {
		p.must(os.Mkdir(folder, 0o755))
	}
	for _, folder := range []string{p.volume, p.work} {
		p.own(folder)
	}
	p.options.Work = p.work
	return p
}

// again returns a pod with the same secrets for a part of a test.
func (p *pod) again(t *testing.T) *pod {
	t.Helper()
	other := newPod(t)
	other.options.ExtraCA, other.secrets = p.options.ExtraCA, p.secrets
	return other
}

func (p *pod) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// own gives a folder to the user that clones.
func (p *pod) own(path string) {
	p.t.Helper()
	if os.Geteuid() == 0 {
		p.must(os.Chown(path, cloner, cloner))
	}
}

// as makes a command run as the user that clones.
func as(command *exec.Cmd) *exec.Cmd {
	if os.Geteuid() == 0 {
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: cloner, Gid: cloner}}
	}
	return command
}

// secret mounts a Secret as the kubelet does and returns its folder.
func (p *pod) secret(name string, keys map[string]string) string {
	p.t.Helper()
	folder := filepath.Join(p.secrets, name)
	p.must(os.MkdirAll(filepath.Join(folder, "..2026_01_01"), 0o755))
	p.must(os.Symlink("..2026_01_01", filepath.Join(folder, "..data")))
	for key, value := range keys {
		p.must(os.WriteFile(filepath.Join(folder, "..data", key), []byte(value), 0o644))
		p.must(os.Symlink(filepath.Join("..data", key), filepath.Join(folder, key)))
	}
	return folder
}

// clone is a repository to clone, into a folder of the resource's name.
func (p *pod) clone(resource, address string, change ...func(*manifest.Repository)) repository.Clone {
	clone := repository.Clone{Folder: p.tree(resource), Repository: manifest.Repository{Resource: resource, URL: address, Path: "/workspace/" + resource}}
	for _, change := range change {
		change(&clone.Repository)
	}
	return clone
}

// with gives a repository a Secret.
func (p *pod) with(name string, keys map[string]string) func(*manifest.Repository) {
	p.t.Helper()
	folder := p.secret(name, keys)
	return func(r *manifest.Repository) { r.Secret, r.Credential = name, folder }
}

func (p *pod) tree(resource string) string { return filepath.Join(p.volume, resource) }

// run clones and returns how it went.
func (p *pod) run(clones ...repository.Clone) answer {
	p.t.Helper()
	_, wait := p.start(clones...)
	return wait()
}

// start starts to clone. The returned function waits for the end.
func (p *pod) start(clones ...repository.Clone) (*exec.Cmd, func() answer) {
	p.t.Helper()
	input, err := json.Marshal(order{clones, p.options, p.limit})
	p.must(err)
	// No mode may depend on the umask.
	command := as(exec.CommandContext(p.t.Context(), "sh", "-c", `umask 077; exec "$@"`, "sh", program, cloneRole))
	command.Dir = "/"
	command.Env = []string{"PATH=" + os.Getenv("PATH")}
	var output, log bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = bytes.NewReader(input), &output, &log
	p.must(command.Start())
	return command, func() answer {
		p.t.Helper()
		err := command.Wait()
		p.log = log.String()
		if err != nil {
			p.t.Fatalf("%v, log:\n%s", err, p.log)
		}
		var a answer
		p.must(json.NewDecoder(&output).Decode(&a))
		p.wantNothingLeft()
		if left := p.processes(); len(left) > 0 {
			p.t.Errorf("processes are left behind: %v", left)
		}
		return a
	}
}
