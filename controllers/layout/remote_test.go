// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseRemote(t *testing.T) {
	cases := map[string]struct {
		address string
		want    Remote
	}{
		"https":                           {"https://git.test/org/app.git", Remote{Scheme: "https", Host: "git.test", Path: "/org/app.git"}},
		"https with a port":               {"https://git.test:8443/org/app", Remote{Scheme: "https", Host: "git.test:8443", Path: "/org/app"}},
		"https keeps what is escaped":     {"https://git.test/org/a%20b", Remote{Scheme: "https", Host: "git.test", Path: "/org/a%20b"}},
		"ssh with user and port":          {"ssh://git@git.test:22/org/app.git", Remote{Scheme: "ssh", User: "git", Host: "git.test:22", Path: "/org/app.git"}},
		"ssh without a user":              {"ssh://git.test/~dev/app.git", Remote{Scheme: "ssh", Host: "git.test", Path: "/~dev/app.git"}},
		"F04 ssh to an IPv6 address":      {"ssh://git@[2001:db8::1]:2222/org/app.git", Remote{Scheme: "ssh", User: "git", Host: "[2001:db8::1]:2222", Path: "/org/app.git"}},
		"scp":                             {"git@git.test:org/app.git", Remote{Scheme: "ssh", User: "git", Host: "git.test", Path: "org/app.git"}},
		"F04 scp without a folder":        {"git@git.test:app.git", Remote{Scheme: "ssh", User: "git", Host: "git.test", Path: "app.git"}},
		"F04 scp takes digits for a path": {"git@git.test:2222:app.git", Remote{Scheme: "ssh", User: "git", Host: "git.test", Path: "2222:app.git"}},
		"scp to an IPv6 address":          {"git@[2001:db8::1]:app.git", Remote{Scheme: "ssh", User: "git", Host: "[2001:db8::1]", Path: "app.git"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ParseRemote(tc.address, false)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseRemoteRefuses(t *testing.T) {
	cases := map[string]struct{ address, want string }{
		"F05 a password":                          {"https://bot:p@ss/w0rd@git.test/org/app.git", "must not hold a user or password"},
		"F05 a token as the user":                 {"https://token@git.test/org/app.git", "must not hold a user or password"},
		"a password for ssh":                      {"ssh://git:secret@git.test/app.git", "must not hold a user or password"},
		"a password in the scp form":              {"git:secret@git.test:app.git", "must have the form"},
		"a password before a second at sign":      {"git@secret@git.test:app.git", "must have the form"},
		"F03 a query and a fragment":              {"https://github.com/org/app.git?x=1#main", "must not have a query or fragment"},
		"a query in the scp form":                 {"git@git.test:org/app?token=x", "must not have a query or fragment"},
		"a fragment in the scp form":              {"git@git.test:org/app#x", "must not have a query or fragment"},
		"a port that there isn't":                 {"https://git.test:65536/org/app", "must have a port from 1 to 65535"},
		"a host that folds to another":            {"https://g\u0130t.test/org/app", "must have a host of ASCII letters"},
		"an internationalized host in scp form":   {"git@bücher.test:org/app", "must have a host of ASCII letters"},
		"the port 0":                              {"ssh://git@git.test:0/org/app", "must have a port from 1 to 65535"},
		"an empty query":                          {"https://github.com/org/app.git?", "must not have a query or fragment"},
		"F06 an option":                           {"--upload-pack=touch /tmp/x", "must not contain spaces"},
		"F06 an option without spaces":            {"--upload-pack=x", "must have the form"},
		"F06 a helper transport":                  {"ext::sh -c id", "must not contain spaces"},
		"P23 a helper transport without spaces":   {"ext::sh", "must have the form"},
		"P23 a file":                              {"file:///srv/app.git", "must have the form"},
		"a bare path":                             {"/srv/app.git", "must have the form"},
		"a user that is an option":                {"-oProxyCommand=x@git.test:app", "must not have a user, host or path that starts with '-'"},
		"a host that is an option":                {"ssh://-oProxyCommand=x/app", "must not have a user, host or path that starts with '-'"},
		"a path that is an option":                {"git@git.test:--config=a.git", "must not have a user, host or path that starts with '-'"},
		"http where it is not allowed":            {"http://git.test/app.git", "must not use 'http://'"},
		"a scheme in capitals":                    {"HTTPS://git.test/app.git", "must have the form"},
		"F04 scp without a user, with an address": {"[2001:db8::1]:app.git", "must have the form"},
		"F04 a host and nothing else":             {"git.test:", "must have the form"},
		"a user, a host and nothing else":         {"git@git.test:", "must have a path"},
		"a URL without a host":                    {"https:///org/app", "must name a host"},
		"a URL without a path":                    {"https://git.test/", "must have a path"},
		"a port that is no number":                {"https://git.test:x/app", "must be a valid URL"},
		"a new line":                              {"https://git.test/app\n.git", "must not contain spaces, control or format characters"},
		"a bidirectional override":                {"https://git.test/\u202eapp.git", "must not contain spaces, control or format characters"},
		"no UTF-8":                                {"https://git.test/\xff", "must be valid UTF-8"},
		"F04 512 KB":                              {strings.Repeat("a:", 256<<10), "must be at most 2048 bytes"},
		"an empty address":                        {"", "must have the form"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := ParseRemote(tc.address, false)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error = %v, want one with %q", err, tc.want)
			}
		})
	}
}

func TestParseRemoteAllowsHTTPWhereTheDeploymentDoes(t *testing.T) {
	got, err := ParseRemote("http://git.test/app.git", true)
	want := Remote{Scheme: "http", Host: "git.test", Path: "/app.git"}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v, (-want +got):\n%s", err, diff)
	}
}

