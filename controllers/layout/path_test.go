// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package layout_test

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/orca-agent-engine/orca-operator/controllers/layout"
)

// wantRule compares an error with the rule that it must tell, "" for none.
func wantRule(t *testing.T, err error, rule string) {
	t.Helper()
	got := ""
	if err != nil {
		got = err.Error()
	}
	if got != rule {
		t.Errorf("got the rule %q, want %q", got, rule)
	}
}

const (
	ruleEmpty     = "must not be empty or '/'"
	ruleAbsolute  = "must be absolute"
	ruleLength    = "must be at most 1024 bytes"
	ruleSegments  = "must not have empty segments or end in '/'"
	ruleDots      = "must not have '.' or '..' as a segment"
	ruleSegment   = "must have segments of at most 255 bytes"
	ruleUTF8      = "must be valid UTF-8"
	ruleColon     = "must not contain ':'"
	ruleInvisible = "must not contain control or format characters"
)

// long returns a path of exactly length bytes.
func long(length int) string {
	path := strings.Repeat("/"+strings.Repeat("x", 199), length/200)
	if rest := length - len(path); rest > 0 {
		path += "/" + strings.Repeat("y", rest-1)
	}
	return path
}

func TestMountFile(t *testing.T) {
	for name, tc := range map[string]struct{ path, rule string }{
		"an ordinary path":                      {"/data/in/run.py", ""},
		"one segment":                           {"/data", ""},
		"a space inside":                        {"/data/a b", ""},
		"spaces around a segment":               {"/data/ a /b", ""},
		"dots that are part of a name":          {"/data/.x/..y/...", ""},
		"names that only look like options":     {"/data/-rf/--", ""},
		"letters beyond ASCII":                  {"/data/é/e\u0301/\uff53kills/日本", ""},
		"shell characters":                      {"/data/$(HOME)/*?'\"\\", ""},
		"1024 bytes":                            {long(1024), ""},
		"a segment of 255 bytes":                {"/" + strings.Repeat("é", 127) + "x", ""},
		"nothing":                               {"", ruleEmpty},
		"the root":                              {"/", ruleEmpty},
		"relative":                              {"data/rel", ruleAbsolute},
		"relative to here":                      {"./data", ruleAbsolute},
		"a leading space":                       {" /data", ruleAbsolute},
		"1025 bytes":                            {long(1025), ruleLength},
		"5000 bytes":                            {long(5000), ruleLength},
		"two slashes at the start":              {"//data", ruleSegments},
		"two slashes inside":                    {"/data//in", ruleSegments},
		"a slash at the end":                    {"/data/", ruleSegments},
		"only slashes":                          {"///", ruleSegments},
		"a dot":                                 {"/data/./in", ruleDots},
		"a dot at the end":                      {"/data/.", ruleDots},
		"two dots":                              {"/data/x/../in", ruleDots},
		"two dots at the end":                   {"/data/..", ruleDots},
		"above the root":                        {"/..", ruleDots},
		"a segment of 256 bytes":                {"/" + strings.Repeat("é", 128), ruleSegment},
		"not UTF-8":                             {"/data/\xff", ruleUTF8},
		"half a letter":                         {"/data/\xc3", ruleUTF8},
		"a surrogate":                           {"/data/\xed\xa0\x80", ruleUTF8},
		"a colon":                               {"/data/a:ro", ruleColon},
		"a newline":                             {"/data/a\nb", ruleInvisible},
		"a zero byte":                           {"/data/\x00", ruleInvisible},
		"an escape":                             {"/data/\x1b[31m", ruleInvisible},
		"a delete":                              {"/data/\x7f", ruleInvisible},
		"a C1 control":                          {"/data/\u0085", ruleInvisible},
		"a right-to-left override":              {"/data/\u202etxt", ruleInvisible},
		"a zero-width joiner":                   {"/data/a\u200db", ruleInvisible},
		"a byte order mark":                     {"/data/\ufeffa", ruleInvisible},
		"a broken path in a forbidden place":    {"/etc/../data", ruleDots},
		"a neighbour of every forbidden prefix": {"/etcetera", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := layout.MountFile(tc.path)
			wantRule(t, err, tc.rule)
			if err == nil && got != tc.path {
				t.Errorf("got the path %q, want it unchanged: %q", got, tc.path)
			}
		})
	}
}

