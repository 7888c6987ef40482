// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package layout_test

import (
	"path"
	"strings"
	"testing"

	"github.com/orca-agent-engine/orca-operator/controllers/layout"
)

func TestUpload(t *testing.T) {
	for name, tc := range map[string]struct{ id, filename, want, rule string }{
		"a file":                        {"file_01", "run.py", "/mnt/session/uploads/file_01/run.py", ""},
		"a name that users choose":      {"file_01HQ_AbC", "Q3 report (final) ä.xlsx", "/mnt/session/uploads/file_01HQ_AbC/Q3 report (final) ä.xlsx", ""},
		"case is kept":                  {"FILE_1", "A", "/mnt/session/uploads/FILE_1/A", ""},
		"the id would lead out":         {"..", "x", "", `file id ".." must not have '.' or '..' as a segment`},
		"the id has a slash":            {"a/b", "x", "", `file id "a/b" must not contain '/'`},
		"the name would lead out":       {"f", "../x", "", `file name "../x" must not contain '/'`},
		"the name is the folder itself": {"f", ".", "", `file name "." must not have '.' or '..' as a segment`},
		"the name hides a line break":   {"f", "a\nb", "", `file name "a\nb" must not contain control or format characters`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := layout.Upload(tc.id, tc.filename)
			wantRule(t, err, tc.rule)
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestFile(t *testing.T) {
	for name, tc := range map[string]struct{ id, filename, mountPath, want, rule string }{
		"the default is the upload's path":       {"f", "x", "", "/mnt/session/uploads/f/x", ""},
		"the asked path is the file's own":       {"f", "x", "/data/in/run.py", "/data/in/run.py", ""},
		"with an asked path no name is needed":   {"f", "../x", "/data/x", "/data/x", ""},
		"the default needs a safe name":          {"f", "../x", "", "", `file name "../x" must not contain '/'`},
		"a file has no trailing slash":           {"f", "x", "/data/", "", `mount path "/data/" must not have empty segments or end in '/'`},
		"a place where nothing may be mounted":   {"f", "x", "/etc/hosts", "", `mount path "/etc/hosts" must not be at or under '/etc'`},
		"a line break is shown, not printed out": {"f", "x", "/data/a\nb", "", `mount path "/data/a\nb" must not contain control or format characters`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := layout.File(tc.id, tc.filename, tc.mountPath)
			wantRule(t, err, tc.rule)
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestDenialIsTheContractsText(t *testing.T) {
	const want = "write denied for /workspace/app/x; user-downloadable files must be written under /mnt/session/outputs/"
	if got := layout.Denial("/workspace/app/x"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzUploadStaysInItsRoot(f *testing.F) {
	f.Add("file_01", "run.py")
	f.Add("..", "..")
	f.Add("a", "../../etc/passwd")
	f.Add("", "\x00")
	f.Fuzz(func(t *testing.T, id, filename string) {
		got, err := layout.Upload(id, filename)
		if err != nil {
			return
		}
		if path.Clean(got) != got || path.Dir(path.Dir(got)) != layout.Uploads || path.Base(got) != filename || path.Base(path.Dir(got)) != id {
			t.Errorf("Upload(%q, %q) = %q", id, filename, got)
		}
		if strings.ContainsAny(got, ":\x00\n\r") {
			t.Errorf("Upload(%q, %q) = %q has a character that is never allowed", id, filename, got)
		}
	})
}
