// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package admission_test runs the webhooks, as config/webhook registers them,
// behind a real API server.
package admission_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/admission"
	"github.com/orca-agent-engine/orca-operator/controllers/settings"
)

const (
	// patience is for a slow machine.
	patience = 30 * time.Second
	interval = 10 * time.Millisecond
)

var (
	scheme = newScheme()
	// server is the API server that all tests share.
	server *envtest.Environment
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		return 0, fmt.Errorf("KUBEBUILDER_ASSETS must name the folder with etcd and kube-apiserver; make test-unit sets it")
	}
	server = &envtest.Environment{
		CRDDirectoryPaths:     []string{filepath.Join("..", "..", "config", "crd", "bases")},
		ErrorIfCRDPathMissing: true,
		WebhookInstallOptions: envtest.WebhookInstallOptions{
			Paths: []string{filepath.Join("..", "..", "config", "webhook", "webhooks.yaml")},
		},
		// A busy machine takes its time.
		ControlPlaneStartTimeout: 2 * time.Minute,
	}
	if _, err = server.Start(); err != nil {
		return 0, fmt.Errorf("starting the API server: %w", err)
	}
	defer func() {
		if stopErr := server.Stop(); stopErr != nil && err == nil {
			err = fmt.Errorf("stopping the API server: %w", stopErr)
		}
	}()
	server.Config.QPS = -1
	return m.Run(), nil
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(orcav1alpha1.AddToScheme(scheme))
	return scheme
}

// serve answers the webhooks by a deployment's settings until the test ends, or
// until the returned function is called.
func serve(t *testing.T, settings *settings.Settings) (stop func()) {
	t.Helper()
	where := server.WebhookInstallOptions
	mgr, err := ctrl.NewManager(server.Config, ctrl.Options{
		Scheme:  scheme,
		Metrics: metricsserver.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(webhook.Options{
			Host: where.LocalServingHost, Port: where.LocalServingPort, CertDir: where.LocalServingCertDir,
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	admission.Setup(mgr, settings)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the manager ended: %v", err)
		}
	})
	t.Cleanup(stop)
	started := mgr.GetWebhookServer().StartedChecker()
	await(t, "the webhooks to be served", func() bool { return started(nil) == nil })
	return stop
}

// await polls until something holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(interval) {
		if time.Now().After(deadline) {
			t.Fatalf("waited %s for %s", patience, what)
		}
	}
}

// user is a client of somebody who may do anything, and the warnings that the
// API server gave it since the last look.
type user struct {
	client.Client
	mu       sync.Mutex
	warnings []string
}

func newUser(t *testing.T) *user {
	t.Helper()
	u := &user{}
	config := rest.CopyConfig(server.Config)
	config.WarningHandler = u
	var err error
	if u.Client, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
		t.Fatal(err)
	}
	return u
}

// HandleWarningHeader keeps a warning.
func (u *user) HandleWarningHeader(_ int, _, text string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.warnings = append(u.warnings, text)
}

// warned returns the warnings since the last call.
func (u *user) warned() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	out := u.warnings
	u.warnings = nil
	return out
}

func (u *user) newNamespace(t *testing.T) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "team-"}}
	if err := u.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	return namespace.Name
}

func newSession(namespace, name string, resources ...orcav1alpha1.SessionResource) *orcav1alpha1.OrcaSession {
	return &orcav1alpha1.OrcaSession{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: orcav1alpha1.OrcaSessionSpec{
			EnvironmentRef: orcav1alpha1.EnvironmentReference{Name: "env"},
			Resources:      resources,
		},
	}
}

// newFile returns a file that appears at a path, or at its default one.
func newFile(name, mountPath string) orcav1alpha1.SessionResource {
	return orcav1alpha1.SessionResource{Name: name, File: orcav1alpha1.FileResource{
		FileID: "file_" + name, MountPath: mountPath,
		Source: orcav1alpha1.FileSource{ConfigMapKeyRef: orcav1alpha1.ConfigMapKeyReference{Name: "inputs", Key: name}},
	}}
}

func newEnvironment(namespace, name string, spec orcav1alpha1.OrcaEnvironmentSpec) *orcav1alpha1.OrcaEnvironment {
	return &orcav1alpha1.OrcaEnvironment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: spec}
}
