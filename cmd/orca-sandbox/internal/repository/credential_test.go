// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package repository_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
	"github.com/orca-agent-engine/orca-operator/hack/gitserver"
)

// password has what is written otherwise in an address, and a line break at its
// end, as echo makes it.
const password = "p@ss/w0rd:+%é"

// F05, P25: who may read a repository gets it, by a password or a token that
// stands alone, and the secret is nowhere afterwards.
func TestAPasswordOpensARepository(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		keys map[string]string
		user string
	}{
		"a user and a password":  {map[string]string{"username": "bot", "password": password}, "bot"},
		"line breaks at the end": {map[string]string{"username": "bot\n", "password": password + "\r\n"}, "bot"},
		"a token alone":          {map[string]string{"password": password}, "git"},
		"keys that don't matter": {map[string]string{"username": "bot", "password": password, "ssh-privatekey": "x", "other": "y"}, "bot"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPod(t)
			server := newServer(t, p)
			app := server.NewRepository("org/app.git", gitserver.Settings{User: tc.user, Password: password})
			tip := app.Commit("main", plain("1"))
			p.wantCommits(map[string]string{"app": tip}, p.clone("app", app.URL(), p.with("git-cred", tc.keys)))
			p.wantNowhere(password, tc.user+":"+password)
			if got := p.git("app", "config", "--get", "remote.origin.url"); got != app.URL() {
				t.Errorf("origin is %s", got)
			}
		})
	}
}

// F16: no prompt, and a cause that says which Secret, or that one is needed.
func TestARefusedCredentialIsNamed(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	server := newServer(t, p)
	app := server.NewRepository("org/app.git", gitserver.Settings{User: "bot", Password: password})
	app.Commit("main", plain("1"))
	open := server.NewRepository("org/open.git", gitserver.Settings{})
	open.Commit("main", plain("1"))
	ssh := server.StartSSH()
	host := hostOf(app.URL())

	for name, tc := range map[string]struct {
		url     string
		keys    map[string]string
		missing bool
		want    []string
	}{
		"none":                    {app.URL(), nil, false, []string{"asks for a credential", "set credentials.secretRef"}},
		"a wrong one":             {app.URL(), map[string]string{"password": "wr0ng-t0ken"}, false, []string{`refused the credential of Secret "git-cred"`}},
		"an empty Secret":         {app.URL(), map[string]string{}, true, []string{`Secret "git-cred" does not exist`}},
		"other keys":              {app.URL(), map[string]string{"token": "x"}, true, []string{`Secret "git-cred" does not exist, or has none`}},
		"a user alone":            {app.URL(), map[string]string{"username": "bot"}, true, []string{`Secret "git-cred" has no key "password"`}},
		"two lines":               {app.URL(), map[string]string{"password": "a\nhost=evil"}, false, []string{"must be one line"}},
		"a key for https":         {app.URL(), map[string]string{"ssh-privatekey": "x"}, true, []string{`has no key "password"`, "for ssh://"}},
		"a password for ssh":      {ssh.URL("org/app.git"), map[string]string{"password": "x"}, true, []string{`has no key "ssh-privatekey"`, "for https://"}},
		"none for ssh":            {ssh.URL("org/app.git"), nil, false, []string{"needs credentials"}},
		"another host":            {app.URL(), map[string]string{"password": password, "hosts": "git.test\n"}, false, []string{host, `"hosts" of Secret "git-cred"`}},
		"the host, another port":  {app.URL(), map[string]string{"password": password, "hosts": "127.0.0.1"}, false, []string{host}},
		"a Secret nobody needs":   {open.URL(), map[string]string{}, true, []string{"does not exist"}},
		"a limit to nothing else": {open.URL(), map[string]string{"password": "x", "hosts": "# none\ngit.test:443"}, false, []string{`"hosts"`}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPod(t)
			p.options.ExtraCA = server.CA()
			clone := p.clone("app", tc.url)
			if tc.keys != nil {
				clone = p.clone("app", tc.url, p.with("git-cred", tc.keys))
			}
			a := p.wantFailure("app", tc.want, clone)
			if a.Error.Missing != tc.missing {
				t.Errorf("missing is %v: %s", a.Error.Missing, a.Error.Cause)
			}
			for key, value := range tc.keys {
				if key == "password" && len(value) > 3 && strings.Contains(a.Error.Cause+p.log, value) {
					t.Errorf("the cause or the log has the password: %s\n%s", a.Error.Cause, p.log)
				}
			}
		})
	}
}

