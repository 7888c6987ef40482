// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
)

const page = "../../docs/settings.md"

func TestPageHasEveryField(t *testing.T) {
	want := slices.Sorted(maps.Keys(fieldsOf(reflect.ValueOf(file{}), "")))
	got := slices.Sorted(maps.Keys(documentedDefaults(t)))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("keys in %s (-types +page):\n%s", page, diff)
	}
}

func TestPageHasEveryDefault(t *testing.T) {
	want := mustParse(t, minimal).ForNamespace("")
	values := fieldsOf(reflect.ValueOf(file{Effective: want}), "")
	for key, value := range documentedDefaults(t) {
		t.Run(key, func(t *testing.T) {
			switch value {
			case "none":
				if !values[key].IsZero() {
					t.Errorf("the default is %v", values[key])
				}
			case "required":
				content := edit(t, key, func(section map[string]any, field string) { delete(section, field) })
				if _, err := Parse("test.yaml", content); err == nil {
					t.Error("the field is not required")
				}
			default:
				content := edit(t, key, func(section map[string]any, field string) { section[field] = decoded(t, value) })
				got, err := Parse("test.yaml", content)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got.ForNamespace(""), quantities); diff != "" {
					t.Errorf("what the default of the page changes (-code +page):\n%s", diff)
				}
			}
		})
	}
}

func TestExamplesOfPageAreValid(t *testing.T) {
	examples := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(readPage(t), -1)
	if len(examples) == 0 {
		t.Fatal("no examples")
	}
	for _, example := range examples {
		if _, err := Parse(page, []byte(example[1])); err != nil {
			t.Errorf("%v in\n%s", err, example[1])
		}
	}
}

func readPage(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// documentedDefaults are the defaults in the table of the page, by key.
func documentedDefaults(t *testing.T) map[string]string {
	t.Helper()
	rows := regexp.MustCompile("(?m)^\\| `([^`]+)` \\|[^|]+\\|[^|]+\\| ([^|]+) \\|[^|]+\\|$").FindAllStringSubmatch(readPage(t), -1)
	defaults := map[string]string{}
	for _, row := range rows {
		if _, twice := defaults[row[1]]; twice {
			t.Errorf("%s stands twice in %s", row[1], page)
		}
		defaults[row[1]] = strings.Trim(row[2], "`")
	}
	return defaults
}

// fieldsOf returns the fields of the settings by key, down to those that are no
// section of the file. An entry of a list is named by '[]'.
func fieldsOf(section reflect.Value, prefix string) map[string]reflect.Value {
	fields := map[string]reflect.Value{}
	for key, index := range fieldsByKey(section.Type()) {
		field := section.FieldByIndex(index)
		switch {
		case key == "workspaces":
			maps.Copy(fields, fieldsOf(reflect.ValueOf(Workspace{}), "workspaces[]."))
		case field.Type() == reflect.TypeFor[corev1.ResourceRequirements]():
			fields[prefix+key+".requests"] = field.FieldByName("Requests")
			fields[prefix+key+".limits"] = field.FieldByName("Limits")
		case field.Kind() == reflect.Struct && field.Type().PkgPath() == section.Type().PkgPath() && prefix != "workspaces[].":
			maps.Copy(fields, fieldsOf(field, prefix+key+"."))
		default:
			fields[prefix+key] = field
		}
	}
	return fields
}

// edit returns a valid file in which change was made to the section that holds
// the field of a key.
func edit(t *testing.T, key string, change func(section map[string]any, field string)) []byte {
	t.Helper()
	root := decoded(t, minimal).(map[string]any)
	section, field := root, key
	if name, isWorkspace := strings.CutPrefix(key, "workspaces[]."); isWorkspace {
		section, field = map[string]any{"namespaces": []string{"a"}}, name
		root["workspaces"] = []any{section}
	}
	for {
		name, rest, more := strings.Cut(field, ".")
		if !more {
			break
		}
		if section[name] == nil {
			section[name] = map[string]any{}
		}
		section, field = section[name].(map[string]any), rest
	}
	change(section, field)
	content, err := yaml.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func decoded(t *testing.T, content string) any {
	t.Helper()
	var value any
	if err := yaml.Unmarshal([]byte(content), &value); err != nil {
		t.Fatal(err)
	}
	return value
}
