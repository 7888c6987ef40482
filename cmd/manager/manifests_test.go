// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/orca-agent-engine/orca-operator/controllers/certificates"
)

// manifests are the rendered objects of a folder, by kind and name.
type manifests map[string][]byte

func renderFolder(t *testing.T, folder string) manifests {
	t.Helper()
	kubectl := filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "kubectl")
	out, err := exec.CommandContext(t.Context(), kubectl, "kustomize", filepath.Join("..", "..", "config", folder)).Output()
	if err != nil {
		t.Fatalf("kubectl kustomize: %v", err)
	}
	objects := manifests{}
	for document := range strings.SplitSeq(string(out), "\n---\n") {
		var meta metav1.PartialObjectMetadata
		if err := yaml.Unmarshal([]byte(document), &meta); err != nil {
			t.Fatal(err)
		}
		objects[meta.Kind+" "+meta.Name] = []byte(document)
	}
	return objects
}

// decode reads an object, which must be there and have no unknown field.
func decode[T any](t *testing.T, m manifests, name string) T {
	t.Helper()
	var out T
	if err := yaml.UnmarshalStrict(m[name], &out); err != nil || m[name] == nil {
		t.Fatalf("%s: %v", name, err)
	}
	return out
}

// F37: the webhooks fail closed, answer soon, and are called for nothing but
// making and changing. What others write isn't in the manifests.
func TestTheWebhooksThatAreInstalled(t *testing.T) {
	for _, folder := range []string{"default", "certmanager"} {
		objects := renderFolder(t, folder)
		configuration := decode[admissionregistrationv1.ValidatingWebhookConfiguration](t, objects, "ValidatingWebhookConfiguration "+certificates.Configuration)
		if len(configuration.Webhooks) != 2 {
			t.Fatalf("%s: %d webhooks, want 2", folder, len(configuration.Webhooks))
		}
		for _, w := range configuration.Webhooks {
			if *w.FailurePolicy != admissionregistrationv1.Fail || *w.SideEffects != admissionregistrationv1.SideEffectClassNone || *w.TimeoutSeconds > 5 {
				t.Errorf("%s: webhook %s is %s, has side effects %s and takes %d s", folder, w.Name, *w.FailurePolicy, *w.SideEffects, *w.TimeoutSeconds)
			}
			if w.ClientConfig.CABundle != nil || w.NamespaceSelector != nil || w.ObjectSelector != nil {
				t.Errorf("%s: webhook %s has a caBundle, or leaves out a namespace or an object", folder, w.Name)
			}
			for _, rule := range w.Rules {
				if slices.Contains(rule.Operations, admissionregistrationv1.Delete) || strings.ContainsAny(strings.Join(rule.Resources, " "), "*/") {
					t.Errorf("%s: webhook %s is called for %v of %v", folder, w.Name, rule.Operations, rule.Resources)
				}
			}
		}
		for name := range objects {
			if strings.HasPrefix(name, "MutatingWebhookConfiguration") {
				t.Errorf("%s: %s changes what users apply", folder, name)
			}
		}
	}
}

func TestWhoMakesTheCertificates(t *testing.T) {
	own, theirs := renderFolder(t, "default"), renderFolder(t, "certmanager")
	secret := decode[corev1.Secret](t, own, "Secret "+certificates.SecretName)
	if len(secret.Data)+len(secret.StringData) > 0 {
		t.Error("the Secret that the manager fills is applied with data")
	}
	for _, name := range []string{"Secret " + certificates.SecretName, "Role orca-webhook", "RoleBinding orca-webhook"} {
		if theirs[name] != nil {
			t.Errorf("cert-manager makes the certificates, but there is %s", name)
		}
	}
	role := decode[rbacv1.ClusterRole](t, theirs, "ClusterRole orca-webhook")
	if got := strings.Join(role.Rules[0].Verbs, " "); got != "get list watch" {
		t.Errorf("cert-manager publishes the CA, but the manager can %s", got)
	}
	deployment := decode[appsv1.Deployment](t, theirs, "Deployment orca-manager")
	pod := deployment.Spec.Template.Spec
	if !slices.Contains(pod.Containers[0].Args, "--webhook-self-signed=false") {
		t.Errorf("the manager makes certificates of its own: %v", pod.Containers[0].Args)
	}
	for _, volume := range pod.Volumes {
		if volume.Name == "webhook" && (volume.EmptyDir != nil || volume.Secret == nil) {
			t.Errorf("the manager takes its certificate from %+v", volume.VolumeSource)
		}
	}
}