func TestRepository(t *testing.T) {
	cases := map[string]struct{ address, mountPath, want string }{
		"F03 as it is":                  {"https://github.com/org/app", "", "/workspace/app"},
		"F03 with a slash":              {"https://github.com/org/app/", "", "/workspace/app"},
		"F03 with a suffix and a slash": {"https://github.com/org/app.git/", "", "/workspace/app"},
		"F03 with two slashes":          {"https://github.com/org/app//", "", "/workspace/app"},
		"F03 scp":                       {"git@github.com:org/app.git", "", "/workspace/app"},
		"F03 ssh":                       {"ssh://git@github.com:22/org/app.git", "", "/workspace/app"},
		"F03 dots in the name":          {"https://github.com/org/example.com.git", "", "/workspace/example.com"},
		"F03 one suffix only":           {"https://github.com/org/app.git.git", "", "/workspace/app.git"},
		"F03 a leading dot":             {"https://github.com/org/.github", "", "/workspace/.github"},
		"F03 case is kept":              {"https://GITHUB.com/Org/App", "", "/workspace/App"},
		"what is escaped stays escaped": {"https://github.com/org/a%2Fb", "", "/workspace/a%2Fb"},
		"a mount path":                  {"https://github.com/org/app", "/srv/app", "/srv/app"},
		"a mount path with a slash":     {"https://github.com/org/app", "/srv/app/", "/srv/app"},
		"a bad name under a mount path": {"https://github.com/org/.git", "/srv/app", "/srv/app"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			remote, err := ParseRemote(tc.address, false)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Repository(remote, tc.mountPath)
			if err != nil || got != tc.want {
				t.Errorf("Repository = %q, %v; want %q", got, err, tc.want)
			}
		})
	}
}

func TestRepositoryRefuses(t *testing.T) {
	cases := map[string]struct{ address, mountPath, want string }{
		"a name that is empty":              {"https://github.com/org/.git", "", "must not be empty"},
		"a name that is '..'":               {"https://github.com/org/..", "", "'.' or '..'"},
		"a name that is '.git'":             {"https://github.com/org/.git.git", "", "must not be '.git'"},
		"F04 a name with a colon":           {"git@git.test:2222:app.git", "", "must not contain ':'"},
		"F06 a name that is an option":      {"https://git.test/org/--config=a.git", "", "must not start with '-'"},
		"a mount path that isn't canonical": {"https://git.test/org/app", "/srv//app", "empty segments"},
		"a mount path where nothing may be": {"https://git.test/org/app", "/etc/app", "must not be at or under '/etc'"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			remote, err := ParseRemote(tc.address, false)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Repository(remote, tc.mountPath)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error = %v, want one with %q", err, tc.want)
			}
		})
	}
}

func TestMemoryStore(t *testing.T) {
	cases := map[string]struct{ id, name, want string }{
		"a name":                         {"mem_01", "Team Notes", "/mnt/memory/Team Notes"},
		"no name":                        {"mem_01", "", "/mnt/memory/mem_01"},
		"a name with a slash":            {"mem_01", "a/b", "/mnt/memory/mem_01"},
		"a name that leads out":          {"mem_01", "..", "/mnt/memory/mem_01"},
		"a name that is '.git'":          {"mem_01", ".git", "/mnt/memory/mem_01"},
		"a name that is an option":       {"mem_01", "-rf", "/mnt/memory/mem_01"},
		"a name with a space at its end": {"mem_01", "notes ", "/mnt/memory/mem_01"},
		"a name with a zero-width space": {"mem_01", "no\u200btes", "/mnt/memory/mem_01"},
		"a name of 256 bytes":            {"mem_01", strings.Repeat("n", 256), "/mnt/memory/mem_01"},
		"F60 a name in a normal form":    {"mem_01", "caf\u00e9", "/mnt/memory/caf\u00e9"},
		"F60 the same in another":        {"mem_01", "cafe\u0301", "/mnt/memory/cafe\u0301"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := MemoryStore(tc.id, tc.name); got != tc.want {
				t.Errorf("MemoryStore = %q, want %q", got, tc.want)
			}
		})
	}
}

func FuzzRepositoryStaysBelowTheWorkspace(f *testing.F) {
	for _, seed := range []string{"https://h/o/app.git", "git@h:o/app", "ssh://u@[::1]:22/~a/b.git", "https://h/%2e%2e", "git@h:..", "a@b:c:d"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, address string) {
		remote, err := ParseRemote(address, true)
		if err != nil {
			return
		}
		directory, err := Repository(remote, "")
		if err != nil {
			return
		}
		name, found := strings.CutPrefix(directory, Workspace+"/")
		if !found || name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
			t.Errorf("%q is cloned to %q", address, directory)
		}
		if _, err := MountDirectory(directory); err != nil {
			t.Errorf("%q is cloned to %q, which %v", address, directory, err)
		}
	})
}

func FuzzMemoryStoreStaysBelowItsRoot(f *testing.F) {
	for _, seed := range []string{"notes", "..", "a/b", ".git", "-x", "\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if directory := MemoryStore("id", name); checkCanonical(directory) != nil || strings.Count(directory, "/") != 3 {
			t.Errorf("store %q is mounted at %q", name, directory)
		}
	})
}
