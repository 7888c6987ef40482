// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package repository

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/credential"
	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/gitbox"
)

// job is the work of cloning one repository.
type job struct {
	clone  Clone
	shared shared
	// work is a folder in memory of the job's own.
	work string
	// staging is where the tree is made, beside where it will be.
	staging string
	grant   credential.Grant
	secrets scrubber
	log     *slog.Logger
	voice   *progress
}

// newJob prepares a job. Its error is a *failure if the session's owner can do
// something about it.
func newJob(clone Clone, shared shared, name string, log *slog.Logger) (*job, error) {
	j := &job{
		clone: clone, shared: shared, log: log,
		work:    filepath.Join(shared.work, name),
		staging: filepath.Join(filepath.Dir(clone.Folder), ".cloning-"+clone.Resource),
	}
	endpoint, err := credential.EndpointOf(clone.URL)
	if err != nil {
		return nil, &failure{text: "the URL " + err.Error()}
	}
	j.grant = credential.Grant{Endpoint: endpoint}
	for _, folder := range []string{j.work, filepath.Join(j.work, "home"), filepath.Join(j.work, "tmp")} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			return nil, fmt.Errorf("making the work folder: %w", err)
		}
	}
	if err := j.readSecret(); err != nil {
		return nil, err
	}
	j.voice = &progress{log: log, secrets: j.secrets}
	if err := j.writeAccount(); err != nil {
		return nil, err
	}
	return j, nil
}

// readSecret reads the credential and checks it before anybody is asked.
func (j *job) readSecret() error {
	j.secrets = newScrubber(credential.Secret{}, j.staging, j.work, j.shared.work)
	if j.clone.Secret == "" {
		if j.grant.Endpoint.Scheme == "ssh" {
			return &failure{text: fmt.Sprintf("%s needs credentials: a Secret with the keys ssh-privatekey and known_hosts", j.grant.Endpoint)}
		}
		return nil
	}
	secret, err := credential.Read(j.clone.Secret, j.clone.Credential)
	if err != nil {
		return &failure{text: err.Error()}
	}
	j.secrets = newScrubber(secret, j.staging, j.work, j.shared.work)
	if err := secret.Check(j.grant.Endpoint); err != nil {
		failed := &failure{text: err.Error()}
		if _, is := errors.AsType[*credential.MissingError](err); is {
			failed.kind = missing
		}
		return failed
	}
	j.grant.Folder, j.grant.Name = j.clone.Credential, j.clone.Secret
	if j.grant.Endpoint.Scheme == "ssh" {
		return j.writeKeys(secret)
	}
	return nil
}

// writeKeys copies the keys of ssh to where they have the owner and mode that
// ssh insists on.
func (j *job) writeKeys(secret credential.Secret) error {
	j.grant.Key, j.grant.KnownHosts = filepath.Join(j.work, "key"), filepath.Join(j.work, "known_hosts")
	for path, content := range map[string]string{j.grant.Key: secret.PrivateKey, j.grant.KnownHosts: secret.KnownHosts} {
		// ssh reads no key whose last line doesn't end.
		content = strings.TrimRight(strings.ReplaceAll(content, "\r\n", "\n"), "\n") + "\n"
		if err := os.WriteFile(path, []byte(content), 0o400); err != nil {
			return fmt.Errorf("writing the keys of ssh: %w", err)
		}
	}
	return nil
}

// writeAccount gives ssh an account of the running user if the system has none.
func (j *job) writeAccount() error {
	uid := strconv.Itoa(os.Getuid())
	if j.grant.Endpoint.Scheme != "ssh" && !j.clone.Submodules {
		return nil
	}
	if _, err := user.LookupId(uid); err == nil {
		return nil
	}
	j.grant.Accounts = filepath.Join(j.work, "passwd")
	account := fmt.Sprintf("orca:x:%s:%d:orca:%s:/bin/sh\n", uid, os.Getgid(), filepath.Join(j.work, "home"))
	if err := os.WriteFile(j.grant.Accounts, []byte(account), 0o444); err != nil {
		return fmt.Errorf("writing an account for ssh: %w", err)
	}
	return nil
}

// box is what the job's git may touch.
func (j *job) box() gitbox.Box {
	box := gitbox.Box{Read: []string{j.shared.program}, Write: []string{j.staging, j.work}}
	for _, path := range []string{j.shared.authorities, j.grant.Folder} {
		if path != "" {
			box.Read = append(box.Read, path)
		}
	}
	return box
}

// run makes the tree in the staging folder and moves it into place. Nothing is
// left there if it fails.
func (j *job) run(ctx context.Context) (commit string, err error) {
	// What an earlier run left may be half made.
	if err := os.RemoveAll(j.staging); err != nil {
		return "", fmt.Errorf("removing the rest of an earlier clone: %w", err)
	}
	if err := errors.Join(os.Mkdir(j.staging, 0o755), os.Chmod(j.staging, 0o755)); err != nil {
		return "", fmt.Errorf("making a folder to clone into: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(j.staging)
		}
	}()
	if commit, err = j.make(ctx); err != nil {
		return "", err
	}
	if err := os.Rename(j.staging, j.clone.Folder); err != nil {
		return "", fmt.Errorf("moving the clone into place: %w", err)
	}
	return commit, nil
}
