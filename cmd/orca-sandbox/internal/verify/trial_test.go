// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// oldFolder returns a folder whose last change was long ago.
func oldFolder(t *testing.T) (path string, changed time.Time) {
	t.Helper()
	path = t.TempDir()
	changed = time.Date(2001, 2, 3, 4, 5, 6, 7, time.UTC)
	if err := os.Chtimes(path, changed, changed); err != nil {
		t.Fatal(err)
	}
	return path, changed
}

func openForTest(t *testing.T, path string) *place {
	t.Helper()
	found, err := openPlace(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(found.close)
	return found
}

func TestTheTrialOfARootChangesNothing(t *testing.T) {
	path, changed := oldFolder(t)
	if err := takesFiles(openForTest(t, path)); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if !info.ModTime().Equal(changed) {
		t.Errorf("the folder was changed at %s", info.ModTime())
	}
	wantEmpty(t, path)
}

func TestATrialThatIsNotRefusedSaysSoAndIsCleanedUp(t *testing.T) {
	path := t.TempDir()
	if err := refusesFiles(openForTest(t, path)); err == nil || err.Error() != "a file could be made there" {
		t.Errorf("got %v", err)
	}
	wantEmpty(t, path)

	file := filepath.Join(path, "hosts")
	if err := os.WriteFile(file, []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := refusesContent(file); err == nil || err.Error() != "it could be opened for writing" {
		t.Errorf("got %v", err)
	}
	if content, err := os.ReadFile(file); err != nil || string(content) != "content" {
		t.Errorf("the file holds %q, %v", content, err)
	}
}

func TestARefusalForAnotherReasonIsNone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := refusesFiles(openForTest(t, file)); err == nil || !strings.Contains(err.Error(), "for another reason") {
		t.Errorf("making a file in a file: got %v", err)
	}
	if err := refusesContent(filepath.Dir(file)); err == nil || !strings.Contains(err.Error(), "for another reason") {
		t.Errorf("writing to a directory: got %v", err)
	}
}

func wantEmpty(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 0 {
		t.Errorf("%v was left behind", entries)
	}
}

func TestAPathWithALinkIsNotOpened(t *testing.T) {
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "real"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", filepath.Join(folder, "link")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"link", "link/.", "link/../real"} {
		found, err := openPlace(folder + "/" + path)
		if err == nil {
			found.close()
		}
		if err == nil || !strings.Contains(err.Error(), "symbolic link") {
			t.Errorf("%s: got %v", path, err)
		}
	}
}

func TestWhatTakesTooLongIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 30 * time.Second
		hung := make(chan struct{})
		start := time.Now()
		got := bounded(limit, func(trying func(string)) *Failure {
			trying("/fine")
			trying("/mnt/memory/dead")
			<-hung
			return nil
		})
		wantFailure(t, got, "/mnt/memory/dead", "did not answer within 30s")
		if got == nil {
			t.Error("no failure")
		}
		if took := time.Since(start); took != limit {
			t.Errorf("it took %s", took)
		}
		close(hung)
	})
}

func TestWhatEndsInTimeIsTheAnswer(t *testing.T) {
	for _, want := range []*Failure{nil, failure("/x", "is wrong")} {
		if got := bounded(time.Hour, func(func(string)) *Failure { return want }); got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

// The machine that runs the tests is no sandbox: the check must find that.
func TestTheMachineOfTheTestIsNoSandbox(t *testing.T) {
	if got := Check([]string{t.TempDir()}); got == nil {
		t.Error("the policy counts as established here")
	}
}
