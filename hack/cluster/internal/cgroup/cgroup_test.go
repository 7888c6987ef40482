// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package cgroup

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	const other = "25 1 0:5 / /proc rw - proc proc rw\n"
	cases := map[string]struct {
		mountinfo string
		want      []hierarchy
	}{
		"the unified hierarchy": {
			mountinfo: other + "35 25 0:28 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n",
			want:      []hierarchy{{dir: "/sys/fs/cgroup", unified: true}},
		},
		"one hierarchy for each controller": {
			mountinfo: "30 25 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n" +
				"31 25 0:27 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n",
			want: []hierarchy{{dir: "/sys/fs/cgroup/memory"}, {dir: "/sys/fs/cgroup/cpuset", cpuset: true}},
		},
		"controllers that share a hierarchy": {
			mountinfo: "31 25 0:27 / /sys/fs/cgroup/cpu,cpuset rw - cgroup cgroup rw,cpu,cpuset\n",
			want:      []hierarchy{{dir: "/sys/fs/cgroup/cpu,cpuset", cpuset: true}},
		},
		"none": {mountinfo: other},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, parse(tc.mountinfo), cmp.AllowUnexported(hierarchy{})); diff != "" {
				t.Errorf("difference:\n%s", diff)
			}
		})
	}
}
