// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package test

import (
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

func TestStatusRefusesWhatIsOutOfBounds(t *testing.T) {
	tests := map[string]struct{ status, want string }{
		"an unknown state":                {"state: Paused", "status.state: Unsupported value"},
		"an unknown error":                {"error: {type: unknown_error, reason: A, message: a, time: '2026-01-01T00:00:00Z', observedGeneration: 1}", "status.error.type: Unsupported value"},
		"a message of 897 bytes":          {"error: {type: agent_failed, reason: A, message: " + strings.Repeat("a", 897) + ", time: '2026-01-01T00:00:00Z', observedGeneration: 1}", "status.error.message: Too long"},
		"a commit of 41 digits":           {"resources: [{name: a, mountPath: /a, access: ReadOnly, commit: '" + strings.Repeat("0", 41) + "'}]", "status.resources[0].commit: Invalid value"},
		"a handled resume of 1,025 bytes": {"lastHandledResume: " + strings.Repeat("a", 1025), "status.lastHandledResume: Too long: may not be more than 1024 bytes"},
		"half of the outputs' sizes":      {"outputs: {files: 1}", "status.outputs.bytes: Required value"},
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