// A Secret that is optional and absent has no folder at all, or an empty one.
func TestAMissingSecretMayAppearLater(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	a := p.wantFailure("app", []string{`Secret "git-cred" does not exist`}, p.clone("app", "https://git.test/org/app.git", func(r *manifest.Repository) {
		r.Secret, r.Credential = "git-cred", filepath.Join(p.secrets, "absent")
	}))
	if !a.Error.Missing {
		t.Error("it is not taken for missing")
	}
}

// Without encryption, where the deployment allows it, the credential goes to that
// very server all the same, and a submodule may do without, too.
func TestAnUnencryptedRepositoryIsCloned(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	server := newServer(t, p)
	lib := server.NewRepository("org/lib.git", gitserver.Settings{User: "git", Password: password})
	libTip := lib.Commit("main", plain("lib"))
	app := server.NewRepository("org/app.git", gitserver.Settings{User: "git", Password: password})
	tip := app.Commit("main", map[string]gitserver.File{
		".gitmodules": {Content: "[submodule \"lib\"]\n\tpath = lib\n\turl = ../lib.git\n"}, "lib": {Content: libTip, Mode: gitserver.Submodule},
	})
	p.wantCommits(map[string]string{"app": tip}, p.clone("app", app.PlainURL(), p.with("git-cred", map[string]string{"password": password}), withSubmodules))
	if slices.ContainsFunc(server.Requests(), func(r gitserver.Request) bool { return r.TLS }) {
		t.Error("a request went to the other server")
	}
}

func TestTheHostsOfASecretLetItsOwnThrough(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	server := newServer(t, p)
	app := server.NewRepository("org/app.git", gitserver.Settings{User: "git", Password: password})
	tip := app.Commit("main", plain("1"))
	host := hostOf(app.URL())
	keys := map[string]string{"password": password, "hosts": "git.test\r\n  " + host + "  \n# " + host}
	p.wantCommits(map[string]string{"app": tip}, p.clone("app", app.URL(), p.with("git-cred", keys)))
}

// authorized returns the requests, for paths with the given prefix, that carried
// a credential.
func authorized(server *gitserver.Server, prefix string) []gitserver.Request {
	return slices.DeleteFunc(server.Requests(), func(r gitserver.Request) bool {
		return r.Authorization == "" || !strings.HasPrefix(r.Path, prefix)
	})
}

func asked(server *gitserver.Server, prefix string) bool {
	return slices.ContainsFunc(server.Requests(), func(r gitserver.Request) bool { return strings.HasPrefix(r.Path, prefix) })
}

