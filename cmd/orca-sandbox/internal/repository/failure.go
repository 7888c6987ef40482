// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package repository

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

const (
	// maxCause bounds a cause, in bytes, and maxRemote what of it others have said.
	maxCause  = 400
	maxRemote = 256
	// remotePrefix stands before what others have said.
	remotePrefix = "remote: "
)

// kind says what may help against a failure.
type kind int

const (
	// permanent: only a change to the session or its surroundings.
	permanent kind = iota
	// transient: time.
	transient
	// missing: a Secret, or a key of it, appearing.
	missing
)

// failure is an error that the session's owner can do something about.
type failure struct {
	text string
	// remote is what git or a server said.
	remote string
	kind   kind
}

// Error returns the text and, as far as they fit, the words of the others.
func (f *failure) Error() string {
	if f.remote == "" {
		return manifest.Truncate(f.text, maxCause)
	}
	remote := manifest.Truncate(f.remote, maxRemote)
	text := manifest.Truncate(f.text, maxCause-len(remotePrefix)-len(remote)-len("; "))
	return text + "; " + remotePrefix + remote
}

// step is a part of the work.
type step struct {
	// name says what is being done.
	name string
	// other says whom git talks to, if not the repository's own server.
	other string
}

// The steps of a clone.
var (
	listing    = step{name: "asking for branches and tags"}
	preparing  = step{name: "preparing the clone"}
	fetching   = step{name: "fetching"}
	checkout   = step{name: "checking out"}
	largeFiles = step{name: "checking out and fetching LFS files", other: "the LFS server"}
	submodules = step{name: "fetching submodules", other: "the server of a submodule"}
)

// subject names whom git talked to.
func (j *job) subject(s step) string {
	if s.other != "" {
		return s.other
	}
	return j.grant.Endpoint.String()
}

// symptom is what git says when something goes wrong, and what it means.
type symptom struct {
	pattern *regexp.Regexp
	kind    kind
	meaning func(j *job, s step) string
}

