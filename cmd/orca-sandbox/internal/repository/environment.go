// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package repository

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/credential"
	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

// systemCA is where Debian has the authorities that the system trusts.
const systemCA = "/etc/ssl/certs/ca-certificates.crt"

// shared is what all jobs have.
type shared struct {
	// program is the file of this program, which serves as git's helpers.
	program string
	// work is the folder in which each job has one of its own.
	work string
	// authorities is a file of authorities to trust; empty: the system's.
	authorities string
	proxy       *manifest.Proxy
}

func newShared(options Options) (shared, error) {
	program, err := os.Executable()
	if err != nil {
		return shared{}, fmt.Errorf("finding this program: %w", err)
	}
	s := shared{program: program, work: options.Work, proxy: options.Proxy}
	if options.ExtraCA != "" {
		s.authorities = filepath.Join(options.Work, "authorities.pem")
		if err := writeAuthorities(s.authorities, options.ExtraCA); err != nil {
			return shared{}, fmt.Errorf("writing the authorities to trust: %w", err)
		}
	}
	return s, nil
}

// writeAuthorities adds the given authorities to the system's, which a minimal
// image may lack.
func writeAuthorities(path, extra string) error {
	system, err := os.ReadFile(systemCA)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	return os.WriteFile(path, append(system, "\n"+extra+"\n"...), 0o444)
}

// setting is one of git's configuration.
type setting struct{ key, value string }

// settings are what git is told in every call, over what any file says.
var settings = []setting{
	// No program that a repository or the system names is run.
	{"core.hooksPath", os.DevNull},
	{"init.templateDir", ""},
	{"core.fsmonitor", "false"},
	{"core.attributesFile", os.DevNull},
	{"core.excludesFile", os.DevNull},
	{"core.askPass", ""},
	{"gc.auto", "0"},
	{"maintenance.auto", "false"},
	// What is taken from a server is looked at, and no name in it can stand for
	// .git anywhere.
	{"core.protectHFS", "true"},
	{"core.protectNTFS", "true"},
	{"core.symlinks", "true"},
	{"transfer.fsckObjects", "true"},
	// Packs stay packs, as git clone has it.
	{"transfer.unpackLimit", "1"},
	// Submodules are a step of their own.
	{"submodule.recurse", "false"},
	{"fetch.recurseSubmodules", "false"},
	{"advice.detachedHead", "false"},
	{"protocol.version", "2"},
	{"http.followRedirects", "initial"},
	// A server that sends less for a minute has stalled.
	{"http.lowSpeedLimit", "1000"},
	{"http.lowSpeedTime", "60"},
	// Git LFS fetches by its own built-in means, and a file that it can't fetch is
	// a failure, whatever the repository's .lfsconfig says.
	{"lfs.basictransfersonly", "true"},
	{"lfs.skipdownloaderrors", "false"},
	{"lfs.fetchinclude", ""},
	{"lfs.fetchexclude", ""},
	{"lfs.ssh.automultiplex", "false"},
}

// oldFlaws are what fsck finds in much of old history that harms nobody.
var oldFlaws = []string{
	"badDateOverflow", "badEmail", "badName", "badTimezone", "duplicateEntries", "emptyName", "fullPathname", "missingEmail", "missingNameBeforeEmail",
	"missingSpaceBeforeDate", "missingSpaceBeforeEmail", "missingTaggerEntry", "multipleAuthors", "nulInCommit", "nullSha1", "zeroPaddedDate", "zeroPaddedFilemode",
}

// configuration returns the settings of a job.
func (j *job) configuration() []setting {
	all := append([]setting{}, settings...)
	for _, flaw := range oldFlaws {
		all = append(all, setting{"fetch.fsck." + flaw, "ignore"})
	}
	all = append(all,
		setting{"credential.helper", ""},
		setting{"credential.helper", "!" + j.helper(credential.HelperSubcommand)},
	)
	if j.shared.authorities != "" {
		all = append(all, setting{"http.sslCAInfo", j.shared.authorities})
	}
	if j.clone.LFS {
		all = append(all, setting{"filter.lfs.process", "git-lfs filter-process"}, setting{"filter.lfs.required", "true"})
	}
	return all
}

// helper returns the command, for a shell, of this program as a helper.
func (j *job) helper(subcommand string) string {
	return "'" + strings.ReplaceAll(j.shared.program, "'", `'\''`) + "' " + subcommand
}

// environment returns all variables that git has in a job.
func (j *job) environment() []string {
	home := filepath.Join(j.work, "home")
	variables := []string{
		"PATH=/usr/local/bin:/usr/bin:/bin",
		"LC_ALL=C",
		"HOME=" + home, "XDG_CONFIG_HOME=" + home, "TMPDIR=" + filepath.Join(j.work, "tmp"),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_TERMINAL_PROMPT=0",
		"GIT_CEILING_DIRECTORIES=" + filepath.Dir(j.staging),
		"GIT_ALLOW_PROTOCOL=" + j.protocols(),
		"GIT_SSH_COMMAND=" + j.helper(credential.SSHSubcommand), "GIT_SSH_VARIANT=ssh",
		// In the log of refs. The running user may have no name.
		"GIT_COMMITTER_NAME=orca", "GIT_COMMITTER_EMAIL=orca@localhost",
		j.grant.Encode(),
	}
	if !j.clone.LFS {
		variables = append(variables, "GIT_LFS_SKIP_SMUDGE=1")
	}
	variables = append(variables, j.proxyVariables()...)
	all := j.configuration()
	variables = append(variables, "GIT_CONFIG_COUNT="+strconv.Itoa(len(all)))
	for i, s := range all {
		variables = append(variables, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, s.key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, s.value))
	}
	return variables
}

// protocols are what the address, redirects and submodules may use. Only who
// already goes without encryption may go on so.
func (j *job) protocols() string {
	if j.grant.Endpoint.Scheme == "http" {
		return "http:https:ssh"
	}
	return "https:ssh"
}

// proxyVariables name the proxy in both spellings: git knows one only of
// http_proxy, and Git LFS the other.
func (j *job) proxyVariables() []string {
	proxy := j.shared.proxy
	if proxy == nil {
		return nil
	}
	var variables []string
	for name, value := range map[string]string{"http_proxy": proxy.HTTP, "https_proxy": proxy.HTTPS, "no_proxy": proxy.NoProxy} {
		if value != "" {
			variables = append(variables, name+"="+value, strings.ToUpper(name)+"="+value)
		}
	}
	return variables
}
