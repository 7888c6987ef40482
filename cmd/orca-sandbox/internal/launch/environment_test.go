// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

func TestEnvironment(t *testing.T) {
	fixed := []string{"HOME=/tmp/home", "TMPDIR=/tmp", "GIT_OPTIONAL_LOCKS=0", "PYTHONPYCACHEPREFIX=/tmp/home/.cache/pycache"}
	git := []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=diff.autoRefreshIndex", "GIT_CONFIG_VALUE_0=false"}
	for name, tc := range map[string]struct {
		container []string
		session   []manifest.EnvVar
		want      [][]string
	}{
		"an empty container": {nil, nil, [][]string{fixed, git}},
		"the container's variables stay, in their order": {
			[]string{"PATH=/bin", "A=1=2", "EMPTY="}, nil,
			[][]string{{"PATH=/bin", "A=1=2", "EMPTY="}, fixed, git},
		},
		"the platform's values win over the container's": {
			[]string{"TMPDIR=/var/tmp", "HOME=/root", "GIT_OPTIONAL_LOCKS=1", "PYTHONPYCACHEPREFIX="}, nil,
			[][]string{{"TMPDIR=/tmp", "HOME=/tmp/home", "GIT_OPTIONAL_LOCKS=0", "PYTHONPYCACHEPREFIX=/tmp/home/.cache/pycache"}, git},
		},
		"the session's values win over all": {
			[]string{"A=container"},
			[]manifest.EnvVar{{Name: "A", Value: "session"}, {Name: "GIT_OPTIONAL_LOCKS", Value: "1"}, {Name: "PYTHONPYCACHEPREFIX", Value: "/x"}},
			[][]string{{"A=session", "HOME=/tmp/home", "TMPDIR=/tmp", "GIT_OPTIONAL_LOCKS=1", "PYTHONPYCACHEPREFIX=/x"}, git},
		},
		"the session can't set HOME and TMPDIR": {
			nil, []manifest.EnvVar{{Name: "HOME", Value: "/x"}, {Name: "TMPDIR", Value: "/x"}},
			[][]string{fixed, git},
		},
		"of equal names the last wins, in the place of the first": {
			[]string{"A=1", "B=1", "A=2"}, []manifest.EnvVar{{Name: "B", Value: "2"}, {Name: "C", Value: "1"}, {Name: "B", Value: "3"}, {Name: "C", Value: "2"}},
			[][]string{{"A=2", "B=3"}, fixed, {"C=2"}, git},
		},
		"git's setting follows those of the session": {
			nil, []manifest.EnvVar{
				{Name: "GIT_CONFIG_COUNT", Value: "2"},
				{Name: "GIT_CONFIG_KEY_0", Value: "user.name"}, {Name: "GIT_CONFIG_VALUE_0", Value: "n"},
				{Name: "GIT_CONFIG_KEY_1", Value: "user.email"}, {Name: "GIT_CONFIG_VALUE_1", Value: "e"},
			},
			[][]string{fixed, {
				"GIT_CONFIG_COUNT=3", "GIT_CONFIG_KEY_0=user.name", "GIT_CONFIG_VALUE_0=n",
				"GIT_CONFIG_KEY_1=user.email", "GIT_CONFIG_VALUE_1=e",
				"GIT_CONFIG_KEY_2=diff.autoRefreshIndex", "GIT_CONFIG_VALUE_2=false",
			}},
		},
		"git's setting follows those of the image": {
			[]string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=a.b", "GIT_CONFIG_VALUE_0=c"}, nil,
			[][]string{{"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=a.b", "GIT_CONFIG_VALUE_0=c"}, fixed, {"GIT_CONFIG_KEY_1=diff.autoRefreshIndex", "GIT_CONFIG_VALUE_1=false"}},
		},
		"git's setting counts from zero if the count is empty or zero": {
			[]string{"GIT_CONFIG_COUNT="}, []manifest.EnvVar{{Name: "GIT_CONFIG_COUNT", Value: "0"}},
			[][]string{{git[0]}, fixed, git[1:]},
		},
		"the session's own choice of git's setting stays": {
			nil, []manifest.EnvVar{
				{Name: "GIT_CONFIG_COUNT", Value: "1"},
				{Name: "GIT_CONFIG_KEY_0", Value: "Diff.AutoRefreshIndex"}, {Name: "GIT_CONFIG_VALUE_0", Value: "true"},
			},
			[][]string{fixed, {"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=Diff.AutoRefreshIndex", "GIT_CONFIG_VALUE_0=true"}},
		},
		"a count that git can't read stays": {
			nil, []manifest.EnvVar{{Name: "GIT_CONFIG_COUNT", Value: "many"}},
			[][]string{fixed, {"GIT_CONFIG_COUNT=many"}},
		},
		"a negative count stays": {
			nil, []manifest.EnvVar{{Name: "GIT_CONFIG_COUNT", Value: "-1"}},
			[][]string{fixed, {"GIT_CONFIG_COUNT=-1"}},
		},
		"a count without its settings is git's to complain about": {
			nil, []manifest.EnvVar{{Name: "GIT_CONFIG_COUNT", Value: "999999999"}},
			[][]string{fixed, {"GIT_CONFIG_COUNT=999999999"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var want []string
			for _, part := range tc.want {
				want = append(want, part...)
			}
			if diff := cmp.Diff(want, environment(tc.container, tc.session).list()); diff != "" {
				t.Errorf("the environment differs (-want +got):\n%s", diff)
			}
		})
	}
}