// symptoms are looked for in this order: git often says what is passing after
// what isn't.
var symptoms = []symptom{
	{regexp.MustCompile(`REMOTE HOST IDENTIFICATION HAS CHANGED|Host key for .* has changed`), permanent, func(j *job, s step) string {
		return fmt.Sprintf("the host key of %s differs from the key known_hosts of %s", j.subject(s), j.secretName())
	}},
	{regexp.MustCompile(`Host key verification failed|host key is known for`), permanent, func(j *job, s step) string {
		return fmt.Sprintf("the host key of %s is not in the key known_hosts of %s", j.subject(s), j.secretName())
	}},
	{regexp.MustCompile(`Load key .*: |incorrect passphrase|error in libcrypto`), permanent, func(j *job, _ step) string {
		return fmt.Sprintf("the key ssh-privatekey of %s is not a private key without a passphrase", j.secretName())
	}},
	{regexp.MustCompile(`Permission denied \(|Authentication failed|could not read (Username|Password)|returned error: 40[13]\b|HTTP 40[13]\b|Authorization error|[Aa]uthentication required|Git credentials for .* not found`), permanent, (*job).refused},
	{regexp.MustCompile(`from proxy after CONNECT|response 40[0-9]|Proxy Authentication Required|returned error: 407`), permanent, func(j *job, s step) string {
		return fmt.Sprintf("the proxy of setup.proxy does not let through to %s", j.subject(s))
	}},
	{regexp.MustCompile(`certificate problem|certificate verif|x509: |certificate subject name|does not match target host name`), permanent, func(j *job, s step) string {
		return fmt.Sprintf("the certificate of %s is not trusted; setup.extraCA adds authorities", j.subject(s))
	}},
	{regexp.MustCompile(`transport '.*' not allowed|[Pp]rotocol "?.*"? (not supported|disabled)|Unsupported protocol`), permanent, func(j *job, s step) string {
		return fmt.Sprintf("%s leads to an address of a kind that is not allowed", j.subject(s))
	}},
	{regexp.MustCompile(`returned error: 3\d\d\b|url base from redirection`), permanent, func(j *job, s step) string {
		return fmt.Sprintf("%s redirects as git does not follow: use the address that it leads to", j.subject(s))
	}},
	{regexp.MustCompile(`No space left on device|Disk quota exceeded`), permanent, func(*job, step) string {
		return "the volume of the clone is full"
	}},
	{regexp.MustCompile(`died of signal 9|[Oo]ut of memory|[Cc]annot allocate memory`), permanent, func(*job, step) string { return noMemory }},
	{regexp.MustCompile(`did not contain [0-9a-f]{40,}|not our ref|unadvertised object`), permanent, func(j *job, s step) string {
		return unknownCommit(j.subject(s))
	}},
	{regexp.MustCompile(`[Rr]epository .*not found|[Rr]epository not found|returned error: 404\b|HTTP 404\b|not appear to be a git repository|could not be found or you don't have permission`), permanent, func(j *job, s step) string {
		return fmt.Sprintf("%s has no such repository, or hides it without the right credential", j.subject(s))
	}},
	{regexp.MustCompile(`\[404\]|Object does not exist|\[410\]`), permanent, func(j *job, s step) string {
		return fmt.Sprintf("%s does not have a file of the repository", j.subject(s))
	}},
	{regexp.MustCompile(`fsck error|badObject|[Oo]bject corrupt|in fsck`), permanent, func(*job, step) string {
		return "the repository holds objects that git refuses"
	}},
	{regexp.MustCompile(`returned error: 4(0[0-79]|1\d|2[0-8]|3\d)\b|HTTP 4(0[0-79]|1\d|2[0-8]|3\d)\b`), permanent, func(j *job, s step) string {
		return fmt.Sprintf("%s refuses what git asks for", j.subject(s))
	}},
	{regexp.MustCompile(`returned error: (5\d\d|429)\b|HTTP (5\d\d|429)\b|Server error|[Rr]ate limit|response 5\d\d`), transient, func(j *job, s step) string {
		return fmt.Sprintf("%s is out of order or overloaded", j.subject(s))
	}},
	{regexp.MustCompile(`(?i)resolve host|name resolution|not known|no such host|connection refused|failed to connect|couldn't connect|connection timed out|unreachable|no route to host|proxy connect|dial tcp|i/o timeout|connection closed by remote|kex_exchange`), transient, func(j *job, s step) string {
		return fmt.Sprintf("%s could not be reached; if a service mesh injects its proxy into pods here, exempt sandboxes", j.subject(s))
	}},
	{regexp.MustCompile(`(?i)connection reset|early eof|hung up|unexpected disconnect|rpc failed|too slow|timed? ?out|broken pipe|connection was|tls connection|recv error|send failure|empty reply|unexpected eof|connection closed|stream .*not closed cleanly|transfer closed`), transient, func(j *job, s step) string {
		return fmt.Sprintf("the connection to %s broke", j.subject(s))
	}},
}

// unknownCommit says that a server doesn't hand out a commit.
func unknownCommit(server string) string {
	return server + " does not hand out a commit that is asked for"
}

const noMemory = "git was killed, most likely because setup.resources.limits.memory is too low"

// explain says what a failure of git means.
func (j *job) explain(s step, lines []string, killed bool) *failure {
	text := strings.Join(lines, "\n")
	remote := telling(lines)
	if killed {
		return &failure{text: noMemory, remote: remote}
	}
	for _, symptom := range symptoms {
		if symptom.pattern.MatchString(text) {
			return &failure{text: symptom.meaning(j, s), remote: remote, kind: symptom.kind}
		}
	}
	return &failure{text: "git failed while " + s.name, remote: remote}
}

// refused says why a server may have refused access.
func (j *job) refused(s step) string {
	switch {
	case s.other != "":
		return fmt.Sprintf("%s refused access; credentials are offered to %s alone", j.subject(s), j.grant.Endpoint)
	case j.clone.Secret != "":
		return fmt.Sprintf("%s refused the credential of %s", j.subject(s), j.secretName())
	default:
		return fmt.Sprintf("%s asks for a credential: set credentials.secretRef, or correct the URL", j.subject(s))
	}
}

func (j *job) secretName() string { return fmt.Sprintf("Secret %q", j.clone.Secret) }

// noise is what git adds to its errors and nobody learns from.
var noise = regexp.MustCompile(`^(hint: |Please make sure|and the repository exists|Warning: |warning: |Cloning into|Submodule |Downloading |Failed to clone '|@+$|From |\* |(Enumerating|Counting|Compressing) objects|Total \d)`)

// telling returns the lines that say what is wrong, each once, as one.
func telling(lines []string) string {
	var kept []string
	for _, line := range lines {
		if line = strings.TrimPrefix(line, remotePrefix); !noise.MatchString(line) && !slices.Contains(kept, line) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "; ")
}