// A credential goes to no other server: not by a redirect, before or after the
// own server has asked for it.
func TestARedirectTakesNoCredentialAlong(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	own, other := gitserver.Start(t, gitserver.Options{}), gitserver.Start(t, gitserver.Options{})
	p.options.ExtraCA = own.CA() + other.CA()
	login := p.with("git-cred", map[string]string{"username": "bot", "password": password})

	t.Run("to a server that asks for one", func(t *testing.T) {
		moved := own.NewRepository("org/asked.git", gitserver.Settings{RedirectTo: strings.TrimSuffix(other.URL(""), "/")})
		other.NewRepository("org/asked.git", gitserver.Settings{User: "bot", Password: password}).Commit("main", plain("1"))
		p := p.again(t)
		p.wantFailure("app", []string{"refused"}, p.clone("app", moved.URL(), login))
	})
	t.Run("to a server that is open", func(t *testing.T) {
		moved := own.NewRepository("org/open.git", gitserver.Settings{User: "bot", Password: password, RedirectTo: strings.TrimSuffix(other.URL(""), "/")})
		tip := other.NewRepository("org/open.git", gitserver.Settings{}).Commit("main", plain("1"))
		p := p.again(t)
		p.wantCommits(map[string]string{"app": tip}, p.clone("app", moved.URL(), login))
	})
	t.Run("after the credential was asked for", func(t *testing.T) {
		moved := own.NewRepository("org/late.git", gitserver.Settings{User: "bot", Password: password, RedirectTo: strings.TrimSuffix(other.URL(""), "/"), RedirectAuthorized: true})
		other.NewRepository("org/late.git", gitserver.Settings{}).Commit("main", plain("1"))
		p := p.again(t)
		p.wantFailure("app", []string{"redirects as git does not follow"}, p.clone("app", moved.URL(), login))
		if len(authorized(own, "/org/late.git")) == 0 {
			t.Error("the own server was not offered the credential")
		}
	})
	t.Run("to the same server without encryption", func(t *testing.T) {
		moved := own.NewRepository("org/plain.git", gitserver.Settings{User: "bot", Password: password, RedirectTo: strings.TrimSuffix(own.PlainURL(""), "/"), RedirectAuthorized: true})
		moved.Commit("main", plain("1"))
		p := p.again(t)
		p.wantFailure("app", []string{"not allowed"}, p.clone("app", moved.URL(), login))
		if slices.ContainsFunc(own.Requests(), func(r gitserver.Request) bool { return !r.TLS }) {
			t.Error("a request went without encryption")
		}
	})
	if got := authorized(other, "/"); len(got) > 0 || !asked(other, "/org/asked.git") || !asked(other, "/org/open.git") || !asked(other, "/org/late.git") {
		t.Errorf("the other server was offered a credential, or not asked at all: %+v", got)
	}
}

// F11: what a submodule is fetched with, and from where.
func TestSubmodules(t *testing.T) {
	t.Parallel()
	own, other := gitserver.Start(t, gitserver.Options{}), gitserver.Start(t, gitserver.Options{})
	locked := gitserver.Settings{User: "bot", Password: password}
	lib := own.NewRepository("org/lib.git", locked)
	pinned := lib.Commit("main", plain("pinned"))
	for _, content := range []string{"2", "3", "4"} {
		lib.Commit("main", plain(content))
	}
	inner := own.NewRepository("org/inner.git", locked)
	innerTip := inner.Commit("main", plain("inner"))
	middle := own.NewRepository("org/objects.git", locked)
	middleTip := middle.Commit("main", map[string]gitserver.File{
		".gitmodules": {Content: "[submodule \"in\"]\n\tpath = deep/in\n\turl = ../inner.git\n"}, "deep/in": {Content: innerTip, Mode: gitserver.Submodule},
	})
	public := other.NewRepository("org/public.git", gitserver.Settings{})
	publicTip := public.Commit("main", plain("public"))
	app := own.NewRepository("org/app.git", locked)
	tip := app.Commit("main", map[string]gitserver.File{
		".gitmodules": {Content: "[submodule \"lib\"]\n\tpath = lib\n\turl = ../lib.git\n\tshallow = true\n" +
			"[submodule \"objects\"]\n\tpath = objects\n\turl = ../objects.git\n[submodule \"public\"]\n\tpath = third/public\n\turl = " + public.URL() + "\n"},
		"lib": {Content: pinned, Mode: gitserver.Submodule}, "objects": {Content: middleTip, Mode: gitserver.Submodule},
		"third/public": {Content: publicTip, Mode: gitserver.Submodule},
	})
	for name, n := range map[string]int32{"whole history": 0, "a part of it": 1} {
		t.Run(name, func(t *testing.T) {
			p := newPod(t)
			p.options.ExtraCA = own.CA() + other.CA()
			login := p.with("git-cred", map[string]string{"username": "bot", "password": password})
			p.wantCommits(map[string]string{"app": tip}, p.clone("app", app.URL(), login, depth(n), withSubmodules))
			for path, want := range map[string]string{"lib/README.md": "pinned", "objects/deep/in/README.md": "inner", "third/public/README.md": "public"} {
				if got := p.content("app", path); got != want {
					t.Errorf("%s has %q, want %q", path, got, want)
				}
			}
			if got := p.git("app", "submodule", "status", "--recursive"); strings.ContainsAny(got, "-+U") && strings.Contains(got, "\n-") {
				t.Errorf("submodules:\n%s", got)
			}
			p.wantNowhere(password)
			p.wantInNoFile(p.volume) // Everything is relative.
		})
	}
	t.Run("not asked for", func(t *testing.T) {
		p := newPod(t)
		p.options.ExtraCA = own.CA()
		p.wantCommits(map[string]string{"app": tip}, p.clone("app", app.URL(), p.with("git-cred", map[string]string{"username": "bot", "password": password})))
		if entries, err := os.ReadDir(filepath.Join(p.tree("app"), "lib")); err != nil || len(entries) > 0 {
			t.Errorf("the submodule's folder has %v (%v)", entries, err)
		}
	})
	if got := authorized(other, "/"); len(got) > 0 || !asked(other, "/org/public.git") {
		t.Errorf("the other server was offered a credential, or not asked at all: %+v", got)
	}
}

