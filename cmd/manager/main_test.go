// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheManagerEndsAtStartWithSettingsThatItCantUse(t *testing.T) {
	const header = "apiVersion: config.orca.dev/v1alpha1\nkind: OperatorConfig\n"
	const images = "  image: sandbox:1\n  runtimeImage: runtime:1\n"
	cases := map[string]struct {
		content string
		want    []string
	}{
		"an unknown key":          {header + "sandbox:\n" + images + "  memroy: 1Gi\n", []string{"sandbox.memroy", "unknown"}},
		"a quantity that is none": {header + "sandbox:\n" + images + "  scratchSize: lots\n", []string{"sandbox.scratchSize", "lots", "quantity"}},
		"no image":                {header, []string{"sandbox.image", "config/default/settings.yaml"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "settings.yaml")
			if err := os.WriteFile(path, []byte(tc.content), 0o600); err != nil {
				t.Fatal(err)
			}
			err := run(options{settings: path})
			if err == nil {
				t.Fatal("the manager started")
			}
			for _, part := range append(tc.want, path) {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q does not name %q", err, part)
				}
			}
		})
	}
}
