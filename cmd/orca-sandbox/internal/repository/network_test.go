// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package repository_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
	"github.com/orca-agent-engine/orca-operator/hack/gitserver"
)

// keys are those of a Secret for a server.
func keys(ssh *gitserver.SSH) map[string]string {
	return map[string]string{"ssh-privatekey": ssh.Key, "known_hosts": ssh.KnownHosts}
}

// F08, P25: ssh works for a user that the system has no account of, with a key
// that lies where only it is used, in both forms of an address.
func TestAKeyOpensARepository(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	server := newServer(t, p)
	ssh := server.StartSSH()
	lib := server.NewRepository("org/lib.git", gitserver.Settings{})
	libTip := lib.Commit("main", plain("lib"))
	app := server.NewRepository("org/app.git", gitserver.Settings{})
	first := app.Commit("main", plain("1"))
	tip := app.Commit("main", map[string]gitserver.File{
		".gitmodules": {Content: "[submodule \"lib\"]\n\tpath = lib\n\turl = ../lib.git\n"}, "lib": {Content: libTip, Mode: gitserver.Submodule},
		".gitattributes": {Content: "*.bin filter=lfs\n"}, "large.bin": server.LFS("large"),
	})
	withoutEnd := keys(ssh)
	withoutEnd["ssh-privatekey"] = strings.TrimSpace(ssh.Key)
	withoutEnd["hosts"] = strings.TrimPrefix(ssh.Address(), "ssh://")
	fromWindows := keys(ssh)
	fromWindows["ssh-privatekey"] = strings.ReplaceAll(ssh.Key, "\n", "\r\n")

	p.wantCommits(map[string]string{"whole": tip, "commit": first, "windows": tip},
		p.clone("whole", ssh.URL("org/app.git"), p.with("git-cred", withoutEnd), withSubmodules, withLFS),
		p.clone("commit", ssh.URL("org/app.git"), p.with("git-cred-2", keys(ssh)), commit(first), depth(1)),
		p.clone("windows", ssh.URL("org/app.git"), p.with("git-cred-3", fromWindows)))
	for path, want := range map[string]string{"lib/README.md": "lib", "large.bin": "large"} {
		if got := p.content("whole", path); got != want {
			t.Errorf("%s has %q, want %q", path, got, want)
		}
	}
	for line := range strings.Lines(ssh.Key) {
		if line = strings.TrimSpace(line); len(line) > 20 && !strings.HasPrefix(line, "--") {
			p.wantNowhere(line)
		}
	}
}

// F09: a server whose key isn't known, or is another one, is not talked to, and
// the right data in the Secret is all that it takes.
func TestAHostKeyIsVerified(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	server := newServer(t, p)
	server.NewRepository("org/app.git", gitserver.Settings{}).Commit("main", plain("1"))
	ssh, other := server.StartSSH(), server.StartSSH()
	_, otherKey, _ := strings.Cut(other.KnownHosts, " ")
	host, _, _ := strings.Cut(ssh.KnownHosts, " ")
	for name, tc := range map[string]struct {
		key, knownHosts string
		missing         bool
		want            string
	}{
		"not given":             {ssh.Key, "", true, `no key "known_hosts", so the host key of`},
		"of another host":       {ssh.Key, "git.test " + otherKey, false, `the host key of ` + ssh.Address() + ` is not in the key known_hosts of Secret "git-cred"`},
		"another one":           {ssh.Key, host + " " + otherKey, false, `the host key of ` + ssh.Address() + ` differs from the key known_hosts of Secret "git-cred"`},
		"right, key of another": {other.Key, ssh.KnownHosts, false, `refused the credential of Secret "git-cred"`},
		"right, no key at all":  {"no key\n", ssh.KnownHosts, false, `"ssh-privatekey" of Secret "git-cred" is not a private key without a passphrase`},
		"right, key locked":     {locked(t), ssh.KnownHosts, false, `"ssh-privatekey" of Secret "git-cred" is not a private key without a passphrase`},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPod(t)
			secret := map[string]string{"ssh-privatekey": tc.key}
			if tc.knownHosts != "" {
				secret["known_hosts"] = tc.knownHosts
			}
			a := p.wantFailure("app", []string{tc.want}, p.clone("app", ssh.URL("org/app.git"), p.with("git-cred", secret)))
			if a.Error.Missing != tc.missing {
				t.Errorf("missing is %v: %s", a.Error.Missing, a.Error.Cause)
			}
		})
	}
}

// locked returns a private key with a passphrase.
func locked(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key")
	if output, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "passphrase", "-f", path).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// F11: a submodule on another ssh server is not offered the key: known_hosts
