// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package test tries the schemas of the API on a real API server. It sends
// unstructured objects, so that the Go types can't hide what a user can write.
package test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
)

var (
	// server is how to reach the API server.
	server *rest.Config
	// api is a client that has the API server refuse unknown fields.
	api client.Client
)

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		return 1, errors.New("KUBEBUILDER_ASSETS does not name the folder of etcd and kube-apiserver: run 'make test', which builds them")
	}
	environment := &envtest.Environment{
		CRDDirectoryPaths:     []string{"../../../config/crd/bases"},
		ErrorIfCRDPathMissing: true,
	}
	if server, err = environment.Start(); err != nil {
		return 1, fmt.Errorf("starting the API server: %w", errors.Join(err, environment.Stop()))
	}
	defer func() { err = errors.Join(err, environment.Stop()) }()

	scheme := runtime.NewScheme()
	if err := orcav1alpha1.AddToScheme(scheme); err != nil {
		return 1, err
	}
	unlimited := rest.CopyConfig(server)
	unlimited.QPS = -1
	plain, err := client.New(unlimited, client.Options{Scheme: scheme})
	if err != nil {
		return 1, fmt.Errorf("making a client: %w", err)
	}
	api = client.WithFieldValidation(plain, metav1.FieldValidationStrict)
	return m.Run(), nil
}

// object makes an object of a kind from the YAML of its spec.
func object(t *testing.T, kind, spec string) *unstructured.Unstructured {
	t.Helper()
	content := map[string]any{}
	if err := yaml.Unmarshal([]byte(spec), &content); err != nil {
		t.Fatalf("decoding the spec of a case: %v", err)
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": orcav1alpha1.SchemeGroupVersion.String(),
		"kind":       kind,
		"metadata":   map[string]any{"namespace": metav1.NamespaceDefault, "generateName": "case-"},
		"spec":       content,
	}}
}

// session makes a session. Its environment is 'analysis' where spec names none.
func session(t *testing.T, spec string) *unstructured.Unstructured {
	t.Helper()
	o := object(t, "OrcaSession", spec)
	if content, ok := o.Object["spec"].(map[string]any); ok && content["environmentRef"] == nil {
		content["environmentRef"] = map[string]any{"name": "analysis"}
	}
	return o
}

func environment(t *testing.T, spec string) *unstructured.Unstructured {
	t.Helper()
	return object(t, "OrcaEnvironment", spec)
}

func mustCreate(t *testing.T, o client.Object) {
	t.Helper()
	if err := api.Create(t.Context(), o); err != nil {
		t.Fatalf("creating: %v", err)
	}
}

// expect compares the causes of a refusal, as 'field: message', with parts of
// them. Without any wanted it expects no error.
func expect(t *testing.T, err error, want ...string) {
	t.Helper()
	got := causes(t, err)
	if len(got) != len(want) {
		t.Fatalf("got %d causes, want %d\ngot  %q\nwant %q", len(got), len(want), got, want)
	}
	for i := range want {
		if !slices.ContainsFunc(got, func(cause string) bool { return strings.Contains(cause, want[i]) }) {
			t.Errorf("no cause has %q: %q", want[i], got)
		}
	}
}

func causes(t *testing.T, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok || !apierrors.IsInvalid(err) {
		t.Fatalf("want a refusal as Invalid, got %v", err)
	}
	var out []string
	for _, cause := range status.Status().Details.Causes {
		// The schema is not complete where a value has the wrong type or size, so
		// the API server says so that it did not ask the rules.
		if !strings.Contains(cause.Message, "some validation rules were not checked") {
			out = append(out, cause.Field+": "+cause.Message)
		}
	}
	return out
}

// put sets the value at a path of keys and indexes in content.
func put(content any, path string, value any) {
	key, rest, more := strings.Cut(path, ".")
	switch container := content.(type) {
	case map[string]any:
		if !more {
			container[key] = value
			return
		}
		put(container[key], rest, value)
	case []any:
		index, err := strconv.Atoi(key)
		if err != nil {
			panic(err)
		}
		if !more {
			container[index] = value
			return
		}
		put(container[index], rest, value)
	default:
		panic(fmt.Sprintf("nothing at %s", path))
	}
}
