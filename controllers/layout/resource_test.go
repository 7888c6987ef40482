// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package layout_test

import (
	"cmp"
	"errors"
	"path"
	"strings"
	"testing"

	"github.com/orca-agent-engine/orca-operator/controllers/layout"
)

func TestFile(t *testing.T) {
	for name, tc := range map[string]struct{ id, filename, key, mountPath, want, rule string }{
		"a file":                                 {"file_01", "run.py", "k", "", "/mnt/session/uploads/file_01/run.py", ""},
		"a name that users choose":               {"file_01HQ_AbC", "Q3 report (final) ä.xlsx", "k", "", "/mnt/session/uploads/file_01HQ_AbC/Q3 report (final) ä.xlsx", ""},
		"case is kept":                           {"FILE_1", "A", "k", "", "/mnt/session/uploads/FILE_1/A", ""},
		"without a name it is called by its key": {"f", "", ".hidden", "", "/mnt/session/uploads/f/.hidden", ""},
		"the key doesn't matter beside a name":   {"f", "x", "-rf", "", "/mnt/session/uploads/f/x", ""},
		"the asked path is the file's own":       {"f", "x", "k", "/data/in/run.py", "/data/in/run.py", ""},
		"with an asked path no name is needed":   {"..", "../x", "-rf", "/data/x", "/data/x", ""},
		"the id would lead out":                  {"..", "x", "k", "", "", "fileID must not have '.' or '..' as a segment"},
		"the id has a slash":                     {"a/b", "x", "k", "", "", "fileID must not contain '/'"},
		"the id is missing":                      {"", "x", "k", "", "", "fileID must not be empty"},
		"the name would lead out":                {"f", "../x", "k", "", "", "filename must not contain '/'"},
		"the name is the folder itself":          {"f", ".", "k", "", "", "filename must not have '.' or '..' as a segment"},
		"the name hides a line break":            {"f", "a\nb", "k", "", "", "filename must not contain control or format characters"},
		"the key is no usable name":              {"f", "", "-rf", "", "", "key must not start with '-'"},
		"neither name nor key":                   {"f", "", "", "", "", "key must not be empty"},
		"a file has no trailing slash":           {"f", "x", "k", "/data/", "", "mountPath must not have empty segments or end in '/'"},
		"a place where nothing may be mounted":   {"f", "x", "k", "/etc/hosts", "", "mountPath must not be at or under '/etc'"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := layout.File(tc.id, tc.filename, tc.key, tc.mountPath)
			wantRule(t, err, tc.rule)
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestAFileErrorHoldsTheValueAndDoesNotPrintIt(t *testing.T) {
	long := "/data/../" + strings.Repeat("x", 800)
	_, err := layout.File("f", "x", "k", long)
	cause, ok := errors.AsType[*layout.FileError](err)
	if !ok || cause.Part != layout.MountPath || cause.Value != long {
		t.Fatalf("error = %#v, want one about the mount path", err)
	}
	if len(err.Error()) > 100 {
		t.Errorf("the error has %d bytes: %s", len(err.Error()), err)
	}
}

func TestDenialIsTheContractsText(t *testing.T) {
	const want = "write denied for /workspace/app/x; user-downloadable files must be written under /mnt/session/outputs/"
	if got := layout.Denial("/workspace/app/x"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzFile(f *testing.F) {
	f.Add("file_01", "run.py", "k", "")
	f.Add("..", "..", "..", "")
	f.Add("a", "../../etc/passwd", "", "")
	f.Add("a", "", "\x00", "")
	f.Add("a", "", "k", "/data/../etc/passwd")
	f.Add("", "", "", "/usr")
	f.Fuzz(func(t *testing.T, id, filename, key, mountPath string) {
		got, err := layout.File(id, filename, key, mountPath)
		if err != nil {
			if cause, ok := errors.AsType[*layout.FileError](err); !ok || got != "" {
				t.Errorf("File = %q, error %v of part %+v", got, err, cause)
			}
			return
		}
		checkAccepted(t, got)
		want := mountPath
		if want == "" {
			want = path.Join(layout.Uploads, id, cmp.Or(filename, key))
		}
		if got != want {
			t.Errorf("File(%q, %q, %q, %q) = %q, want %q", id, filename, key, mountPath, got, want)
		}
		if mountPath == "" && path.Dir(path.Dir(got)) != layout.Uploads {
			t.Errorf("File(%q, %q, %q) = %q leads out of the uploads", id, filename, key, got)
		}
	})
}