func TestMountDirectoryIgnoresOneTrailingSlash(t *testing.T) {
	for name, tc := range map[string]struct{ path, want, rule string }{
		"no slash":               {"/workspace/app", "/workspace/app", ""},
		"one slash":              {"/workspace/app/", "/workspace/app", ""},
		"1024 bytes with it":     {long(1023) + "/", long(1023), ""},
		"1025 bytes with it":     {long(1024) + "/", "", ruleLength},
		"two slashes":            {"/workspace/app//", "", ruleSegments},
		"the root":               {"/", "", ruleEmpty},
		"the root twice":         {"//", "", ruleEmpty},
		"nothing":                {"", "", ruleEmpty},
		"a forbidden place":      {"/etc/", "", "must not be at or under '/etc'"},
		"a dot before the slash": {"/workspace/./", "", ruleDots},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := layout.MountDirectory(tc.path)
			wantRule(t, err, tc.rule)
			if got != tc.want {
				t.Errorf("got the path %q, want %q", got, tc.want)
			}
		})
	}
}

// nowhere lists the places at and under which nothing may be mounted.
var nowhere = []string{
	"/proc", "/sys", "/dev", "/etc", "/bin", "/sbin", "/lib", "/lib64", "/usr",
	"/boot", "/run", "/var/run", "/orca",
}

func TestNothingIsMountedAtOrUnderTheForbiddenPlaces(t *testing.T) {
	for _, place := range nowhere {
		rule := fmt.Sprintf("must not be at or under '%s'", place)
		for path, want := range map[string]string{
			place: rule, place + "/x": rule, place + "/x/y": rule,
			place + "x": "", place + "-x/y": "", "/x" + place: "", strings.ToUpper(place): "",
		} {
			t.Run(path, func(t *testing.T) {
				_, err := layout.MountFile(path)
				wantRule(t, err, want)
				_, err = layout.MountDirectory(path + "/")
				wantRule(t, err, want)
			})
		}
	}
	for _, path := range []string{"/var", "/var/lib/x", "/opt", "/home/x", "/root", "/mnt", "/srv"} {
		_, err := layout.MountFile(path)
		wantRule(t, err, "")
	}
}

func TestSafeSegment(t *testing.T) {
	const (
		ruleSlash = "must not contain '/'"
		ruleDash  = "must not start with '-'"
		ruleSpace = "must not start or end with a space"
		ruleGit   = "must not be '.git'"
	)
	for name, tc := range map[string]struct{ segment, rule string }{
		"a word":                      {"app", ""},
		"a name with a dot":           {"example.com", ""},
		"a hidden name":               {".github", ""},
		"a name that ends in .git":    {"app.git", ""},
		"three dots":                  {"...", ""},
		"capitals":                    {"App", ""},
		"a space inside":              {"Team Notes", ""},
		"a dash inside":               {"a-", ""},
		"letters beyond ASCII":        {"Q3 report (final) ä.xlsx", ""},
		"255 bytes":                   {strings.Repeat("x", 255), ""},
		"nothing":                     {"", "must not be empty"},
		"a dot":                       {".", ruleDots},
		"two dots":                    {"..", ruleDots},
		"git's own folder":            {".git", ruleGit},
		"a slash":                     {"a/b", ruleSlash},
		"a path upwards":              {"../x", ruleSlash},
		"a leading dash":              {"-rf", ruleDash},
		"a leading space":             {" a", ruleSpace},
		"a trailing space":            {"a ", ruleSpace},
		"only a space":                {" ", ruleSpace},
		"a trailing no-break space":   {"a\u00a0", ruleSpace},
		"a trailing newline":          {"a\n", ruleSpace},
		"a newline inside":            {"a\nb", ruleInvisible},
		"a zero byte":                 {"a\x00b", ruleInvisible},
		"a right-to-left override":    {"a\u202eb", ruleInvisible},
		"a colon":                     {"a:b", ruleColon},
		"not UTF-8":                   {"a\xffb", ruleUTF8},
		"256 bytes":                   {strings.Repeat("x", 256), ruleSegment},
		"a decomposed letter as such": {"e\u0301", ""},
	} {
		t.Run(name, func(t *testing.T) { wantRule(t, layout.SafeSegment(tc.segment), tc.rule) })
	}
}

