// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// decoder decodes YAML strictly into Go values. It differs from the decoders of
// the YAML and JSON packages in what the settings need: it goes on after an
// error, it knows the path of every value (a quantity's own decoder does not),
// and it changes only what is present, so that decoding over a value merges:
// structs and maps by key, lists as a whole.
type decoder struct {
	errs field.ErrorList
}

// textual is a type that is written as text with a form of its own.
type textual struct {
	parse func(string) (any, error)
	rule  string
}

var textuals = map[reflect.Type]textual{
	reflect.TypeFor[resource.Quantity](): {
		parse: func(text string) (any, error) { return resource.ParseQuantity(text) },
		rule:  "must be a quantity such as '500m', '64Mi' or '10Gi'",
	},
	reflect.TypeFor[metav1.Duration](): {
		parse: func(text string) (any, error) {
			duration, err := time.ParseDuration(text)
			return metav1.Duration{Duration: duration}, err
		},
		rule: "must be a duration such as '30s', '10m' or '24h'",
	},
}

// nodeType is the type of a value that the caller decodes later.
var nodeType = reflect.TypeFor[yaml.Node]()

func (d *decoder) decode(node *yaml.Node, into reflect.Value, path *field.Path) {
	text, isTextual := textuals[into.Type()]
	switch {
	case node.Kind == yaml.AliasNode:
		d.forbid(path, "must not be an alias; write the value out")
	case node.ShortTag() == "!!null":
		d.forbid(path, "must not be null; leave the key out to get the default")
	case into.Type() == nodeType:
		into.Set(reflect.ValueOf(*node))
	case isTextual:
		d.textual(node, into, path, text)
	default:
		d.byKind(node, into, path)
	}
}

func (d *decoder) byKind(node *yaml.Node, into reflect.Value, path *field.Path) {
	switch into.Kind() {
	case reflect.Struct:
		d.structure(node, into, path)
	case reflect.Map:
		d.mapping(node, into, path)
	case reflect.Slice:
		d.sequence(node, into, path)
	case reflect.Pointer:
		into.Set(reflect.New(into.Type().Elem()))
		d.decode(node, into.Elem(), path)
	case reflect.String:
		d.scalar(node, into, path, "!!str", "must be a string; put it in quotes")
	case reflect.Bool:
		d.scalar(node, into, path, "!!bool", "must be true or false")
	case reflect.Int32, reflect.Int64:
		d.scalar(node, into, path, "!!int", fmt.Sprintf("must be a whole number of %d bits", into.Type().Bits()))
	default:
		panic(fmt.Sprintf("settings have no values of type %s", into.Type()))
	}
}

func (d *decoder) structure(node *yaml.Node, into reflect.Value, path *field.Path) {
	known := fieldsByKey(into.Type())
	child := func(key string) *field.Path { return path.Child(key) }
	for key, value := range d.entries(node, path, child) {
		index, ok := known[key]
		if !ok {
			d.forbid(child(key), "unknown key; known are "+strings.Join(slices.Sorted(maps.Keys(known)), ", "))
			continue
		}
		d.decode(value, into.FieldByIndex(index), child(key))
	}
}

func (d *decoder) mapping(node *yaml.Node, into reflect.Value, path *field.Path) {
	if into.IsNil() {
		into.Set(reflect.MakeMap(into.Type()))
	}
	for key, value := range d.entries(node, path, path.Key) {
		element, before := reflect.New(into.Type().Elem()).Elem(), len(d.errs)
		d.decode(value, element, path.Key(key))
		if len(d.errs) == before {
			into.SetMapIndex(reflect.ValueOf(key).Convert(into.Type().Key()), element)
		}
	}
}

// entries yields the keys and values of a mapping. It reports and leaves out the
// keys that are no strings or that stand twice. pathOf makes the path of a key.
func (d *decoder) entries(node *yaml.Node, path *field.Path, pathOf func(string) *field.Path) iter.Seq2[string, *yaml.Node] {
	return func(yield func(string, *yaml.Node) bool) {
		if node.Kind != yaml.MappingNode {
			d.mistyped(path, "must be a mapping of keys to values")
			return
		}
		lines := map[string]int{}
		for pair := range slices.Chunk(node.Content, 2) {
			key, value := pair[0], pair[1]
			if key.ShortTag() != "!!str" {
				d.mistyped(path, fmt.Sprintf("must have strings as keys; put the key at line %d in quotes", key.Line))
				continue
			}
			if first, twice := lines[key.Value]; twice {
				d.forbid(pathOf(key.Value), fmt.Sprintf("duplicate key, at lines %d and %d", first, key.Line))
				continue
			}
			lines[key.Value] = key.Line
			if !yield(key.Value, value) {
				return
			}
		}
	}
}

func (d *decoder) sequence(node *yaml.Node, into reflect.Value, path *field.Path) {
	if node.Kind != yaml.SequenceNode {
		d.mistyped(path, "must be a list")
		return
	}
	into.Set(reflect.MakeSlice(into.Type(), len(node.Content), len(node.Content)))
	for i, element := range node.Content {
		d.decode(element, into.Index(i), path.Index(i))
	}
}

func (d *decoder) scalar(node *yaml.Node, into reflect.Value, path *field.Path, tag, rule string) {
	if node.Kind != yaml.ScalarNode || node.ShortTag() != tag || node.Decode(into.Addr().Interface()) != nil {
		d.invalid(path, node, rule)
	}
}

func (d *decoder) textual(node *yaml.Node, into reflect.Value, path *field.Path, text textual) {
	value, err := text.parse(node.Value)
	if node.Kind != yaml.ScalarNode || err != nil {
		d.invalid(path, node, text.rule)
		return
	}
	into.Set(reflect.ValueOf(value))
}

func (d *decoder) forbid(path *field.Path, rule string) {
	d.errs = append(d.errs, field.Forbidden(path, rule))
}

// mistyped leaves the value out: where a mapping or list belongs it may be
// anything, also something secret.
func (d *decoder) mistyped(path *field.Path, rule string) {
	d.errs = append(d.errs, field.TypeInvalid(path, field.OmitValueType{}, rule))
}

func (d *decoder) invalid(path *field.Path, node *yaml.Node, rule string) {
	if node.Kind != yaml.ScalarNode {
		d.mistyped(path, rule)
		return
	}
	d.errs = append(d.errs, field.Invalid(path, node.Value, rule))
}

// fieldsByKey maps the keys of a struct's fields, those of embedded structs
// included, to where the fields are.
func fieldsByKey(structure reflect.Type) map[string][]int {
	fields := map[string][]int{}
	for _, f := range reflect.VisibleFields(structure) {
		if key, _, _ := strings.Cut(f.Tag.Get("json"), ","); key != "" {
			fields[key] = f.Index
		}
	}
	return fields
}
