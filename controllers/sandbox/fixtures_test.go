// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	orcatesting "github.com/orca-agent-engine/orca-operator/controllers/internal/testing"
	"github.com/orca-agent-engine/orca-operator/controllers/sandbox"
	"github.com/orca-agent-engine/orca-operator/controllers/settings"
)

const (
	setupAnnotation   = "orca.dev/setup"
	sandboxAnnotation = "orca.dev/sandbox"
)

// effective returns what holds in the session's namespace of a deployment with
// the given lines in its settings file.
func effective(t *testing.T, lines string) settings.Effective {
	t.Helper()
	return orcatesting.SettingsWithoutCommand(t, lines).ForNamespace("team")
}

func session(resources ...orcav1alpha1.SessionResource) *orcav1alpha1.OrcaSession {
	return &orcav1alpha1.OrcaSession{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "report", UID: "5a1f9c7e-0c2b-4b60-9d4e-1f6f0d1c2b3a"},
		Spec: orcav1alpha1.OrcaSessionSpec{
			Command:   []string{"python3"},
			Args:      []string{"run.py"},
			Resources: resources,
		},
	}
}

// file returns a file at the given path, or at its default one.
func file(name, mountPath string) orcav1alpha1.SessionResource {
	return orcav1alpha1.SessionResource{Name: name, File: orcav1alpha1.FileResource{
		FileID:    "file_" + name,
		Source:    orcav1alpha1.FileSource{ConfigMapKeyRef: orcav1alpha1.ConfigMapKeyReference{Name: "inputs", Key: name + ".csv"}},
		MountPath: mountPath,
	}}
}

func files(count int) []orcav1alpha1.SessionResource {
	var out []orcav1alpha1.SessionResource
	for i := range count {
		out = append(out, file(fmt.Sprintf("file-%03d", i), ""))
	}
	return out
}

func repository(name string, access orcav1alpha1.Access, mountPath string) orcav1alpha1.SessionResource {
	return orcav1alpha1.SessionResource{Name: name, GitRepository: orcav1alpha1.GitRepositoryResource{
		URL: "https://git.test/org/" + name + ".git", Access: access, MountPath: mountPath,
	}}
}

func store(name string, access orcav1alpha1.Access, claim string) orcav1alpha1.SessionResource {
	return orcav1alpha1.SessionResource{Name: name, MemoryStore: orcav1alpha1.MemoryStoreResource{
		StoreID: "mem_" + name, StoreName: "Store " + name, Access: access,
		Source: orcav1alpha1.MemoryStoreSource{PersistentVolumeClaim: orcav1alpha1.ClaimReference{ClaimName: claim}},
	}}
}

// oneOfEach returns a resource of every kind with every access, and all that a
// repository can say.
func oneOfEach() []orcav1alpha1.SessionResource {
	everything := repository("everything", orcav1alpha1.AccessReadOnly, "")
	everything.GitRepository.Ref = &orcav1alpha1.GitReference{Tag: "v1"}
	everything.GitRepository.Depth = 1
	everything.GitRepository.Submodules = orcav1alpha1.SubmodulesRecursive
	everything.GitRepository.LFS = orcav1alpha1.LFSFetch
	everything.GitRepository.Credentials.SecretRef.Name = "git-cred"
	return []orcav1alpha1.SessionResource{
		file("table", ""),
		everything,
		repository("mine", orcav1alpha1.AccessReadWrite, ""),
		store("notes", orcav1alpha1.AccessReadWrite, "notes"),
		store("facts", "", "facts"),
	}
}

// asManyAsAllowed returns 8 repositories, 8 memory stores and 100 files. Some
// repositories have a credential, two of them the same one.
func asManyAsAllowed() []orcav1alpha1.SessionResource {
	out := files(100)
	access := []orcav1alpha1.Access{orcav1alpha1.AccessReadOnly, orcav1alpha1.AccessReadWrite}
	for i := range 8 {
		app := repository(fmt.Sprintf("repository-%d", i), access[i%2], "")
		app.GitRepository.Credentials.SecretRef.Name = []string{"", "git-cred", "git-cred", "ssh-cred"}[i%4]
		out = append(out, app, store(fmt.Sprintf("store-%d", i), access[i%2], fmt.Sprintf("claim-%d", i)))
	}
	return out
}

// atTheLimits returns what asManyAsAllowed does, each as long as F24 has it.
func atTheLimits() []orcav1alpha1.SessionResource {
	out := asManyAsAllowed()
	for i := range out {
		switch out[i].Kind() {
		case orcav1alpha1.ResourceKindFile:
			out[i].File.Filename = long(out[i].Name, 200)
		case orcav1alpha1.ResourceKindGitRepository:
			out[i].GitRepository.URL = "https://git.test/" + strings.Repeat("org/", 368) + out[i].Name
			out[i].GitRepository.Credentials.SecretRef.Name = long(out[i].Name, 253)
		case orcav1alpha1.ResourceKindMemoryStore:
			out[i].MemoryStore.StoreName = long(out[i].Name, 200)
			out[i].MemoryStore.Source.PersistentVolumeClaim.ClaimName = long(out[i].Name, 253)
		}
	}
	return out
}

// long returns a name of the given length.
func long(name string, length int) string { return name + strings.Repeat("n", length-len(name)) }

// sharedClaim returns two stores that read one claim.
func sharedClaim() []orcav1alpha1.SessionResource {
	return []orcav1alpha1.SessionResource{
		store("facts", orcav1alpha1.AccessReadOnly, "facts"), store("facts-again", "", "facts"),
	}
}

func input(s *orcav1alpha1.OrcaSession, effective settings.Effective) sandbox.Input {
	return sandbox.Input{
		Session: s, Settings: effective, Attempt: 1,
		Lifetime: 90 * time.Minute, InputVersions: "versions",
	}
}

func build(t *testing.T, in sandbox.Input) *corev1.Pod {
	t.Helper()
	pod, err := sandbox.Build(in)
	if err != nil {
		t.Fatal(err)
	}
	return pod
}

func encode(t *testing.T, pod *corev1.Pod) string {
	t.Helper()
	out, err := json.Marshal(pod)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
