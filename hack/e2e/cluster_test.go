// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

// Package e2e tests the operator as its users meet it: deployed in a real
// cluster, with real nodes, through the API server alone. KUBECONFIG names the
// cluster; kubectl must be on the PATH.
package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
)

// patience is how long a test waits for what should come within seconds.
const patience = 2 * time.Minute

// cluster is what the tests act on, watching the same with watches.
var (
	cluster  client.Client
	watching client.WithWatch
)

func TestMain(m *testing.M) {
	var err error
	if watching, err = connect(); err != nil {
		fmt.Fprintln(os.Stderr, "these tests need a cluster with the operator in it, make test-e2e brings one up:", err)
		os.Exit(1)
	}
	cluster = watching
	code, err := withAuthority(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(code)
}

func connect() (client.WithWatch, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), orcav1alpha1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return nil, err
	}
	return client.NewWithWatch(config, client.Options{Scheme: scheme, FieldValidation: "Strict"})
}

// newNamespace makes a namespace that holds every pod to the restricted Pod
// Security Standard.
func newNamespace(t *testing.T) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "e2e-",
		Labels:       map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	create(t, namespace)
	return namespace.Name
}

// create makes an object that is deleted with the test.
func create(t *testing.T, object client.Object) {
	t.Helper()
	if err := cluster.Create(t.Context(), object); err != nil {
		t.Fatalf("creating %T: %v", object, err)
	}
	t.Cleanup(func() {
		if err := client.IgnoreNotFound(cluster.Delete(context.WithoutCancel(t.Context()), object)); err != nil {
			t.Errorf("deleting %T: %v", object, err)
		}
	})
}

func environment(namespace, name string) *orcav1alpha1.OrcaEnvironment {
	return &orcav1alpha1.OrcaEnvironment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

// session returns a session on environment "env" that runs a shell script.
func session(namespace, script string) *orcav1alpha1.OrcaSession {
	return &orcav1alpha1.OrcaSession{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "session-"},
		Spec: orcav1alpha1.OrcaSessionSpec{
			EnvironmentRef: orcav1alpha1.EnvironmentReference{Name: "env"},
			Command:        []string{"bash", "-c"},
			Args:           []string{script},
		},
	}
}

// file returns a file resource from a key of ConfigMap "inputs".
func file(name, key, mountPath string) orcav1alpha1.SessionResource {
	return orcav1alpha1.SessionResource{Name: name, File: orcav1alpha1.FileResource{
		FileID: "file_" + name, MountPath: mountPath,
		Source: orcav1alpha1.FileSource{ConfigMapKeyRef: orcav1alpha1.ConfigMapKeyReference{Name: "inputs", Key: key}},
	}}
}

// start makes a session in a namespace of its own with an environment.
func start(t *testing.T, script string, resources ...orcav1alpha1.SessionResource) *orcav1alpha1.OrcaSession {
	t.Helper()
	namespace := newNamespace(t)
	create(t, environment(namespace, "env"))
	s := session(namespace, script)
	s.Spec.Resources = resources
	create(t, s)
	return s
}

// awaitState waits until a session is in a state.
func awaitState(t *testing.T, s *orcav1alpha1.OrcaSession, state orcav1alpha1.SessionState) {
	t.Helper()
	await(t, s, "state "+string(state), func() bool { return s.Status.State == state })
}

// awaitReason waits until Ready has a reason.
func awaitReason(t *testing.T, s *orcav1alpha1.OrcaSession, reason string) {
	t.Helper()
	await(t, s, "reason "+reason, func() bool { return condition(s, orcav1alpha1.ConditionReady).Reason == reason })
}

func await(t *testing.T, s *orcav1alpha1.OrcaSession, what string, holds func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 200*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		if err := cluster.Get(ctx, client.ObjectKeyFromObject(s), s); err != nil {
			return false, err
		}
		return holds(), nil
	})
	if err != nil {
		t.Fatalf("waiting for %s: %v; the session's status:\n%s", what, err, describe(s))
	}
}

func condition(s *orcav1alpha1.OrcaSession, kind string) metav1.Condition {
	for _, c := range s.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return metav1.Condition{}
}

func describe(s *orcav1alpha1.OrcaSession) string {
	out, err := exec.Command("kubectl", "describe", "orcasession", "--namespace", s.Namespace, s.Name).CombinedOutput()
	if err != nil {
		return err.Error()
	}
	return string(out)
}

// podOf names a session's pod.
func podOf(s *orcav1alpha1.OrcaSession) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: s.Status.PodName}}
}

// inSandbox runs a program in a session's sandbox.
func inSandbox(t *testing.T, s *orcav1alpha1.OrcaSession, command ...string) (output string, err error) {
	t.Helper()
	args := append([]string{"exec", "--namespace", s.Namespace, s.Status.PodName, "--container", "sandbox", "--"}, command...)
	return kubectl(t, args...)
}

func logs(t *testing.T, s *orcav1alpha1.OrcaSession) string {
	t.Helper()
	out, err := kubectl(t, "logs", "--namespace", s.Namespace, s.Status.PodName, "--container", "sandbox")
	if err != nil {
		t.Fatalf("reading the agent's log: %v", err)
	}
	return out
}

func kubectl(t *testing.T, args ...string) (output string, err error) {
	t.Helper()
	return run(t.Context(), "", args...)
}

// run runs kubectl with an input.
func run(ctx context.Context, input string, args ...string) (output string, err error) {
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(ctx, "kubectl", args...)
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(input), &stdout, &stderr
	if err := command.Run(); err != nil {
		return stdout.String(), fmt.Errorf("kubectl %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}
