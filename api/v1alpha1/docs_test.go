// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

const page = "../../docs/fields.md"

// crds are the generated CRDs by their kinds.
var crds = map[string]string{
	"OrcaEnvironment": "../../config/crd/bases/orca.dev_orcaenvironments.yaml",
	"OrcaSession":     "../../config/crd/bases/orca.dev_orcasessions.yaml",
}

// node is what the page says of a field, as a CRD has it.
type node struct {
	Type       string          `json:"type"`
	Format     string          `json:"format"`
	Default    any             `json:"default"`
	Enum       []string        `json:"enum"`
	Pattern    string          `json:"pattern"`
	MinLength  *int64          `json:"minLength"`
	MaxLength  *int64          `json:"maxLength"`
	MinItems   *int64          `json:"minItems"`
	MaxItems   *int64          `json:"maxItems"`
	Minimum    *int64          `json:"minimum"`
	Maximum    *int64          `json:"maximum"`
	Required   []string        `json:"required"`
	Properties map[string]node `json:"properties"`
	Items      *node           `json:"items"`
	Rules      []struct {
		Message string `json:"message"`
	} `json:"x-kubernetes-validations"`
}

// field is a row of the page, without what the field means.
type field struct {
	Type, Bounds, Default string
}

func TestPageHasEveryField(t *testing.T) {
	for kind := range crds {
		t.Run(kind, func(t *testing.T) {
			object := objectOf(t, kind)
			want := map[string]field{}
			for _, part := range []string{"spec", "status"} {
				below := object.Properties[part]
				below.addFields(want, part)
			}
			if diff := gocmp.Diff(want, documentedFields(t, kind)); diff != "" {
				t.Errorf("fields of %s (-CRD +%s):\n%s", kind, page, diff)
			}
		})
	}
}

func TestPageHasEveryRule(t *testing.T) {
	var want []string
	for kind := range crds {
		object := objectOf(t, kind)
		want = append(want, object.messages()...)
	}
	slices.Sort(want)
	want = slices.Compact(want)
	got := slices.Sorted(slices.Values(documentedMessages(t)))
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("texts of refusals (-CRD +%s):\n%s", page, diff)
	}
}

func objectOf(t *testing.T, kind string) node {
	t.Helper()
	content, err := os.ReadFile(crds[kind])
	if err != nil {
		t.Fatal(err)
	}
	var crd struct {
		Spec struct {
			Versions []struct {
				Schema struct {
					Object node `json:"openAPIV3Schema"`
				} `json:"schema"`
			} `json:"versions"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(content, &crd); err != nil {
		t.Fatal(err)
	}
	if len(crd.Spec.Versions) != 1 {
		t.Fatalf("%s has %d versions", kind, len(crd.Spec.Versions))
	}
	return crd.Spec.Versions[0].Schema.Object
}

// addFields adds the fields below n, by their paths. A list of objects has no
// row for its items beside those of their fields.
func (n *node) addFields(fields map[string]field, path string) {
	for name, property := range n.Properties {
		required := slices.Contains(n.Required, name)
		fields[path+"."+name] = property.field(required)
		property.addFields(fields, path+"."+name)
	}
	if n.Items == nil {
		return
	}
	if len(n.Items.Properties) == 0 {
		fields[path+"[]"] = n.Items.field(false)
	}
	n.Items.addFields(fields, path+"[]")
}

// field is the row that the page should have.
func (n *node) field(required bool) field {
	row := field{Type: n.Type, Bounds: n.bounds(), Default: "none"}
	if n.Type == "array" {
		row.Type = "list"
	}
	switch {
	case required:
		row.Default = "required"
	case n.Default != nil:
		row.Default = fmt.Sprintf("`%v`", n.Default)
	}
	return row
}

func (n *node) bounds() string {
	var out []string
	for _, value := range n.Enum {
		out = append(out, "`"+value+"`")
	}
	least, most := n.Minimum, n.Maximum
	if n.Format == "int32" {
		least, most = cmp.Or(least, new(int64(math.MinInt32))), cmp.Or(most, new(int64(math.MaxInt32)))
	}
	out = append(out, span(n.MinLength, n.MaxLength, " characters")...)
	out = append(out, span(n.MinItems, n.MaxItems, " items")...)
	out = append(out, span(least, most, "")...)
	if n.Pattern != "" {
		out = append(out, "`"+n.Pattern+"`")
	}
	if len(out) == 0 {
		return "–"
	}
	return strings.Join(out, ", ")
}

func span(least, most *int64, unit string) []string {
	switch {
	case least == nil && most == nil:
		return nil
	case most == nil:
		return []string{"at least " + grouped(*least) + unit}
	case least == nil:
		least = new(int64)
	}
	return []string{grouped(*least) + " to " + grouped(*most) + unit}
}

// grouped writes a number with a comma before each three digits.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// messages are the texts of the rules of n and below it.
func (n *node) messages() []string {
	var out []string
	for _, rule := range n.Rules {
		out = append(out, rule.Message)
	}
	for _, property := range n.Properties {
		out = append(out, property.messages()...)
	}
	if n.Items != nil {
		out = append(out, n.Items.messages()...)
	}
	return out
}

// documentedFields are the rows in the table of a kind, by their paths.
func documentedFields(t *testing.T, kind string) map[string]field {
	t.Helper()
	fields := map[string]field{}
	for _, row := range rows(section(t, kind), 5) {
		path := strings.Trim(row[0], "`")
		if _, twice := fields[path]; twice {
			t.Errorf("%s stands twice in %s", path, page)
		}
		fields[path] = field{Type: row[1], Bounds: row[2], Default: row[3]}
	}
	return fields
}

// documentedMessages are the texts in the table of rules.
func documentedMessages(t *testing.T) []string {
	t.Helper()
	var messages []string
	for _, row := range rows(section(t, "Rules between fields"), 3) {
		messages = append(messages, strings.Trim(row[2], "`"))
	}
	return messages
}

// section is the text below a heading of the page.
func section(t *testing.T, heading string) string {
	t.Helper()
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(content), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("%s has no section %s", page, heading)
	}
	text, _, _ := strings.Cut(after, "\n## ")
	return text
}

// rows are the cells of the rows that begin with code, in a table with a number
// of columns.
func rows(text string, columns int) [][]string {
	var out [][]string
	for _, line := range regexp.MustCompile("(?m)^\\| (`.*) \\|$").FindAllStringSubmatch(text, -1) {
		cells := strings.SplitN(line[1], " | ", columns)
		for i := range cells {
			cells[i] = strings.ReplaceAll(cells[i], `\|`, "|")
		}
		if len(cells) == columns {
			out = append(out, cells)
		}
	}
	return out
}
