// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
)

func TestUntouchedStatusIsNeverCurrent(t *testing.T) {
	want := map[string]any{"observedGeneration": int64(-1)}
	for _, kind := range []string{"OrcaEnvironment", "OrcaSession"} {
		for name, status := range map[string]map[string]any{
			"without a status":     nil,
			"with an empty status": {},
			"with a user's status": {"observedGeneration": int64(1)},
		} {
			t.Run(kind+" "+name, func(t *testing.T) {
				o := complete(t, kind)
				if status != nil {
					o.Object["status"] = status
				}
				mustCreate(t, o)
				if diff := cmp.Diff(want, o.Object["status"]); diff != "" {
					t.Errorf("status after creation (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestSessionDefaults(t *testing.T) {
	o := session(t, "resources:\n"+stores(1)+repositories(1))
	mustCreate(t, o)
	want := map[string]any{
		"environmentRef": map[string]any{"name": "analysis"},
		"desiredState":   "Running",
		"resources": []any{
			map[string]any{"name": "m0", "memoryStore": map[string]any{
				"storeID": "m0", "access": "ReadOnly",
				"source": map[string]any{"persistentVolumeClaim": map[string]any{"claimName": "m0"}},
			}},
			map[string]any{"name": "r0", "gitRepository": map[string]any{"url": "https://git.test/r0", "access": "ReadOnly"}},
		},
	}
	if diff := cmp.Diff(want, o.Object["spec"]); diff != "" {
		t.Errorf("spec after creation (-want +got):\n%s", diff)
	}
}

// A client that reads a session and writes it back must not change its spec: it
// may not be changed.
func TestGoTypesLoseNothingOfASpec(t *testing.T) {
	tests := map[string]string{
		"every field":                  fullSession,
		"an artifact":                  "resources: [{name: a, file: {fileID: a, source: {artifact: {}}}}]",
		"a ref of nothing":             "resources: [{name: a, gitRepository: {url: a, ref: {}}}]",
		"variables with empty values":  "env: [{name: A, value: ''}, {name: B}]",
		"lists that are empty":         "{command: [], args: [], env: [], resources: []}",
		"arguments that are empty":     "{command: [''], args: ['', '']}",
		"a time to live of no seconds": "ttlSecondsAfterEnded: 0",
	}
	for name, spec := range tests {
		t.Run(name, func(t *testing.T) {
			created := session(t, spec)
			mustCreate(t, created)
			typed := &orcav1alpha1.OrcaSession{}
			if err := api.Get(t.Context(), client.ObjectKeyFromObject(created), typed); err != nil {
				t.Fatal(err)
			}
			typed.Labels = map[string]string{"a": "b"}
			if err := api.Update(t.Context(), typed); err != nil {
				t.Errorf("writing back what was read: %v", err)
			}
		})
	}
}

func TestStatusKeepsZeroes(t *testing.T) {
	o := &orcav1alpha1.OrcaSession{}
	created := session(t, "")
	mustCreate(t, created)
	if err := api.Get(t.Context(), client.ObjectKeyFromObject(created), o); err != nil {
		t.Fatal(err)
	}
	collected := metav1.NewTime(time.Unix(1_700_000_000, 0))
	o.Status.ExitCode = new(int32(0))
	o.Status.Outputs = &orcav1alpha1.SessionOutputs{CollectTime: collected}
	if err := api.Status().Update(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if err := api.Get(t.Context(), client.ObjectKeyFromObject(created), created); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"observedGeneration": int64(-1),
		"exitCode":           int64(0),
		"outputs": map[string]any{
			"files": int64(0), "bytes": int64(0), "skipped": int64(0), "complete": false,
			"collectTime": collected.UTC().Format(time.RFC3339),
		},
	}
	if diff := cmp.Diff(want, created.Object["status"]); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

// The largest session that is let in has 999 files, 8 stores and 8 repositories,
// and a manifest of 196,608 bytes.
func TestLargestSessionStoresAFullStatus(t *testing.T) {
	const resources, manifestBytes = 999 + 8 + 8, 196608
	o := session(t, "")
	o.Object["spec"].(map[string]any)["resources"] = largestResources(resources, manifestBytes)
	mustCreate(t, o)

	typed := &orcav1alpha1.OrcaSession{}
	if err := api.Get(t.Context(), client.ObjectKeyFromObject(o), typed); err != nil {
		t.Fatal(err)
	}
	typed.Status = fullStatus(typed)
	if err := api.Status().Update(t.Context(), typed); err != nil {
		t.Fatalf("storing a full status: %v", err)
	}
	content, err := json.Marshal(typed)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the session has %d bytes", len(content))
}

func largestResources(count, manifestBytes int) []any {
	resources := make([]any, count)
	for i := range resources {
		path := fmt.Sprintf("/data/%d/", i)
		path += strings.Repeat("p", manifestBytes/count-len(path))
		resources[i] = map[string]any{
			"name": fmt.Sprintf("%063d", i),
			"file": map[string]any{
				"fileID":    strings.Repeat("f", 128),
				"mountPath": path,
				"source": map[string]any{"configMapKeyRef": map[string]any{
					"name": strings.Repeat("c", 253), "key": strings.Repeat("k", 253),
				}},
			},
		}
	}
	return resources
}

func fullStatus(o *orcav1alpha1.OrcaSession) orcav1alpha1.OrcaSessionStatus {
	now := metav1.Now()
	message := strings.Repeat("m", 896)
	status := orcav1alpha1.OrcaSessionStatus{
		ObservedGeneration: 1,
		State:              orcav1alpha1.SessionStateEnded,
		Error: orcav1alpha1.SessionError{
			Type: orcav1alpha1.ErrorOutputsIncomplete, Reason: orcav1alpha1.ReasonOutputsIncomplete,
			Message: message, Time: now, Attempt: 1, ObservedGeneration: 1,
		},
		Attempt: 1, PodName: strings.Repeat("p", 253), PodUID: "a", StartTime: now, EndTime: now, RunSeconds: 1,
		ExitCode: new(int32(1)), LastHandledResume: "a",
		Outputs: &orcav1alpha1.SessionOutputs{
			Files: 1, Bytes: 1, Skipped: 1, CollectTime: now,
			Manifest: orcav1alpha1.OutputsManifest{Key: strings.Repeat("k", 1024), Digest: "sha256:" + strings.Repeat("0", 64)},
		},
	}
	for i := range 16 {
		status.Conditions = append(status.Conditions, metav1.Condition{
			Type: fmt.Sprintf("Condition%d", i), Status: metav1.ConditionFalse, Reason: orcav1alpha1.ReasonOutputsIncomplete,
			Message: message, LastTransitionTime: now, ObservedGeneration: 1,
		})
	}
	for _, resource := range o.Spec.Resources {
		status.Resources = append(status.Resources, orcav1alpha1.ResourceStatus{
			Name: resource.Name, MountPath: resource.File.MountPath, Access: orcav1alpha1.AccessReadOnly,
			Commit: strings.Repeat("0", 64),
		})
	}
	return status
}

func TestStatusRefusesWhatIsOutOfBounds(t *testing.T) {
	tests := map[string]struct{ status, want string }{
		"an unknown state":           {"state: Paused", "status.state: Unsupported value"},
		"an unknown error":           {"error: {type: unknown_error, reason: A, message: a, time: '2026-01-01T00:00:00Z', observedGeneration: 1}", "status.error.type: Unsupported value"},
		"a message of 897 bytes":     {"error: {type: agent_failed, reason: A, message: " + strings.Repeat("a", 897) + ", time: '2026-01-01T00:00:00Z', observedGeneration: 1}", "status.error.message: Too long"},
		"a commit of 41 digits":      {"resources: [{name: a, mountPath: /a, access: ReadOnly, commit: '" + strings.Repeat("0", 41) + "'}]", "status.resources[0].commit: Invalid value"},
		"half of the outputs' sizes": {"outputs: {files: 1}", "status.outputs.bytes: Required value"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := session(t, "")
			mustCreate(t, o)
			o.Object["status"] = object(t, "", tc.status).Object["spec"]
			if err := api.Status().Update(t.Context(), o); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("want a refusal with %q, got %v", tc.want, err)
			}
		})
	}
}
