// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func readme(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// pathTable returns what the README's table of paths says: the path, and
// whether the agent reads or writes there.
func pathTable(t *testing.T) map[string]string {
	t.Helper()
	_, after, found := strings.Cut(readme(t), "### Paths\n")
	if !found {
		t.Fatal("the README has no section about paths")
	}
	table := map[string]string{}
	row := regexp.MustCompile("(?m)^\\| `([^`]+)` \\|[^|]*\\| ([^|]+) \\|$")
	section, _, _ := strings.Cut(after, "\n### ")
	for _, match := range row.FindAllStringSubmatch(section, -1) {
		table[match[1]] = match[2]
	}
	return table
}

func TestTheREADMEsPathsAreThese(t *testing.T) {
	const reads, writes, asked = "reads", "writes", "reads; writes if `ReadWrite`"
	want := map[string]string{
		Outputs + "/":               writes,
		Uploads + "/<fileID>/":      reads,
		Memory + "/<storeName>/":    asked,
		Workspace + "/<directory>/": asked,
		Skills + "/":                reads,
		Tmp + "/":                   writes,
		SharedMemory + "/":          writes,
	}
	if diff := cmp.Diff(want, pathTable(t)); diff != "" {
		t.Errorf("the README's table of paths (-want +got):\n%s", diff)
	}
}

func TestTheREADMEsTableSaysWhatIsWritable(t *testing.T) {
	var written []string
	for path, access := range pathTable(t) {
		if access == "writes" {
			written = append(written, strings.TrimSuffix(path, "/"))
		}
	}
	slices.Sort(written)
	if diff := cmp.Diff(WritableRoots(true), written); diff != "" {
		t.Errorf("what the README says is writable (-want +got):\n%s", diff)
	}
}

func TestTheREADMEListsWhereNothingMayBeMounted(t *testing.T) {
	if want := "`" + strings.Join(forbidden, " ") + "`"; !strings.Contains(readme(t), want) {
		t.Errorf("the README does not list %s", want)
	}
}
