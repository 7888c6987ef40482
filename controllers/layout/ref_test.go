// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package layout_test

import (
	"errors"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/orca-agent-engine/orca-operator/controllers/layout"
)

func TestRefNames(t *testing.T) {
	const (
		slash   = "must not start or end with '/' or contain '//'"
		special = `must not contain spaces, control characters or any of '~^:?*[\'`
		segment = "must not have a segment that starts with '.' or ends in '.lock'"
		dots    = "must not contain '..' or '@{'"
		empty   = "must not be empty or '@'"
	)
	cases := map[string]struct{ name, rule string }{
		"a plain name":                       {name: "main"},
		"F07 a name with a slash and a hash": {name: "feature/#12-x"},
		"F07 a name with two slashes":        {name: "release/1.0/fix"},
		"F07 a name that reads as a tag's":   {name: "refs/tags/v1"},
		"F07 a space at the end":             {"v1 ", special},
		"F07 nothing":                        {"", empty},
		"F06 an option":                      {"--orphan=x", "must not start with '-'"},
		"P23 a single dash":                  {"-", "must not start with '-'"},
		"a dash inside":                      {name: "a-b/-c"},
		"letters of any script":              {name: "größe/🐋"},
		"percent signs":                      {name: "a%2Fb"},
		"an at sign":                         {name: "a@b"},
		"a brace":                            {name: "a{b}"},
		"nothing but an at sign":             {"@", empty},
		"a reflog entry":                     {"main@{1}", dots},
		"a range":                            {"a..b", dots},
		"a way up":                           {"../x", dots},
		"a dot at the end":                   {"a.", "must not end in '.'"},
		"a dot at the end of a segment":      {name: "a./b"},
		"a hidden segment":                   {"a/.b", segment},
		"a hidden name":                      {".a", segment},
		"a lock":                             {"a.lock", segment},
		"a lock on the way":                  {"a.lock/b", segment},
		"a lock in capitals":                 {name: "a.LOCK"},
		"a slash before":                     {"/a", slash},
		"a slash after":                      {"a/", slash},
		"two slashes":                        {"a//b", slash},
		"a newline":                          {"a\nb", special},
		"the delete character":               {"a\x7f", special},
		"a parent":                           {"a~1", special},
		"an exclusion":                       {"^a", special},
		"a refspec":                          {"a:b", special},
		"a question mark":                    {"a?", special},
		"a star":                             {"refs/heads/*", special},
		"a bracket":                          {"a[b", special},
		"a backslash":                        {`a\b`, special},
		"255 characters of four bytes":       {name: strings.Repeat("🐋", 255)},
		"F04 512 KB":                         {strings.Repeat("a", 512<<10), "must be at most 1020 bytes"},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			for kind, err := range map[string]error{"branch": layout.BranchName(tc.name), "tag": layout.TagName(tc.name)} {
				if got := text(err); got != tc.rule {
					t.Errorf("%s %q: %q, want %q", kind, tc.name, got, tc.rule)
				}
			}
		})
	}
}

func TestHEADIsNoBranch(t *testing.T) {
	if got := text(layout.BranchName("HEAD")); got != "must not be 'HEAD'" {
		t.Errorf("branch: %q", got)
	}
	if err := layout.TagName("HEAD"); err != nil {
		t.Errorf("tag: %v", err)
	}
}

func TestCommitID(t *testing.T) {
	const rule = "must be the full id of a commit: 40 or 64 digits of 0-9 and a-f"
	cases := map[string]struct{ id, rule string }{
		"of SHA-1":             {id: strings.Repeat("0123456789abcdef", 3)[:40]},
		"of SHA-256":           {id: strings.Repeat("0123456789abcdef", 4)},
		"short":                {"0123abc", rule},
		"of 41 digits":         {strings.Repeat("a", 41), rule},
		"in capitals":          {strings.Repeat("A", 40), rule},
		"with another letter":  {strings.Repeat("a", 20) + "g" + strings.Repeat("a", 19), rule},
		"with a space":         {" " + strings.Repeat("a", 39), rule},
		"that is a branch":     {"main", rule},
		"that is an option":    {"--" + strings.Repeat("a", 38), rule},
		"nothing":              {"", rule},
		"of other bytes":       {strings.Repeat("\xff", 40), rule},
		"of letters with dots": {strings.Repeat("ä", 20), rule},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			if got := text(layout.CommitID(tc.id)); got != tc.rule {
				t.Errorf("%q: %q, want %q", tc.id, got, tc.rule)
			}
		})
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// gitTakes reports whether git takes a name for a branch or a tag.
func gitTakes(t *testing.T, branch bool, name string) bool {
	t.Helper()
	arguments := []string{"check-ref-format", "refs/tags/" + name}
	if branch {
		arguments = []string{"check-ref-format", "--branch", name}
	}
	command := exec.CommandContext(t.Context(), "git", arguments...)
	command.Dir = t.TempDir()
	err := command.Run()
	if exit, is := errors.AsType[*exec.ExitError](err); err != nil && (!is || !exit.Exited()) {
		t.Fatalf("git %q: %v", arguments, err)
	}
	return err == nil
}

// agreeWithGit compares what git says of a name with what we say. What git's
// commands read as something else than a name, we refuse as well: '@', which is
// HEAD to them, and a tag that could be taken for an option.
func agreeWithGit(t *testing.T, name string) {
	t.Helper()
	want := gitTakes(t, true, name) && name != "@"
	if got := layout.BranchName(name) == nil; got != want {
		t.Errorf("branch %q: taken %t, by git %t", name, got, want)
	}
	want = gitTakes(t, false, name) && name != "@" && !strings.HasPrefix(name, "-")
	if got := layout.TagName(name) == nil; got != want {
		t.Errorf("tag %q: taken %t, by git %t", name, got, want)
	}
}

// refParts are what git's rules are about, and what they are not.
var refParts = []string{
	"a", "b1", "main", "HEAD", "/", "/", "//", ".", ".", "..", "-", "--", "@", "{", "@{", "}", ".lock", "lock", " ", "\t", "\n", "\x01",
	"\x1f", "\x7f", "\u0080", "\u200b", "ä", "🐋", "~", "^", ":", "?", "*", "[", "]", "\\", "#", "%", "&", "'", "\"", "$", "!", "refs/heads/",
}

func TestRefNamesAreTheOnesThatGitTakes(t *testing.T) {
	seed := uint64(time.Now().UnixNano()) // Another one each run.
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for _, part := range refParts {
		agreeWithGit(t, part)
	}
	for range 400 {
		var name strings.Builder
		for range 1 + random.IntN(4) {
			name.WriteString(refParts[random.IntN(len(refParts))])
		}
		agreeWithGit(t, name.String())
	}
}

func FuzzRefNamesAreTheOnesThatGitTakes(f *testing.F) {
	for _, seed := range []string{"main", "feature/#12-x", "a.lock", "@", "@{-1}", "-x", "a/.b", "ä"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if strings.Contains(name, "\x00") || len(name) > 1020 {
			t.Skip("no argument of a program holds it, or the API doesn't")
		}
		agreeWithGit(t, name)
	})
}
