// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package controllers_test runs the controllers against a real API server. The
// scheduler and the kubelet are played by the tests.
package controllers_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
)

var (
	scheme = newScheme()
	// restConfig reaches the API server that all tests share.
	restConfig *rest.Config
	// user is a client of somebody who may do anything.
	user client.Client
	// served is where the API server calls the webhooks.
	served envtest.WebhookInstallOptions
)

// labelJudged is on namespaces in which the webhooks are called. Elsewhere the
// controllers meet what the webhooks would have refused.
const labelJudged = "orca.test/judged"

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
	webhooks, err := readWebhooks()
	if err != nil {
		return 0, fmt.Errorf("reading the webhooks: %w", err)
	}
	environment := &envtest.Environment{
		CRDDirectoryPaths:     []string{filepath.Join("..", "config", "crd", "bases")},
		ErrorIfCRDPathMissing: true,
		WebhookInstallOptions: envtest.WebhookInstallOptions{ValidatingWebhooks: webhooks},
		// A busy machine takes its time.
		ControlPlaneStartTimeout: 2 * time.Minute,
	}
	// Some clusters have it; then setting an owner takes a right of its own.
	environment.ControlPlane.GetAPIServer().Configure().Append("enable-admission-plugins", "OwnerReferencesPermissionEnforcement")
	restConfig, err = environment.Start()
	if err != nil {
		return 0, fmt.Errorf("starting the API server: %w", err)
	}
	defer func() {
		if stopErr := environment.Stop(); stopErr != nil && err == nil {
			err = fmt.Errorf("stopping the API server: %w", stopErr)
		}
	}()
	restConfig.QPS = -1
	served = environment.WebhookInstallOptions
	user, err = client.New(restConfig, client.Options{Scheme: scheme})
	if err != nil {
		return 0, fmt.Errorf("making a client: %w", err)
	}
	if err := allowManager(); err != nil {
		return 0, fmt.Errorf("giving the manager its role: %w", err)
	}
	return m.Run(), nil
}

// readWebhooks returns the webhooks that are shipped, for judged namespaces.
func readWebhooks() ([]*admissionregistrationv1.ValidatingWebhookConfiguration, error) {
	data, err := os.ReadFile(filepath.Join("..", "config", "webhook", "webhooks.yaml"))
	if err != nil {
		return nil, err
	}
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	if err := yaml.UnmarshalStrict(data, configuration); err != nil {
		return nil, err
	}
	for i := range configuration.Webhooks {
		configuration.Webhooks[i].NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{labelJudged: "yes"}}
	}
	return []*admissionregistrationv1.ValidatingWebhookConfiguration{configuration}, nil
}

// allowManager makes the role that the manager is shipped with.
func allowManager() error {
	for _, name := range []string{"role.yaml", "role_binding.yaml"} {
		data, err := os.ReadFile(filepath.Join("..", "config", "rbac", name))
		if err != nil {
			return err
		}
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(data, &object.Object); err != nil {
			return fmt.Errorf("decoding %s: %w", name, err)
		}
		if err := user.Create(context.Background(), object); err != nil {
			return err
		}
	}
	return nil
}

// asManager returns how the operator reaches the API server: with the rights
// of its role and no others.
func asManager() *rest.Config {
	manager := rest.CopyConfig(restConfig)
	manager.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:orca-system:orca-manager",
		Groups:   []string{"system:serviceaccounts", "system:authenticated"},
	}
	return manager
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(orcav1alpha1.AddToScheme(scheme))
	return scheme
}