// would even vouch for that server.
func TestAKeyGoesToItsOwnServerAlone(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	server := newServer(t, p)
	ssh, other := server.StartSSH(), server.StartSSH()
	other.Admit(ssh.Key)
	lib := server.NewRepository("org/lib.git", gitserver.Settings{})
	libTip := lib.Commit("main", plain("lib"))
	server.NewRepository("org/app.git", gitserver.Settings{}).Commit("main", map[string]gitserver.File{
		".gitmodules": {Content: "[submodule \"lib\"]\n\tpath = lib\n\turl = " + other.URL("org/lib.git") + "\n"}, "lib": {Content: libTip, Mode: gitserver.Submodule},
	})
	secret := keys(ssh)
	secret["known_hosts"] += other.KnownHosts
	p.wantFailure("app", []string{"the server of a submodule"}, p.clone("app", ssh.URL("org/app.git"), p.with("git-cred", secret), withSubmodules))
	// The control: as the repository's own server, it takes the key.
	p.wantCommits(map[string]string{"lib": libTip}, p.clone("lib", other.URL("org/lib.git"), p.with("git-cred-2", secret)))
}

// F01, P21: what fails for a passing reason is tried again and succeeds.
func TestPassingFailuresAreRetried(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	server := newServer(t, p)
	large := server.NewRepository("org/dropped.git", gitserver.Settings{Drop: 2})
	largeTip := large.Commit("main", plain(strings.Repeat("0123456789abcdef", 4096)))
	busy := server.NewRepository("org/busy.git", gitserver.Settings{Fail: 503, FailTimes: 2})
	busyTip := busy.Commit("main", plain("1"))
	limited := server.NewRepository("org/limited.git", gitserver.Settings{Fail: 429, FailTimes: 1})
	limitedTip := limited.Commit("main", plain("1"))
	lib := server.NewRepository("org/lib.git", gitserver.Settings{Fail: 502, FailTimes: 4})
	libTip := lib.Commit("main", plain("lib"))
	steady := server.NewRepository("org/steady.git", gitserver.Settings{})
	steadyTip := steady.Commit("main", plain("steady"))
	app := server.NewRepository("org/app.git", gitserver.Settings{})
	appTip := app.Commit("main", map[string]gitserver.File{
		// One that is checked out at each try, and whose name is no text.
		".gitmodules": {Content: "[submodule \"st\xe9ady\"]\n\tpath = a\n\turl = ../steady.git\n[submodule \"lib\"]\n\tpath = lib\n\turl = ../lib.git\n"},
		"a":           {Content: steadyTip, Mode: gitserver.Submodule}, "lib": {Content: libTip, Mode: gitserver.Submodule},
	})
	heavy := server.NewRepository("org/heavy.git", gitserver.Settings{FailLFS: 2})
	heavyTip := heavy.Commit("main", largeFiles(server, nil))
	fine := server.NewRepository("org/fine.git", gitserver.Settings{})
	fineTip := fine.Commit("main", plain("1"))
	p.wantCommits(map[string]string{"dropped": largeTip, "busy": busyTip, "limited": limitedTip, "app": appTip, "heavy": heavyTip, "fine": fineTip},
		p.clone("dropped", large.URL()), p.clone("busy", busy.URL()), p.clone("limited", limited.URL()),
		p.clone("app", app.URL(), withSubmodules), p.clone("heavy", heavy.URL(), withLFS), p.clone("fine", fine.URL()))
	if got := p.content("app", "lib/README.md"); got != "lib" {
		t.Errorf("the submodule has %q", got)
	}
	if got := p.content("app", "a/README.md"); got != "steady" {
		t.Errorf("the submodule that never failed has %q", got)
	}
	for _, want := range []string{"try=3", "wait=2s", "resource=busy", "is out of order or overloaded", "the connection to"} {
		if !strings.Contains(p.log, want) {
			t.Errorf("the log lacks %q:\n%s", want, p.log)
		}
	}
}

