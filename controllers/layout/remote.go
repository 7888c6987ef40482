// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const maxURL = 2048

// Remote is where a repository is cloned from. It holds no secret: an address
// with a password isn't one.
type Remote struct {
	// Scheme is https, http or ssh.
	Scheme string
	// User is the name to log in by; with ssh alone.
	User string
	// Host is a name or an address, with the port if one is given.
	Host string
	// Path is the path as it was written.
	Path string
}

// ParseRemote reads the address of a repository: https://, ssh:// or
// user@host:path, and http:// if it is allowed. Its errors never repeat the
// address, which may hold a secret.
func ParseRemote(address string, allowHTTP bool) (Remote, error) {
	switch {
	case len(address) > maxURL:
		return Remote{}, fmt.Errorf("must be at most %d bytes", maxURL)
	case !utf8.ValidString(address):
		return Remote{}, errors.New("must be valid UTF-8")
	case strings.ContainsFunc(address, func(r rune) bool { return unicode.IsSpace(r) || invisible(r) }):
		return Remote{}, errors.New("must not contain spaces, control or format characters")
	case strings.ContainsAny(address, "?#"):
		return Remote{}, errors.New("must not have a query or fragment")
	case strings.Contains(address, "://"):
		return parseURL(address, allowHTTP)
	default:
		return parseSCP(address)
	}
}

func parseURL(address string, allowHTTP bool) (Remote, error) {
	scheme, _, _ := strings.Cut(address, "://")
	if err := checkScheme(scheme, allowHTTP); err != nil {
		return Remote{}, err
	}
	parsed, err := url.Parse(address)
	if err != nil {
		return Remote{}, errors.New("must be a valid URL")
	}
	if err := checkUserinfo(parsed); err != nil {
		return Remote{}, err
	}
	if port := parsed.Port(); port != "" && !isPort(port) {
		return Remote{}, errors.New("must have a port from 1 to 65535")
	}
	remote := Remote{Scheme: scheme, User: parsed.User.Username(), Host: parsed.Host}
	// What was written, not what it decodes to.
	_, rest, _ := strings.Cut(address, "://")
	if slash := strings.IndexByte(rest, '/'); slash >= 0 {
		remote.Path = rest[slash:]
	}
	return remote, remote.check()
}

func isPort(text string) bool {
	port, err := strconv.ParseUint(text, 10, 16)
	return err == nil && port > 0
}

func checkScheme(scheme string, allowHTTP bool) error {
	switch {
	case scheme == "https" || scheme == "ssh":
		return nil
	case scheme == "http" && allowHTTP:
		return nil
	case scheme == "http":
		return errors.New("must not use 'http://': the deployment does not allow it")
	default:
		return errForm
	}
}

var errForm = errors.New("must have the form 'https://host/path', 'ssh://user@host/path' or 'user@host:path'")

// checkUserinfo refuses passwords and, but for ssh, user names: there a token
// is often put in the place of one.
func checkUserinfo(parsed *url.URL) error {
	if parsed.User == nil {
		return nil
	}
	if _, set := parsed.User.Password(); set || parsed.Scheme != "ssh" {
		return errors.New("must not hold a user or password; use credentials")
	}
	return nil
}

// parseSCP reads user@host:path as git does: the host ends at the first colon
// that isn't inside brackets.
func parseSCP(address string) (Remote, error) {
	user, rest, found := strings.Cut(address, "@")
	if !found || user == "" || strings.ContainsAny(user, ":/") {
		return Remote{}, errForm
	}
	end := 0
	if strings.HasPrefix(rest, "[") {
		end = strings.IndexByte(rest, ']') + 1
	}
	colon := strings.IndexByte(rest[end:], ':')
	if colon < 0 || strings.ContainsAny(rest[:end+colon], "/@") {
		return Remote{}, errForm
	}
	remote := Remote{Scheme: "ssh", User: user, Host: rest[:end+colon], Path: rest[end+colon+1:]}
	return remote, remote.check()
}

// check refuses what a program could take for an option, and addresses of
// nothing.
func (r Remote) check() error {
	switch {
	case strings.ContainsFunc(r.Host, func(letter rune) bool { return letter >= utf8.RuneSelf }):
		return errors.New("must have a host of ASCII letters; write an internationalized name in its xn-- form")
	case r.Host == "" || strings.HasPrefix(r.Host, ":"):
		return errors.New("must name a host")
	case strings.HasPrefix(r.Host, "-") || strings.HasPrefix(r.User, "-") || strings.HasPrefix(r.Path, "-"):
		return errors.New("must not have a user, host or path that starts with '-'")
	case strings.Trim(r.Path, "/") == "":
		return errors.New("must have a path")
	}
	return nil
}

// Repository returns the directory that a repository is cloned to: the one
// that its user asks for or, below Workspace, the last segment of its path as
// it was written, without one '.git' at its end. Its errors state the rule, not
// the value.
func Repository(remote Remote, mountPath string) (string, error) {
	if mountPath != "" {
		path, err := MountDirectory(mountPath)
		if err != nil {
			return "", fmt.Errorf("mount path %w", err)
		}
		return path, nil
	}
	path := strings.TrimRight(remote.Path, "/")
	name := strings.TrimSuffix(path[strings.LastIndexByte(path, '/')+1:], ".git")
	if err := SafeSegment(name); err != nil {
		return "", fmt.Errorf("directory name %w; set mountPath", err)
	}
	return Workspace + "/" + name, nil
}
