// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/hack/gitserver"
)

// uploads is where files without a path of their own are.
const uploads = "/mnt/session/uploads"

// composition is a session's resources and what should come of them.
type composition struct {
	t         *testing.T
	namespace string
	resources []orcav1alpha1.SessionResource
	places    []orcav1alpha1.ResourceStatus
	want      expected
}

// expected is what the program in the sandbox is told to look for.
type expected struct {
	// Trees has, for the paths below a directory, the SHA-256 digest, or where a
	// link points to; empty for what need only be there.
	Trees map[string]map[string]string `json:"trees"`
	// Sealed are those of the trees that nobody can write; Writable are other
	// directories, which anybody can.
	Sealed       []string                       `json:"sealed"`
	Writable     []string                       `json:"writable"`
	Repositories map[string]*expectedRepository `json:"repositories"`
}

type expectedRepository struct {
	Commit string `json:"commit"`
	Branch string `json:"branch"`
	URL    string `json:"url"`
	// Status is what git status prints.
	Status   string `json:"status"`
	Writable bool   `json:"writable"`
}

func compose(t *testing.T, namespace string) *composition {
	return &composition{t: t, namespace: namespace, want: expected{
		Trees: map[string]map[string]string{}, Repositories: map[string]*expectedRepository{},
	}}
}

// add adds a resource that should be at a path.
func (c *composition) add(resource orcav1alpha1.SessionResource, path string, access orcav1alpha1.Access, commit string) {
	c.resources = append(c.resources, resource)
	c.places = append(c.places, orcav1alpha1.ResourceStatus{Name: resource.Name, MountPath: path, Access: access, Commit: commit})
}

// addRepository adds a repository whose tree should be just so.
func (c *composition) addRepository(path string, tree map[string]gitserver.File, commit, branch string, resource orcav1alpha1.SessionResource) {
	writable := resource.GitRepository.Access == orcav1alpha1.AccessReadWrite
	access := orcav1alpha1.AccessReadOnly
	if writable {
		access = orcav1alpha1.AccessReadWrite
		c.want.Writable = append(c.want.Writable, path)
	} else {
		c.want.Sealed = append(c.want.Sealed, path)
	}
	c.add(resource, path, access, commit)
	c.want.Trees[path] = map[string]string{}
	for name, file := range tree {
		c.want.Trees[path][name] = described(file)
	}
	c.want.Repositories[path] = &expectedRepository{Commit: commit, Branch: branch, URL: resource.GitRepository.URL, Writable: writable}
}

// described returns what a tree has for a file.
func described(file gitserver.File) string {
	switch file.Mode {
	case gitserver.Symlink:
		return "-> " + file.Content
	case gitserver.Executable:
		return digest(file.Content) + " executable"
	default:
		return digest(file.Content)
	}
}

func digest(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

// customPaths are those of the files that have one, two of them in a ReadOnly
// repository.
var customPaths = map[string]string{
	"nested-new": "/workspace/app/data/in.csv", "nested-deep": "/workspace/app/docs/deep/er/notes.txt",
	"custom-1": "/data/in/a.csv", "custom-2": "/opt/in/b.csv", "custom-3": "/workspace/inputs/notes.txt",
}

// addFiles fills up with files to a count, the program and what it is told
// among them, and makes the ConfigMap with their content.
func (c *composition) addFiles(count int) {
	content := map[string][]byte{"verify": []byte(verify), "planted": []byte(plant)}
	c.want.Trees[uploads] = map[string]string{"file_expectation/expectation": ""}
	c.want.Sealed = append(c.want.Sealed, uploads)
	for name, at := range customPaths {
		content[name] = fmt.Appendf(nil, "content of %s\r\n", name)
		c.addCustomFile(name, at, string(content[name]))
	}
	for i := range count - len(content) - 1 {
		content[fmt.Sprintf("f%d", i)] = []byte(strings.Repeat(fmt.Sprintf("%d\x00\xff", i), i*i)) // The first is empty.
	}
	for name := range content {
		if customPaths[name] == "" {
			c.addUpload(name)
			c.want.Trees[uploads][path.Join("file_"+name, name)] = digest(string(content[name]))
		}
	}
	c.addUpload("expectation")
	expectation, err := json.Marshal(c.want)
	if err != nil {
		c.t.Fatal(err)
	}
	content["expectation"] = expectation
	create(c.t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: "inputs"}, BinaryData: content})
}

func (c *composition) addUpload(name string) {
	c.add(file(name, name, ""), path.Join(uploads, "file_"+name, name), orcav1alpha1.AccessReadOnly, "")
}

// addCustomFile adds a file at a path, which may be in a tree.
func (c *composition) addCustomFile(name, at, content string) {
	c.add(file(name, name, at), at, orcav1alpha1.AccessReadOnly, "")
	if inner, nested := strings.CutPrefix(at, "/workspace/app/"); nested {
		c.want.Trees["/workspace/app"][inner] = digest(content)
		return
	}
	folder := path.Dir(at)
	c.want.Trees[folder] = map[string]string{path.Base(at): digest(content)}
	c.want.Sealed = append(c.want.Sealed, folder)
}

func (c *composition) program() string     { return uploads + "/file_verify/verify" }
func (c *composition) expectation() string { return uploads + "/file_expectation/expectation" }

// at gives a repository a path.
func at(path string) func(*orcav1alpha1.GitRepositoryResource) {
	return func(r *orcav1alpha1.GitRepositoryResource) { r.MountPath = path }
}

// basic returns what HTTP has for a user's password.
func basic(user, password string) string {
	return base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
}