// F11: a submodule that can't be had fails the setup, and names why.
func TestASubmoduleThatCannotBeHadFails(t *testing.T) {
	t.Parallel()
	own, other := gitserver.Start(t, gitserver.Options{}), gitserver.Start(t, gitserver.Options{})
	closed := other.NewRepository("org/closed.git", gitserver.Settings{User: "bot", Password: password})
	commit := closed.Commit("main", plain("1"))
	unpinned := own.NewRepository("org/unpinned.git", gitserver.Settings{})
	unpinned.Commit("main", plain("1"))
	unencrypted := own.NewRepository("org/plain.git", gitserver.Settings{})
	plainTip := unencrypted.Commit("main", plain("1"))
	for name, tc := range map[string]struct{ url, commit, want string }{
		"on another server that asks for a credential": {closed.URL(), commit, "refused access; credentials are offered to " + strings.TrimSuffix(own.URL(""), "/") + " alone"},
		"that is not there":                            {own.URL("org/none.git"), commit, "no such repository"},
		"whose commit is gone":                         {unpinned.URL(), "0123456789012345678901234567890123456789", "a commit that is asked for"},
		"in a folder of the machine":                   {"file:///etc", commit, "not allowed"},
		"by a path":                                    {"/etc/x.git", commit, "while fetching submodules"},
		"by a helper":                                  {"ext::sh -c touch% /tmp/pwned", commit, "not allowed"},
		"without encryption":                           {unencrypted.PlainURL(), plainTip, "not allowed"},
		"by the protocol without any":                  {"git://127.0.0.1:1/x.git", commit, "not allowed"},
		"like an option":                               {"--upload-pack=touch /tmp/pwned", commit, "objects that git refuses"},
		"by ssh, for which nobody has keys":            {"ssh://git@127.0.0.1:1/x.git", commit, "could not be reached"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPod(t)
			p.limit = time.Minute
			if strings.Contains(tc.want, "reached") {
				p.limit = 20 * time.Second
			}
			p.options.ExtraCA = own.CA() + other.CA()
			app := own.NewRepository("org/"+strings.ReplaceAll(name, " ", "-")+".git", gitserver.Settings{User: "bot", Password: password})
			app.Commit("main", map[string]gitserver.File{
				".gitmodules": {Content: "[submodule \"x\"]\n\tpath = x\n\turl = " + tc.url + "\n"}, "x": {Content: tc.commit, Mode: gitserver.Submodule},
			})
			a := p.run(p.clone("app", app.URL(), p.with("git-cred", map[string]string{"username": "bot", "password": password}), withSubmodules))
			if a.Error == nil || !strings.Contains(a.Error.Cause, tc.want) {
				t.Errorf("got %+v, want %q, log:\n%s", a.Error, tc.want, p.log)
			}
			if _, err := os.Stat("/tmp/pwned"); err == nil {
				t.Error("a program of the repository ran")
			}
		})
	}
}
