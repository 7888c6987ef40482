// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
)

const (
	// processBytes is how many bytes command, args and env can have together.
	processBytes = 196608
	// resourcesBytes is how many bytes the resources' strings can have together.
	resourcesBytes = 256000
	// maxResources is how many resources a session can have.
	maxResources = 1024

	processRefusal   = "must have at most 196,608 bytes in command, args and env together"
	resourcesRefusal = "must have at most 256,000 bytes in names, ids, paths and URLs together"
)

// A session at all of its bounds at once has room for its whole status. The API
// server drops metadata.managedFields where an object is too large with them: here
// where characters have four bytes.
func TestLargestSessionStoresAFullStatus(t *testing.T) {
	for name, letter := range map[string]string{"of ASCII": "a", "of two bytes a character": "ä", "of four bytes a character": "🐋"} {
		t.Run(name, func(t *testing.T) {
			o := largestSession(t, letter)
			mustCreate(t, o)

			typed := &orcav1alpha1.OrcaSession{}
			if err := api.Get(t.Context(), client.ObjectKeyFromObject(o), typed); err != nil {
				t.Fatal(err)
			}
			typed.Status = fullStatus(typed, letter)
			if err := api.Status().Update(t.Context(), typed); err != nil {
				t.Fatalf("storing a full status: %v", err)
			}
			content, err := json.Marshal(typed)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("the session has %d bytes", len(content))
		})
	}
}

// largestSession has as many variables, resources and bytes as are let in. Beside
// arguments of several bytes a character, variables have more room: the rule on
// them counts characters of arguments.
func largestSession(t *testing.T, letter string) *unstructured.Unstructured {
	t.Helper()
	o := session(t, "")
	spec := o.Object["spec"].(map[string]any)
	spec["environmentRef"] = map[string]any{"name": strings.Repeat("e", 253)}
	names := 256 * 256
	switch {
	case len(letter) == 1:
		spec["args"] = fill(processBytes-names, letter)
		spec["env"] = largestEnv(0, letter)
	default:
		spec["args"] = fill(processBytes, letter)
		spec["env"] = largestEnv(processBytes-names-processBytes/len(letter), letter)
	}
	spec["resources"] = largestResources(letter)
	return o
}

// largestEnv is 256 variables with the longest names, and values of a number of
// bytes together.
func largestEnv(size int, letter string) []any {
	env := make([]any, 256)
	for i := range env {
		env[i] = map[string]any{"name": fmt.Sprintf("%0256d", i), "value": text(size/len(env), letter)}
	}
	return env
}

// fill makes arguments of a number of bytes together.
func fill(size int, letter string) []any {
	var args []any
	for size > 0 {
		arg := text(min(size, 32768), letter)
		args = append(args, arg)
		size -= len(arg)
	}
	return args
}

// text has a number of bytes in characters like letter. Letters 'a' fill it up.
func text(size int, letter string) string {
	return strings.Repeat(letter, size/len(letter)) + strings.Repeat("a", size%len(letter))
}

// largestResources are 1,024 resources of every kind with every field, whose
// strings have together as many bytes as are let in.
func largestResources(letter string) []any {
	resources := make([]any, maxResources)
	for i := range resources {
		size := resourcesBytes/maxResources - len(resourceName(i))
		switch {
		case i < 8:
			resources[i] = largestStore(i, text(size, letter))
		case i < 16:
			resources[i] = largestRepository(i, text(size-2, letter))
		default:
			resources[i] = largestFile(i, "/"+text(size-5, letter))
		}
	}
	return resources
}

// resourceName is one of the longest names that a resource can have.
func resourceName(i int) string { return fmt.Sprintf("%063d", i) }

func largestStore(i int, storeName string) map[string]any {
	return map[string]any{"name": resourceName(i), "memoryStore": map[string]any{
		"storeID": strings.Repeat("s", 128), "storeName": storeName, "access": "ReadWrite",
		"source": map[string]any{"persistentVolumeClaim": map[string]any{"claimName": strings.Repeat("c", 253)}},
	}}
}

func largestRepository(i int, url string) map[string]any {
	return map[string]any{"name": resourceName(i), "gitRepository": map[string]any{
		"url": url, "mountPath": "/r", "access": "ReadWrite", "depth": int64(1<<31 - 1), "submodules": "Recursive", "lfs": "Fetch",
		"ref":         map[string]any{"branch": strings.Repeat("🐋", 255)},
		"credentials": map[string]any{"secretRef": map[string]any{"name": strings.Repeat("s", 253)}},
	}}
}

func largestFile(i int, mountPath string) map[string]any {
	return map[string]any{
		"name": resourceName(i),
		"file": map[string]any{
			"fileID": "f", "filename": "f", "mountPath": mountPath,
			"source": map[string]any{"configMapKeyRef": map[string]any{"name": "c", "key": "k"}},
		},
	}
}

