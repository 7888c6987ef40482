// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/confine"
	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

// setupPod is what the setup container of a pod sees.
type setupPod struct {
	t                                             *testing.T
	inputs, sealed, work, bin, message, manifests string
	// commits are what setup shall tell of repositories.
	commits map[string]string
	// digest is the manifest's if empty.
	digest string
}

// newSetupPod makes the folders as the kubelet does: the roots of the volumes
// belong to root and are open to the group.
func newSetupPod(t *testing.T) *setupPod {
	t.Helper()
	folder := sharedFolder(t)
	p := &setupPod{
		t: t, inputs: filepath.Join(folder, "inputs"), sealed: filepath.Join(folder, "sealed"), work: filepath.Join(folder, "work"), bin: filepath.Join(folder, "bin"),
		message: filepath.Join(folder, "termination-log"), manifests: filepath.Join(folder, "setup.json"),
	}
	p.must(os.Mkdir(p.inputs, 0o755))
	for _, volume := range []string{p.sealed, p.work, p.bin} {
		p.makeVolume(volume)
	}
	writeFile(t, p.message, nil, 0o666)
	t.Cleanup(func() { _ = os.Chmod(p.bin, 0o755) })
	return p
}

// makeVolume makes an empty volume.
func (p *setupPod) makeVolume(folder string) {
	p.t.Helper()
	p.must(os.MkdirAll(folder, 0o755))
	if os.Geteuid() == 0 {
		p.must(os.Chown(folder, 0, sandboxUser))
		p.must(os.Chmod(folder, 0o777|fs.ModeSetgid))
	}
}

func (p *setupPod) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// project fills the inputs as the kubelet does: a version of its own for each
// state, a link to the current one, and a link for each name.
func (p *setupPod) project(version string, contents map[string]string) {
	p.t.Helper()
	for name, content := range contents {
		file := filepath.Join(p.inputs, version, name)
		p.must(os.MkdirAll(filepath.Dir(file), 0o755))
		writeFile(p.t, file, []byte(content), 0o644)
		top, _, _ := strings.Cut(name, "/")
		if _, err := os.Lstat(filepath.Join(p.inputs, top)); err != nil {
			p.must(os.Symlink("..data/"+top, filepath.Join(p.inputs, top)))
		}
	}
	draft := filepath.Join(p.inputs, "..data_tmp")
	p.must(os.Symlink(version, draft))
	p.must(os.Rename(draft, filepath.Join(p.inputs, "..data")))
}

// run runs setup as the sandbox's user and returns its log and exit code.
func (p *setupPod) run(document manifest.Setup) (log string, exitCode int) {
	p.t.Helper()
	encoded, err := manifest.Encode(document)
	p.must(err)
	writeFile(p.t, p.manifests, encoded, 0o644)
	digest := p.digest
	if digest == "" {
		digest = manifest.Digest(encoded)
	}
	// No mode may depend on the umask.
	command := exec.CommandContext(p.t.Context(), "sh", "-c", `umask 077; exec "$@"`, "sh", binary, "setup", "--manifest="+p.manifests, "--manifest-digest="+digest,
		"--inputs="+p.inputs, "--sealed="+p.sealed, "--work="+p.work, "--bin="+p.bin, "--termination-message="+p.message)
	if os.Geteuid() == 0 {
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: sandboxUser, Gid: sandboxUser}}
	}
	output, err := command.CombinedOutput()
	if command.ProcessState == nil {
		p.t.Fatal(err)
	}
	return string(output), command.ProcessState.ExitCode()
}

// wantSuccess runs setup and compares the sealed tree with what is wanted
// beside the fixed content.
func (p *setupPod) wantSuccess(document manifest.Setup, want map[string]string) {
	p.t.Helper()
	log, exitCode := p.run(document)
	message, err := os.ReadFile(p.message)
	p.must(err)
	landlock, err := confine.Landlock(nil)
	p.must(err)
	result, err := manifest.DecodeResult[manifest.SetupResult](string(message))
	if exitCode != 0 || err != nil || !cmp.Equal(result, manifest.SetupResult{Code: manifest.SetupPrepared, Landlock: landlock, Commits: p.commits}) {
		p.t.Fatalf("exit code %d, termination message %q, log:\n%s", exitCode, message, log)
	}
	want["/etc"] = "drwxr-xr-x"
	hostname, err := os.Hostname()
	p.must(err)
	want["/etc/hosts"] = "-rw-r--r-- 127.0.0.1\tlocalhost\n::1\tlocalhost\n127.0.1.1\t" + hostname + "\n"
	if diff := cmp.Diff(want, p.tree()); diff != "" {
		p.t.Errorf("the sealed tree differs (-want +got):\n%s", diff)
	}
}

// wantFailure runs setup and compares its result.
func (p *setupPod) wantFailure(document manifest.Setup, want manifest.SetupResult) {
	p.t.Helper()
	log, exitCode := p.run(document)
	message, err := os.ReadFile(p.message)
	p.must(err)
	got, err := manifest.DecodeResult[manifest.SetupResult](string(message))
	if err != nil || exitCode != 1 {
		p.t.Fatalf("exit code %d, want 1; termination message %q (%v), log:\n%s", exitCode, message, err, log)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		p.t.Errorf("the result differs (-want +got):\n%s", diff)
	}
}

// tree returns the mode and the content of everything in the sealed tree.
func (p *setupPod) tree() map[string]string {
	p.t.Helper()
	return treeOf(p.t, p.sealed)
}

// treeOf returns the mode and the content of everything in a folder. Of what git
// keeps for a repository it says only that it is there.
func treeOf(t *testing.T, top string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == top {
			return err
		}
		found[strings.TrimPrefix(path, top)], err = describe(path)
		if _, missing := os.Stat(filepath.Join(path, "HEAD")); entry.Name() == ".git" && missing == nil {
			return fs.SkipDir
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func describe(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	switch info.Mode().Type() {
	case 0:
		content, err := os.ReadFile(path)
		return info.Mode().String() + " " + string(content), err
	case fs.ModeSymlink:
		target, err := os.Readlink(path)
		return "-> " + target, err
	default:
		return info.Mode().String(), nil
	}
}

// file is a file resource whose source has the resource's name.
func file(resource, path string) manifest.File {
	return manifest.File{Resource: resource, Path: path, ConfigMap: "inputs", Key: resource + ".txt", Source: resource}
}

// ordinary is a manifest with the given files.
func ordinary(files ...manifest.File) manifest.Setup {
	return manifest.Setup{Directories: []string{"/workspace"}, Files: files, TimeoutSeconds: 60}
}
