// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	orcatesting "github.com/orca-agent-engine/orca-operator/controllers/internal/testing"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// short is a condition without its message and its times.
type short struct {
	Type   string
	Status metav1.ConditionStatus
	Reason string
}

func shortened(conditions []metav1.Condition) []short {
	var out []short
	for _, c := range conditions {
		out = append(out, short{c.Type, c.Status, c.Reason})
	}
	return out
}

func TestStatusOfAnEnvironment(t *testing.T) {
	limited := orcav1alpha1.EnvironmentConfig{Networking: orcav1alpha1.EnvironmentNetworking{Type: orcav1alpha1.NetworkingLimited}}
	packages := orcav1alpha1.EnvironmentConfig{Packages: []string{"numpy"}}
	available := short{"Ready", metav1.ConditionTrue, "Available"}
	failed := func(reason string) []short {
		return []short{{"Ready", metav1.ConditionFalse, reason}, {"Stalled", metav1.ConditionTrue, reason}}
	}
	cases := map[string]struct {
		settings    string
		spec        orcav1alpha1.OrcaEnvironmentSpec
		want        []short
		wantVerdict status.Status
	}{
		"an empty environment": {
			want:        []short{available},
			wantVerdict: status.CurrentStatus,
		},
		"packages": {
			spec:        orcav1alpha1.OrcaEnvironmentSpec{Config: packages},
			want:        failed("PackagesUnsupported"),
			wantVerdict: status.FailedStatus,
		},
		"packages where admission stores them": {
			settings:    "packages: Store",
			spec:        orcav1alpha1.OrcaEnvironmentSpec{Config: packages},
			want:        failed("PackagesUnsupported"),
			wantVerdict: status.FailedStatus,
		},
		"packages in Separate mode": {
			settings:    "mode: Separate",
			spec:        orcav1alpha1.OrcaEnvironmentSpec{Config: packages},
			want:        failed("PackagesUnsupported"),
			wantVerdict: status.FailedStatus,
		},
		"one package with an empty name": {
			spec:        orcav1alpha1.OrcaEnvironmentSpec{Config: orcav1alpha1.EnvironmentConfig{Packages: []string{""}}},
			want:        failed("PackagesUnsupported"),
			wantVerdict: status.FailedStatus,
		},
		"an image": {
			spec:        orcav1alpha1.OrcaEnvironmentSpec{Image: "python:3"},
			want:        failed("ImageRejected"),
			wantVerdict: status.FailedStatus,
		},
		"an image in Separate mode": {
			settings:    "mode: Separate",
			spec:        orcav1alpha1.OrcaEnvironmentSpec{Image: "python:3"},
			want:        []short{available, {"ImageIgnored", metav1.ConditionTrue, "SeparateMode"}},
			wantVerdict: status.CurrentStatus,
		},
		"packages and an image": {
			spec:        orcav1alpha1.OrcaEnvironmentSpec{Image: "python:3", Config: packages},
			want:        failed("PackagesUnsupported"),
			wantVerdict: status.FailedStatus,
		},
		"networking": {
			spec:        orcav1alpha1.OrcaEnvironmentSpec{Config: limited},
			want:        []short{available, {"NetworkingEnforced", metav1.ConditionFalse, "NotEnforced"}},
			wantVerdict: status.CurrentStatus,
		},
		"an image and networking": {
			spec: orcav1alpha1.OrcaEnvironmentSpec{Image: "python:3", Config: limited},
			want: append(failed("ImageRejected"),
				short{"NetworkingEnforced", metav1.ConditionFalse, "NotEnforced"}),
			wantVerdict: status.FailedStatus,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			environment := &orcav1alpha1.OrcaEnvironment{
				ObjectMeta: metav1.ObjectMeta{Generation: 3},
				Spec:       tc.spec,
				Status:     orcav1alpha1.OrcaEnvironmentStatus{ObservedGeneration: -1},
			}
			environment.Status = judge(environment, orcatesting.Settings(t, tc.settings).ForNamespace("default"), start)
			if diff := cmp.Diff(tc.want, shortened(environment.Status.Conditions)); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
			orcatesting.CheckConditions(t, environment.Status.Conditions, 3)
			if got := orcatesting.Verdict(t, environment); got != tc.wantVerdict {
				t.Errorf("kstatus reads %s, want %s", got, tc.wantVerdict)
			}
		})
	}
}

func TestStatusOfAnEnvironmentThatChanges(t *testing.T) {
	deployment := orcatesting.Settings(t, "").ForNamespace("default")
	environment := &orcav1alpha1.OrcaEnvironment{ObjectMeta: metav1.ObjectMeta{Generation: 1}}
	environment.Spec.Image = "python:3"
	environment.Spec.Config.Networking.Type = orcav1alpha1.NetworkingUnrestricted
	environment.Status = judge(environment, deployment, start)

	again := judge(environment, deployment, start.Add(time.Hour))
	if diff := cmp.Diff(environment.Status, again); diff != "" {
		t.Errorf("status of the same environment an hour later (-want +got):\n%s", diff)
	}

	environment.Generation, environment.Spec = 2, orcav1alpha1.OrcaEnvironmentSpec{}
	environment.Status = judge(environment, deployment, start.Add(time.Hour))
	if diff := cmp.Diff([]short{{"Ready", metav1.ConditionTrue, "Available"}}, shortened(environment.Status.Conditions)); diff != "" {
		t.Errorf("conditions once everything is removed (-want +got):\n%s", diff)
	}
	orcatesting.CheckConditions(t, environment.Status.Conditions, 2)
}
