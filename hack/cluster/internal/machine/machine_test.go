// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/progress"
)

func TestClaim(t *testing.T) {
	claim := Claim{Path: filepath.Join(t.TempDir(), "run", "claim")}
	steps := []struct {
		name string
		do   func() error
		want Holding
	}{
		{"before any claim", func() error { return nil }, Holding{}},
		{"taken", func() error { return claim.Take("/a/.orca") }, Holding{Dir: "/a/.orca"}},
		{"about to be given up", func() error { return claim.Leave("/a/.orca") }, Holding{Dir: "/a/.orca", Leaving: true}},
		{"taken again", func() error { return claim.Take("/a/.orca") }, Holding{Dir: "/a/.orca"}},
	}
	for _, step := range steps {
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		got, err := claim.Read()
		got.BootID = ""
		if err != nil || got != step.want {
			t.Errorf("%s: Read() = %+v, %v, want %+v", step.name, got, err, step.want)
		}
	}
}

func TestClaimOfAnEarlierBootHoldsNothing(t *testing.T) {
	claim := Claim{Path: filepath.Join(t.TempDir(), "claim")}
	for name, content := range map[string]string{
		"another boot": `{"dir":"/a","bootID":"00000000"}`,
		"half a file":  `{"dir":"/a",`,
	} {
		if err := os.WriteFile(claim.Path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := claim.Read(); got != (Holding{}) || err != nil {
			t.Errorf("%s: Read() = %+v, %v, want nobody", name, got, err)
		}
	}
}

func TestLockIsHeldByOneAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dir", "lock")
	first, err := Lock(t.Context(), path, progress.Printer{})
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := Lock(short, path, progress.Printer{}); err == nil {
		t.Fatal("a second Lock succeeded while the first was held")
	}
	first.Close()
	second, err := Lock(t.Context(), path, progress.Printer{})
	if err != nil {
		t.Fatal(err)
	}
	second.Close()
}

func TestLockOfARemovedFileIsWorthNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dir", "lock")
	first, err := Lock(t.Context(), path, progress.Printer{})
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan *os.File, 1)
	go func() {
		file, _ := Lock(t.Context(), path, progress.Printer{})
		got <- file
	}()
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	first.Close()
	second := <-got
	if second == nil {
		t.Fatal("the waiting Lock failed")
	}
	defer second.Close()
	if !isAt(second, path) {
		t.Error("the waiting Lock holds a file that nobody else will find")
	}
}

func newSysctls(t *testing.T, values map[string]string) Sysctls {
	t.Helper()
	s := Sysctls{Saved: filepath.Join(t.TempDir(), "saved.json"), Dir: t.TempDir()}
	for name, value := range values {
		path := filepath.Join(s.Dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(value+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s Sysctls) values(t *testing.T, names map[string]string) map[string]string {
	t.Helper()
	values := map[string]string{}
	for name := range names {
		value, err := s.read(name)
		if err != nil {
			t.Fatal(err)
		}
		values[name] = value
	}
	return values
}

func TestSysctlsAreRaisedAndPutBack(t *testing.T) {
	before := map[string]string{
		"net/ipv4/ip_forward":           "0",
		"fs/inotify/max_user_instances": "128",
		"fs/inotify/max_user_watches":   "9999999",
		"kernel/panic":                  "0",
	}
	s := newSysctls(t, before)
	if err := s.Apply(); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"net/ipv4/ip_forward":           "1",
		"fs/inotify/max_user_instances": "8192",
		"fs/inotify/max_user_watches":   "9999999",
		"kernel/panic":                  "0",
	}
	if diff := cmp.Diff(want, s.values(t, before)); diff != "" {
		t.Errorf("after Apply:\n%s", diff)
	}
	// What the kubelet would do, and a second start of the cluster.
	if err := s.write("kernel/panic", "10"); err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(); err != nil {
		t.Fatal(err)
	}
	if err := s.Restore(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, s.values(t, before)); diff != "" {
		t.Errorf("after Restore:\n%s", diff)
	}
	if err := s.Restore(); err != nil {
		t.Errorf("a second Restore failed: %v", err)
	}
}

func TestEnsureAsksForNothingThatIsThere(t *testing.T) {
	here := Need{"a program", "a-package", func() bool { return true }}
	if err := Ensure(t.Context(), []Need{here}, progress.Printer{}); err != nil {
		t.Error(err)
	}
}

func TestAbsentNamesPackagesAndWhatIsMissing(t *testing.T) {
	needs := []Need{
		{"the program one", "p1", func() bool { return false }},
		{"the program two", "p2", func() bool { return true }},
		{"the program three", "p3", func() bool { return false }},
	}
	missing := absent(needs)
	if got, want := strings.Join(packages(missing), " "), "p1 p3"; got != want {
		t.Errorf("packages = %q, want %q", got, want)
	}
	if got, want := describe(missing), "the program one, the program three are"; got != want {
		t.Errorf("describe() = %q, want %q", got, want)
	}
}

func TestRunTellsWhatTheProgramSaid(t *testing.T) {
	_, err := Run(t.Context(), "sh", "-c", "echo no such device >&2; exit 2")
	if err == nil || !strings.Contains(err.Error(), "no such device") {
		t.Errorf("Run() = %v, want the program's own words", err)
	}
	if _, err := Run(t.Context(), "no-such-program-anywhere"); err == nil {
		t.Error("Run() of a missing program succeeded")
	}
}
