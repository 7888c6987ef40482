// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"strings"
	"testing"

	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/config"
)

func TestParse(t *testing.T) {
	cases := map[string]struct {
		yaml    string
		wantErr string
	}{
		"a whole list": {yaml: `
suite: bookworm
images:
- name: orca.dev/base:dev
  packages: [bash]
  files: [{from: bin/x, to: /x, mode: "0644"}]
  env: {A: b}
  volumes: [/data]
- name: orca.dev/more:dev
  from: orca.dev/base:dev
  entrypoint: [/x]
  cmd: [serve]
  user: "1000"
`},
		"a key that there is not": {
			yaml:    "images: [{name: orca.dev/a:dev, entrypont: [/x]}]",
			wantErr: `unknown field "entrypont"`,
		},
		"a key given twice": {
			yaml:    "images: []\nimages: []",
			wantErr: `key "images" already set`,
		},
		"a name without a tag": {
			yaml:    "images: [{name: orca.dev/a}]",
			wantErr: `images[0].name: "orca.dev/a" must be a reference`,
		},
		"a name that is given twice": {
			yaml:    "images: [{name: orca.dev/a:dev}, {name: orca.dev/a:dev}]",
			wantErr: "images[1] (orca.dev/a:dev).name: must not be that of an earlier image",
		},
		"a base that comes later": {
			yaml:    "images: [{name: orca.dev/a:dev, from: orca.dev/b:dev}, {name: orca.dev/b:dev}]",
			wantErr: `from: "orca.dev/b:dev" must be an earlier image`,
		},
		"packages on top of a base": {
			yaml:    "suite: x\nimages: [{name: orca.dev/a:dev}, {name: orca.dev/b:dev, from: orca.dev/a:dev, packages: [bash]}]",
			wantErr: "packages: must not be given together with from",
		},
		"packages of no release": {
			yaml:    "images: [{name: orca.dev/a:dev, packages: [bash]}]",
			wantErr: "suite: must be given",
		},
		"a source outside the repository": {
			yaml:    "images: [{name: orca.dev/a:dev, files: [{from: /etc/passwd, to: /x}]}]",
			wantErr: `files[0].from: "/etc/passwd" must be a path relative`,
		},
		"a relative target": {
			yaml:    "images: [{name: orca.dev/a:dev, files: [{from: x, to: x}]}]",
			wantErr: `files[0].to: "x" must be an absolute path`,
		},
		"a target that climbs": {
			yaml:    "images: [{name: orca.dev/a:dev, files: [{from: x, to: /a/../x}]}]",
			wantErr: `files[0].to: "/a/../x" must be an absolute path`,
		},
		"a mode that is not octal": {
			yaml:    `images: [{name: orca.dev/a:dev, files: [{from: x, to: /x, mode: "0888"}]}]`,
			wantErr: `files[0].mode: "0888" must be an octal number`,
		},
		"a relative volume": {
			yaml:    "images: [{name: orca.dev/a:dev, volumes: [data]}]",
			wantErr: `volumes[0]: "data" must be an absolute path`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := parse([]byte(tc.yaml))
			if tc.wantErr == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("parse() = %v, want %q", err, tc.wantErr)
			}
		})
	}
}

func TestTheRealListHasWhatTheClusterNeeds(t *testing.T) {
	file, err := Load("../../images.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Select([]string{config.PauseImage, config.CoreDNSImage}); err != nil {
		t.Error(err)
	}
	if _, err := file.Select([]string{"orca.dev/none:dev"}); err == nil {
		t.Error("Select() finds an image that is not in the list")
	}
}

func TestRootfsKey(t *testing.T) {
	base := rootfsKey("bookworm", []string{"git", "bash"})
	if base != rootfsKey("bookworm", []string{"bash", "git"}) {
		t.Error("the order of packages counts")
	}
	if base == rootfsKey("trixie", []string{"git", "bash"}) || base == rootfsKey("bookworm", []string{"git"}) {
		t.Error("another root file system has the same key")
	}
}