func TestOverlap(t *testing.T) {
	for name, tc := range map[string]struct {
		a, b string
		want bool
	}{
		"a path and itself":                 {"/workspace/app", "/workspace/app", true},
		"a path and what is in it":          {"/workspace/app", "/workspace/app/x", true},
		"a path and what is deep in it":     {"/workspace", "/workspace/a/b/c", true},
		"names that begin alike":            {"/workspace/app", "/workspace/app2", false},
		"the skills and a longer name":      {"/workspace/skills", "/workspace/skills-x", false},
		"the skills and what is in them":    {"/workspace/skills", "/workspace/skills/x", true},
		"the skills and the workspace":      {"/workspace/skills", "/workspace", true},
		"siblings":                          {"/workspace/a", "/workspace/b", false},
		"names that differ in case":         {"/workspace/App", "/workspace/app", false},
		"composed and decomposed letters":   {"/data/\u00e9", "/data/e\u0301", false},
		"full-width letters":                {"/workspace/skills", "/workspace/\uff53kills", false},
		"a name and the same with a dot":    {"/data/x", "/data/x.txt", false},
		"a shorter name at a deeper place":  {"/a/b", "/a/b/b", true},
		"equal ends of different beginning": {"/x/workspace", "/workspace", false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, pair := range [][2]string{{tc.a, tc.b}, {tc.b, tc.a}} {
				if got := layout.Overlap(pair[0], pair[1]); got != tc.want {
					t.Errorf("Overlap(%q, %q) = %v, want %v", pair[0], pair[1], got, tc.want)
				}
			}
		})
	}
}

func TestContainsLooksDownwardsOnly(t *testing.T) {
	if !layout.Contains("/a", "/a/b") || !layout.Contains("/a", "/a") || layout.Contains("/a/b", "/a") || layout.Contains("/a", "/ab") {
		t.Error("a root contains itself and what is below it, nothing else")
	}
}

func FuzzMountFile(f *testing.F) {
	for _, seed := range []string{"/data/in", "/", "", "/a/../b", "/etc/x", "/var/run", "/a:b", "/\xff", "/a/", "/é\u200d", "/" + strings.Repeat("x", 256)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, given string) {
		got, err := layout.MountFile(given)
		if err != nil {
			return
		}
		if got != given {
			t.Errorf("accepted %q as %q", given, got)
		}
		checkAccepted(t, got)
		directory, err := layout.MountDirectory(given)
		if err != nil || directory != given {
			t.Errorf("as a directory %q is %q, %v", given, directory, err)
		}
	})
}

// checkAccepted states what holds for every path at which a file may appear,
// in other words than the code does.
func checkAccepted(t *testing.T, got string) {
	t.Helper()
	if path.Clean(got) != got || !path.IsAbs(got) || got == "/" || !utf8.ValidString(got) {
		t.Errorf("accepted %q, which isn't canonical", got)
	}
	if strings.ContainsAny(got, ":\x00\n\r\x1b\u200d\u202e") {
		t.Errorf("accepted %q, which has a character that is never allowed", got)
	}
	if len(got) > 1024 || slices.ContainsFunc(segments(got), func(segment string) bool { return len(segment) > 255 }) {
		t.Errorf("accepted %q, which is too long", got)
	}
	for _, place := range nowhere {
		if below(segments(place), segments(got)) {
			t.Errorf("accepted %q, which lies in %s", got, place)
		}
	}
}

func FuzzOverlap(f *testing.F) {
	f.Add("/workspace/app", "/workspace/app2")
	f.Add("/workspace/skills", "/workspace/skills/x")
	f.Add("/a", "/a/b/c")
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, given := range []string{a, b} {
			if _, err := layout.MountFile(given); err != nil {
				return // Only canonical paths are compared.
			}
		}
		want := below(segments(a), segments(b)) || below(segments(b), segments(a))
		if got, turned := layout.Overlap(a, b), layout.Overlap(b, a); got != want || turned != want {
			t.Errorf("Overlap(%q, %q) = %v, turned round %v, want %v", a, b, got, turned, want)
		}
	})
}

func segments(path string) []string { return strings.Split(path, "/") }

// below reports whether the segments of path begin with all those of root.
func below(root, path []string) bool {
	for i, segment := range root {
		if i >= len(path) || path[i] != segment {
			return false
		}
	}
	return true
}
