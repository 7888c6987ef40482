// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestEndpointOf(t *testing.T) {
	for address, want := range map[string]Endpoint{
		"https://git.test/org/app.git":          {"https", "git.test", "443"},
		"https://GIT.test:443/org/app.git":      {"https", "git.test", "443"},
		"https://git.test:8443/org/app.git":     {"https", "git.test", "8443"},
		"http://git.test/org/app.git":           {"http", "git.test", "80"},
		"ssh://git@git.test/org/app.git":        {"ssh", "git.test", "22"},
		"ssh://git@git.test:2222/org/app.git":   {"ssh", "git.test", "2222"},
		"git@git.test:org/app.git":              {"ssh", "git.test", "22"},
		"git@git.test:2222:app.git":             {"ssh", "git.test", "22"},
		"ssh://git@[2001:DB8::1]:2222/app.git":  {"ssh", "2001:db8::1", "2222"},
		"ssh://git@[2001:db8::1]/org/app.git":   {"ssh", "2001:db8::1", "22"},
		"git@[2001:db8::1]:app.git":             {"ssh", "2001:db8::1", "22"},
		"git@[git.test:2222]:app.git":           {"ssh", "git.test", "2222"},
		"https://[2001:db8::1]/org/app.git":     {"https", "2001:db8::1", "443"},
		"https://[2001:db8::1]:444/org/app.git": {"https", "2001:db8::1", "444"},
	} {
		if got, err := EndpointOf(address); err != nil || got != want {
			t.Errorf("%s: got %+v (%v), want %+v", address, got, err, want)
		}
	}
}

func TestHostsOfASecret(t *testing.T) {
	https, ssh := NewEndpoint("https", "git.test"), NewEndpoint("ssh", "git.test:2222")
	for name, tc := range map[string]struct {
		hosts string
		of    Endpoint
		want  bool
	}{
		"none":                  {"", https, true},
		"white space":           {" \n\n", https, true},
		"the host":              {"git.test", https, true},
		"the host in capitals":  {"GIT.TEST\n", https, true},
		"the host and its port": {"other.test\ngit.test:443", https, true},
		"another port":          {"git.test:8443", https, false},
		"another host":          {"git.test.evil", https, false},
		"a part of it":          {"test", https, false},
		"a pattern":             {"*.test\n*", https, false},
		"a comment":             {"# git.test\nother.test", https, false},
		"two in a line":         {"git.test other.test", https, false},
		"the usual port":        {"git.test", ssh, false},
		"the port of ssh":       {"git.test:2222", ssh, true},
	} {
		t.Run(name, func(t *testing.T) {
			hosts := Secret{hostsText: tc.hosts}.hosts()
			if got := len(hosts) == 0 || tc.of.among(hosts); got != tc.want {
				t.Errorf("got %v for %q", got, hosts)
			}
		})
	}
}

// The credential is for one scheme, host and port.
func TestTheHelperAnswersForItsServerAlone(t *testing.T) {
	folder := t.TempDir()
	writeKey(t, folder, "password", "secret")
	for name, tc := range map[string]struct{ request, want string }{
		"the own server":             {"protocol=https\nhost=git.test\n", "username=git\npassword=secret\n"},
		"with its port":              {"protocol=https\nhost=git.test:443\n\n", "username=git\npassword=secret\n"},
		"with a path and a user":     {"protocol=https\nhost=git.test\npath=a/b\nusername=x\nwwwauth[]=a\nwwwauth[]=b\n", "username=git\npassword=secret\n"},
		"without encryption":         {"protocol=http\nhost=git.test\n", ""},
		"without it, to its port":    {"protocol=http\nhost=git.test:443\n", ""},
		"another port":               {"protocol=https\nhost=git.test:8443\n", ""},
		"another host":               {"protocol=https\nhost=git.test.evil\n", ""},
		"a host with the own before": {"protocol=https\nhost=git.test@evil\n", ""},
		"a host that folds to it":    {"protocol=https\nhost=g\u0130t.test\n", ""},
		"ssh":                        {"protocol=ssh\nhost=git.test\n", ""},
		"nothing":                    {"", ""},
		"a host twice":               {"protocol=https\nhost=evil\nhost=git.test\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var answer strings.Builder
			grant := Grant{Endpoint: NewEndpoint("https", "git.test"), Folder: folder, Name: "git-cred"}
			err := grant.answer(strings.NewReader(tc.request), &answer)
			if answer.String() != tc.want || (err != nil) != (name == "a host twice") {
				t.Errorf("got %q (%v), want %q", answer.String(), err, tc.want)
			}
		})
	}
}

// The private key is for one host and port, and git's options are the only ones.
func TestSSHCalls(t *testing.T) {
	grant := Grant{Endpoint: NewEndpoint("ssh", "git.test:2222"), Key: "/work/key", KnownHosts: "/work/known_hosts"}
	for name, tc := range map[string]struct {
		arguments []string
		key       bool
		// end are the last arguments; none: the call is refused.
		end []string
	}{
		"git's":               {[]string{"-o", "SendEnv=GIT_PROTOCOL", "-p", "2222", "git@git.test", "git-upload-pack 'x'"}, true, []string{"-o", "SendEnv=GIT_PROTOCOL", "-p", "2222", "--", "git@git.test", "git-upload-pack 'x'"}},
		"Git LFS's":           {[]string{"-p", "2222", "--", "git@GIT.test", "git-lfs-authenticate x"}, true, []string{"--", "git@GIT.test", "git-lfs-authenticate x"}},
		"without a user":      {[]string{"-4", "-p", "2222", "git.test", "x"}, true, []string{"-4", "-p", "2222", "--", "git.test", "x"}},
		"another port":        {[]string{"git@git.test", "x"}, false, []string{"--", "git@git.test", "x"}},
		"another host":        {[]string{"-p", "2222", "git.test@evil", "x"}, false, []string{"--", "git.test@evil", "x"}},
		"an address":          {[]string{"-p", "2222", "2001:db8::1", "x"}, false, []string{"--", "2001:db8::1", "x"}},
		"a command to run":    {[]string{"-o", "ProxyCommand=touch /tmp/x", "git.test", "x"}, false, nil},
		"another file":        {[]string{"-F", "/tmp/x", "git.test", "x"}, false, nil},
		"an option as a host": {[]string{"--", "-oProxyCommand=x", "x"}, false, nil},
		"no host":             {[]string{"-p", "22"}, false, nil},
		"no value":            {[]string{"-p"}, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := parseCall(tc.arguments)
			if err != nil || tc.end == nil {
				if (err != nil) != (tc.end == nil) {
					t.Errorf("got %+v and the error %v", c, err)
				}
				return
			}
			command := grant.command(c)
			if got := slices.Contains(command, "IdentityFile=/work/key"); got != tc.key || got == slices.Contains(command, "IdentityFile=none") {
				t.Errorf("the key is offered: %v, want %v: %q", got, tc.key, command)
			}
			if got := command[len(command)-len(tc.end):]; !slices.Equal(got, tc.end) {
				t.Errorf("got %q, want %q", got, tc.end)
			}
		})
	}
}

func writeKey(t *testing.T, folder, key, value string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, key), []byte(value), 0o600); err != nil {
		t.Fatal(err)
	}
}