// F15, F16: what doesn't pass ends at the deadline, which is one for all, with a
// cause and without a process that is left.
func TestTheDeadlineEndsEverything(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	server := newServer(t, p)
	stalled := server.NewRepository("org/stalled.git", gitserver.Settings{Stall: true})
	busy := server.NewRepository("org/busy.git", gitserver.Settings{Fail: 503, FailTimes: -1, FailBody: "come \x1b[31mback\nlater\u202e"})
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody.Close()
	// All at once: each takes its whole time, which leaves a busy machine enough for
	// a try.
	const limit = 15 * time.Second
	var ends []func()
	for name, tc := range map[string]struct {
		url  string
		want []string
	}{
		"a server that never answers":       {stalled.URL(), []string{"did not finish within setup.timeout", "does not answer"}},
		"a listener that never says a word": {"https://" + silent.Addr().String() + "/org/app.git", []string{"did not finish within setup.timeout", "does not answer"}},
		"a server that is out of order":     {busy.URL(), []string{"did not finish within setup.timeout", "is out of order or overloaded", "remote: "}},
		"an address where nobody listens":   {"https://" + nobody.Addr().String() + "/org/app.git", []string{"did not finish within setup.timeout", "could not be reached", "service mesh"}},
		"a name that nobody has":            {"https://git.invalid/org/app.git", []string{"did not finish within setup.timeout", "https://git.invalid could not be reached", "service mesh"}},
	} {
		q := newPod(t)
		q.options.ExtraCA, q.limit = server.CA(), limit
		start := time.Now()
		_, wait := q.start(q.clone("app", tc.url))
		ends = append(ends, func() {
			q.checkFailure(wait(), "app", tc.want)
			if took := time.Since(start); took < limit || took > limit+30*time.Second {
				t.Errorf("%s: it took %s", name, took)
			}
		})
	}
	for _, end := range ends {
		end()
	}
}

// The first by name is told of several that fail, and how many more there are;
// the others aren't waited for until the deadline.
func TestSeveralFailures(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	server := newServer(t, p)
	app := server.NewRepository("org/app.git", gitserver.Settings{})
	app.Commit("main", plain("1"))
	busy := server.NewRepository("org/busy.git", gitserver.Settings{Fail: 503, FailTimes: -1})
	start := time.Now()
	p.wantFailure("b", []string{`branch "no" does not exist`, "(and 2 more failed)"},
		p.clone("d", app.URL(), branch("no")), p.clone("b", app.URL(), branch("no")), p.clone("c", app.URL(), branch("no")), p.clone("a", busy.URL()))
	if took := time.Since(start); took > 40*time.Second {
		t.Errorf("it took %s", took)
	}
	if _, err := os.Stat(p.tree("a")); err == nil {
		t.Error("the tree of a is there")
	}
}

// F10, P21: a run that is killed half way leaves nothing that the next one takes
// for a tree.
func TestARunAfterOneThatWasKilledConverges(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	server := newServer(t, p)
	app := server.NewRepository("org/app.git", gitserver.Settings{})
	tip := app.Commit("main", plain("1"))
	app.Configure(func(s *gitserver.Settings) { s.StallPack = true })
	clone := p.clone("app", app.URL())
	first, _ := p.start(clone)
	p.eventually(func() bool {
		_, err := os.Stat(filepath.Join(p.volume, ".cloning-app", ".git", "HEAD"))
		return err == nil
	})
	// The container ends as a whole.
	p.must(first.Process.Kill())
	_ = first.Wait()
	for _, pid := range p.processes() {
		if process, err := os.FindProcess(pid); err == nil {
			_ = process.Kill()
		}
	}
	p.eventually(func() bool { return len(p.processes()) == 0 })
	if _, err := os.Stat(p.tree("app")); err == nil {
		t.Fatal("half a tree is there")
	}
	app.Configure(func(s *gitserver.Settings) { s.StallPack = false })
	p.wantCommits(map[string]string{"app": tip}, clone)
}

func TestAProxyIsUsedAndPassedBy(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	server := newServer(t, p)
	app := server.NewRepository("org/app.git", gitserver.Settings{})
	tip := app.Commit("main", plain("1"))
	proxy := gitserver.StartProxy(t, gitserver.Options{})
	host := hostOf(app.URL())
	p.options.Proxy = &manifest.Proxy{HTTPS: proxy.URL, NoProxy: "git.test"}
	p.wantCommits(map[string]string{"through": tip}, p.clone("through", app.URL()))
	if targets := proxy.Targets(); len(targets) == 0 || targets[0] != host {
		t.Errorf("the proxy was asked for %v, want %s", targets, host)
	}
	asked := len(proxy.Targets())
	p.options.Proxy.NoProxy = "git.test,127.0.0.1"
	p.wantCommits(map[string]string{"past": tip}, p.clone("past", app.URL()))
	if got := len(proxy.Targets()); got != asked {
		t.Errorf("the proxy was asked %d times more", got-asked)
	}
}

func TestAnAuthorityThatIsNotKnownIsNamed(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	server := newServer(t, p)
	app := server.NewRepository("org/app.git", gitserver.Settings{})
	app.Commit("main", plain("1"))
	p.options.ExtraCA = ""
	p.wantFailure("app", []string{"is not trusted", "setup.extraCA"}, p.clone("app", app.URL()))
}
