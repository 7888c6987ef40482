// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/hack/gitserver"
)

// The repositories hold from 1 to 8 MiB that can't be compressed, and their
// server sends each at this many bytes a second, as one far away would.
const (
	repositories   = 8
	bytesPerSecond = 1 << 20
)

// A session's repositories are cloned at the same time: all of them take hardly
// longer than the slowest one alone. Nothing else runs meanwhile.
func TestEightRepositoriesTakeHardlyLongerThanTheSlowest(t *testing.T) {
	git := startGit(t)
	namespace := newHome(t)
	source := rand.NewChaCha8([32]byte{})
	var all []orcav1alpha1.SessionResource
	for i := range repositories {
		content := make([]byte, (i+1)<<20)
		_, _ = source.Read(content) // It never fails.
		repository := git.NewRepository(fmt.Sprintf("org/r%d.git", i), gitserver.Settings{BytesPerSecond: bytesPerSecond})
		repository.Commit("main", map[string]gitserver.File{"noise": {Content: string(content)}})
		all = append(all, cloned(fmt.Sprintf("r%d", i), repository.URL(), "", nil))
	}
	alone := setupTime(t, on(t, namespace, "exit 0", all[repositories-1]))
	together := setupTime(t, on(t, namespace, "exit 0", all...))
	ratio := together.Seconds() / alone.Seconds()
	t.Logf("the slowest alone takes %.1f s, all %d take %.1f s, the ratio is %.2f", alone.Seconds(), repositories, together.Seconds(), ratio)
	if slowest := time.Duration(repositories<<20) * time.Second / bytesPerSecond; alone < slowest || ratio > 1.5 {
		t.Errorf("want at least %s alone, and a ratio of at most 1.5", slowest)
	}
}

// setupTime returns how long the setup of a session took, by the time stamps of
// its log.
func setupTime(t *testing.T, s *orcav1alpha1.OrcaSession) time.Duration {
	t.Helper()
	awaitReason(t, s, orcav1alpha1.ReasonCompleted)
	out, err := kubectl(t, "logs", "--namespace", s.Namespace, s.Status.PodName, "--container", "setup", "--timestamps")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return stamp(t, lines[len(lines)-1]).Sub(stamp(t, lines[0]))
}

func stamp(t *testing.T, line string) time.Time {
	t.Helper()
	text, _, _ := strings.Cut(line, " ")
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}