func fullStatus(o *orcav1alpha1.OrcaSession, letter string) orcav1alpha1.OrcaSessionStatus {
	now := metav1.Now()
	status := orcav1alpha1.OrcaSessionStatus{
		ObservedGeneration: 1,
		State:              orcav1alpha1.SessionStateStarting,
		Error: orcav1alpha1.SessionError{
			Type: orcav1alpha1.ErrorOutputsIncomplete, Reason: strings.Repeat("R", 128),
			Message: strings.Repeat(letter, 896), Time: now, Attempt: 1, ObservedGeneration: 1,
		},
		Attempt: 1, PodName: strings.Repeat("p", 253), PodUID: types.UID(strings.Repeat("u", 128)), StartTime: now, EndTime: now, RunSeconds: 1,
		ExitCode: new(int32(1)), LastHandledResume: strings.Repeat(letter, 1024),
		Outputs: &orcav1alpha1.SessionOutputs{
			Files: 1, Bytes: 1, Skipped: 1, CollectTime: now,
			Manifest: orcav1alpha1.OutputsManifest{Key: strings.Repeat(letter, 1024), Digest: "sha256:" + strings.Repeat("0", 64)},
		},
	}
	status.Conditions = fullConditions(letter, now)
	for _, resource := range o.Spec.Resources {
		status.Resources = append(status.Resources, orcav1alpha1.ResourceStatus{
			Name: resource.Name, Access: orcav1alpha1.AccessReadWrite,
			MountPath: cmp.Or(resource.File.MountPath, strings.Repeat(letter, 1024)),
			Commit:    commit(resource),
		})
	}
	return status
}

// commit is the full id of what is checked out, if resource is a repository.
func commit(resource orcav1alpha1.SessionResource) string {
	if resource.Kind() != orcav1alpha1.ResourceKindGitRepository {
		return ""
	}
	return strings.Repeat("0", 64)
}

func fullConditions(letter string, now metav1.Time) []metav1.Condition {
	conditions := make([]metav1.Condition, 16)
	for i := range conditions {
		conditions[i] = metav1.Condition{
			Type: fmt.Sprintf("Condition%d", i), Status: metav1.ConditionFalse, Reason: strings.Repeat("R", 128),
			Message: strings.Repeat(letter, 896), LastTransitionTime: now, ObservedGeneration: 1,
		}
	}
	return conditions
}

func TestBytesTogether(t *testing.T) {
	tests := map[string]struct {
		spec map[string]any
		want []string
	}{
		"60 arguments of 32,768 bytes are refused": {
			map[string]any{"args": fill(60*32768, "a")}, []string{"spec.args: Invalid value: " + processRefusal},
		},
		"arguments at the bound are accepted":                           {map[string]any{"args": fill(processBytes, "a")}, nil},
		"arguments of four bytes a character at the bound are accepted": {map[string]any{"args": fill(processBytes, "🐋")}, nil},
		"arguments over the bound in bytes alone are refused": {
			map[string]any{"args": append(fill(processBytes, "🐋"), "a")}, []string{"spec.args: Invalid value: " + processRefusal},
		},
		"a command and arguments over the bound together are refused": {
			map[string]any{"command": fill(processBytes/2, "a"), "args": fill(processBytes/2+1, "a")},
			[]string{"spec.args: Invalid value: " + processRefusal},
		},
		"variables at the bound are accepted": {map[string]any{"env": variables(processBytes, "🐋")}, nil},
		"variables over the bound in bytes alone are refused": {
			map[string]any{"env": variables(processBytes+1, "🐋")}, []string{"spec.env: Invalid value: " + processRefusal},
		},
		"a command, arguments and variables at the bound together are accepted": {
			map[string]any{"command": []any{"a"}, "args": []any{"b"}, "env": variables(processBytes-2, "a")}, nil,
		},
		"a command, arguments and variables over the bound together are refused": {
			map[string]any{"command": []any{"a"}, "args": []any{"b"}, "env": variables(processBytes-1, "a")},
			[]string{"spec.env: Invalid value: " + processRefusal},
		},
		"resources at the bound are accepted": {map[string]any{"resources": largestResources("🐋")}, nil},
		"resources over the bound are refused": {
			map[string]any{"resources": append(largestResources("🐋")[:maxResources-1], largestFile(maxResources, "/"+text(resourcesBytes/maxResources-63-4, "a")))},
			[]string{"spec.resources: Invalid value: " + resourcesRefusal},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := session(t, "")
			maps.Copy(o.Object["spec"].(map[string]any), tc.spec)
			expect(t, api.Create(t.Context(), o), tc.want...)
		})
	}
}

// variables have a number of bytes together, in names and values.
func variables(size int, letter string) []any {
	var env []any
	for size > 0 {
		name := fmt.Sprintf("A%03d", len(env))
		value := text(min(size-len(name), 32768), letter)
		env = append(env, map[string]any{"name": name, "value": value})
		size -= len(name) + len(value)
	}
	return env
}
