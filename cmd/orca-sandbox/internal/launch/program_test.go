// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"testing"
)

func TestFindProgram(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder)
	for name, mode := range map[string]os.FileMode{"tool": 0o755, "a/tool": 0o755, "b/tool": 0o644, "b/closed": 0o600} {
		if err := os.MkdirAll(folder+"/a", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(folder+"/b/tool-folder", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	for name, tc := range map[string]struct {
		program, path, want string
		wantErr             error
	}{
		"the first folder wins":                       {"tool", folder + "/a:" + folder, folder + "/a/tool", nil},
		"what can't be executed is passed over":       {"tool", folder + "/b:" + folder + "/a", folder + "/a/tool", nil},
		"what can't be executed is told if all is so": {"closed", "/nowhere:" + folder + "/b:" + folder + "/a", "", syscall.EACCES},
		"a folder is no program":                      {"tool-folder", folder + "/b", "", syscall.EISDIR},
		"an empty folder is the working directory":    {"tool", "/nowhere:", "./tool", nil},
		"an empty path is the working directory":      {"tool", "", "./tool", nil},
		"a relative folder":                           {"tool", "a", "a/tool", nil},
		"a slash: PATH doesn't count":                 {"./tool", folder + "/a", "./tool", nil},
		"a slash: not there":                          {"./none", folder + "/a", "./none", fs.ErrNotExist},
		"nowhere":                                     {"none", folder + "/a:" + folder + "/tool", "", fs.ErrNotExist},
		"an empty name":                               {"", folder, "", fs.ErrNotExist},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := findProgram(tc.program, tc.path)
			if got != tc.want || !errors.Is(err, tc.wantErr) {
				t.Errorf("got %q, %v, want %q, %v", got, err, tc.want, tc.wantErr)
			}
		})
	}
}
