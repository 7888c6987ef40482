// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/orca-agent-engine/orca-operator/controllers/policy"
)

// largeSessions are what takes longest to judge.
func largeSessions() map[string][]resource {
	atBounds := many(100, func(name string) resource { return file(name, "/workspace/app/"+strings.Repeat("d/", 60)+name) })
	for i := range 8 {
		atBounds = append(atBounds, store(fmt.Sprintf("s%d", i), readWrite, ""), repository(fmt.Sprintf("app%d", i), readWrite, ""))
	}
	long := strings.Repeat("/abcdefg", 127)
	nested := make([]resource, 0, 1024)
	for i := range cap(nested) {
		nested = append(nested, repository(fmt.Sprintf("r%d", i), readOnly, strings.Repeat("/a", 1+i%500)))
	}
	return map[string][]resource{
		"116 resources, as many as a session can have": atBounds,
		"1,024 files in their usual places":            many(1024, func(name string) resource { return file(name, "") }),
		"1,024 repositories at one long path":          many(1024, func(name string) resource { return repository(name, readOnly, long) }),
		"1,024 repositories, each in another":          nested,
		"1,024 stores on one claim":                    sharing(manyAccesses(1024)...),
	}
}

// manyAccesses returns accesses of which half are writable.
func manyAccesses(count int) []access {
	out := make([]access, count)
	for i := range out {
		out[i] = []access{readOnly, readWrite}[i%2]
	}
	return out
}

func BenchmarkSessionAdmission(b *testing.B) {
	deployment := effective(b, "  command: [agent]")
	for name, resources := range largeSessions() {
		judged := session(resources...)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, _ = policy.SessionAdmission(judged, deployment)
			}
		})
	}
}

// F47: rules about pairs cost the API server too much, so they stand here, and
// must cost little. The limits are ten times what a machine takes that has
// nothing else to do.
func TestF47LargeSessionsAreJudgedAtOnce(t *testing.T) {
	deployment := effective(t, "  command: [agent]")
	for name, resources := range largeSessions() {
		limit := 10 * time.Millisecond
		if len(resources) > 116 {
			limit = 200 * time.Millisecond
		}
		judged := session(resources...)
		best := time.Hour
		for range 5 {
			began := time.Now()
			_, _ = policy.SessionAdmission(judged, deployment)
			best = min(best, time.Since(began))
		}
		if best > limit {
			t.Errorf("%s: judged in %v at best, want %v", name, best, limit)
		}
	}
}
