// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/policy"
)

func TestAddresses(t *testing.T) {
	const form = "must have the form"
	cases := map[string]struct{ settings, url, rule string }{
		"F03 https":                          {url: "https://git.test/org/app.git/"},
		"F03 a query and a fragment":         {url: "https://git.test/org/app.git?x=1#main", rule: "must not have a query or fragment"},
		"F04 digits that are no port":        {url: "git@git.test:2222:app.git", rule: "directory name must not contain ':'; set mountPath"},
		"F04 scp without a folder":           {url: "git@git.test:app.git"},
		"F04 an IPv6 address and a port":     {url: "ssh://git@[2001:db8::1]:2222/org/app.git"},
		"F04 an IPv6 address without a user": {url: "[2001:db8::1]:app.git", rule: form},
		"F04 a home directory":               {url: "ssh://git.test/~dev/app.git"},
		"F04 a host alone":                   {url: "git.test:", rule: form},
		"F04 512 KB":                         {url: strings.Repeat("a:", 256<<10), rule: "must be at most 2048 bytes"},
		"F06 an option":                      {url: "--upload-pack=touch /tmp/x", rule: "must not contain spaces"},
		"F06 a helper that runs a command":   {url: "ext::sh -c id", rule: "must not contain spaces"},
		"P23 a helper":                       {url: "ext::sh", rule: form},
		"P23 a file":                         {url: "file:///srv/app", rule: form},
		"P23 a dash":                         {url: "-app", rule: form},
		"http":                               {url: "http://git.test/app", rule: "must not use 'http://': the deployment does not allow it"},
		"http that is allowed":               {settings: "setup: {allowHTTP: true}", url: "http://git.test/app"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := policy.Session(session(withURL(tc.url)), effective(t, tc.settings))
			if tc.rule == "" {
				if len(got) > 0 {
					t.Errorf("refused: %s", got.Message(statusLimit))
				}
				return
			}
			if diff := cmp.Diff([]summary{{"InvalidSpec", "app", "spec.resources[0].gitRepository.url"}}, summaries(got)); diff != "" {
				t.Fatalf("violations (-want +got):\n%s", diff)
			}
			want := `resource "app": spec.resources[0].gitRepository.url: Invalid value: ` + tc.rule
			if message := got.Message(statusLimit); !strings.HasPrefix(message, want) {
				t.Errorf("message = %s, want %s", message, want)
			}
		})
	}
}

// F05: what is refused may be a secret, so it isn't repeated.
func TestF05NoRefusalRepeatsAnAddress(t *testing.T) {
	for _, url := range []string{
		"https://bot:p@ss/w0rd@git.test/org/app.git",
		"https://p@ss/w0rd@git.test/org/app.git",
		"https://git.test/org/app.git?token=p@ss/w0rd",
		"https://git.test/org/app.git#p@ss/w0rd",
		"git@git.test:org/app?token=p@ss/w0rd",
		"git@git.test:org/app#p@ss/w0rd",
		"ssh://git:p@ss/w0rd@git.test/app",
		"git:p@ss/w0rd@git.test:app",
		"http://bot:p@ss/w0rd@git.test/app",
		"https://bot:p@ss/w0rd@git.test:x/app",
		"https://bot:%zzp@ss/w0rd@git.test/app",
		"ftp://bot:p@ss/w0rd@git.test/app",
		"bot:p@ss/w0rd",
		"https://git.test/p@ss/w0rd/-app",
	} {
		for _, mountPath := range []string{"", "/workspace/app", "nowhere"} {
			refused := withURL(url)
			refused.GitRepository.MountPath = mountPath
			violations, warnings := policy.SessionAdmission(session(refused), effective(t, ""))
			if len(violations) == 0 && mountPath == "" {
				t.Errorf("%s is not refused", url)
				continue
			}
			told := []string{fmt.Sprintf("%+v", violations), fmt.Sprint(violations.Causes(), violations.Causes().ToAggregate(), warnings)}
			for _, v := range violations {
				told = append(told, v.Cause.Error(), fmt.Sprintf("%+v", *v.Cause))
			}
			for _, text := range told {
				if strings.Contains(text, "p@ss") || strings.Contains(text, "w0rd") {
					t.Errorf("%s is repeated: %s", url, text)
				}
			}
		}
	}
}

func TestRefs(t *testing.T) {
	type ref = orcav1alpha1.GitReference
	commit := strings.Repeat("0123456789abcdef", 4)
	cases := map[string]struct {
		ref   ref
		field string
	}{
		"F07 none":                           {ref: ref{}},
		"F07 a branch with a slash and hash": {ref: ref{Branch: "feature/#12-x"}},
		"F07 a branch with two slashes":      {ref: ref{Branch: "release/1.0/fix"}},
		"F07 a tag of a branch's name":       {ref: ref{Tag: "v1"}},
		"F07 a space at the end":             {ref{Branch: "v1 "}, "branch"},
		"F06 an option":                      {ref{Branch: "--orphan=x"}, "branch"},
		"P23 a tag that is an option":        {ref{Tag: "-x"}, "tag"},
		"P23 a commit that is an option":     {ref{Commit: "-" + commit[:39]}, "commit"},
		"a range of commits":                 {ref{Branch: "a..b"}, "branch"},
		"a lock":                             {ref{Tag: "a.lock"}, "tag"},
		"HEAD":                               {ref{Branch: "HEAD"}, "branch"},
		"a commit":                           {ref: ref{Commit: commit[:40]}},
		"a commit of SHA-256":                {ref: ref{Commit: commit}},
		"half a commit":                      {ref{Commit: commit[:20]}, "commit"},
		"a commit in capitals":               {ref{Commit: strings.ToUpper(commit)}, "commit"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			app := repository("app", readOnly, "")
			app.GitRepository.Ref = &tc.ref
			var want []summary
			if tc.field != "" {
				want = []summary{{"InvalidSpec", "app", "spec.resources[0].gitRepository.ref." + tc.field}}
			}
			got, _ := policy.SessionAdmission(session(app), effective(t, ""))
			if diff := cmp.Diff(want, summaries(got)); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
}

// F04: whatever somebody sends, the webhook answers well within its timeout. The
// schema's bounds would keep most of it away.
func TestF04HostileValuesAreJudgedAtOnce(t *testing.T) {
	const size = 512 << 10
	deployment := effective(t, "")
	for _, unit := range []string{"a:", "a@", "/", "/a", "..", "@{", ":", "[", "%", "\x00", "\xff", "https://", "-", " ", "🐋"} {
		value := strings.Repeat(unit, size/len(unit))
		var resources []resource
		for _, prefix := range []string{"", "https://h/", "git@h:"} {
			app := repository("app", readWrite, "/srv/"+value)
			app.GitRepository.URL = prefix + value
			app.GitRepository.Ref = &orcav1alpha1.GitReference{Branch: value, Tag: value, Commit: value}
			resources = append(resources, app)
		}
		f := named("f", value, value)
		f.File.Source.ConfigMapKeyRef.Key = value
		resources = append(resources, f, file("g", value), store("s", readWrite, value))
		var told []string
		best := time.Hour // A machine that does other things as well may interrupt.
		for range 5 {
			began := time.Now()
			violations, warnings := policy.SessionAdmission(session(resources...), deployment)
			told = slices.Concat(warnings, []string{violations.Message(statusLimit), violations.Causes().ToAggregate().Error()})
			best = min(best, time.Since(began))
		}
		if best > 100*time.Millisecond {
			t.Errorf("%q: took %v at best", unit, best)
		}
		if longest := slices.MaxFunc(told, func(a, b string) int { return len(a) - len(b) }); len(longest) > 8<<10 {
			t.Errorf("%q: %d bytes are told", unit, len(longest))
		}
	}
}
