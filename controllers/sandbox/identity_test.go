// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/sandbox"
)

// F38: long names that agree in their beginning make names of their own.
func TestPodNamesAreHostNamesThatNoOtherAttemptHas(t *testing.T) {
	long := strings.Repeat("a", 63)
	attempts := map[string]struct {
		session, uid string
		attempt      int32
	}{
		"a short name":                           {"report", "1", 1},
		"its second attempt":                     {"report", "1", 2},
		"its eleventh attempt":                   {"report", "1", 11},
		"a new session of that name":             {"report", "2", 1},
		"the first attempt of session 1":         {"report", "11", 1},
		"a name with dots":                       {"report.v1.2", "1", 1},
		"the same name with hyphens":             {"report-v1-2", "1", 1},
		"a name of one character":                {"a", "1", 1},
		"a name of 63":                           {long, "1", 1},
		"one of 64 with the same beginning":      {long + "b", "1", 1},
		"one of 253 with the same beginning":     {long + strings.Repeat("b", 190), "1", 1},
		"another of 253 with the same beginning": {long + strings.Repeat("c", 190), "1", 1},
		"a name with a dot where it is cut":      {strings.Repeat("a", 45) + ".b", "1", 1},
		"a name with hyphens where it is cut":    {strings.Repeat("a", 44) + "--b", "1", 1},
		"a name of digits":                       {"2026", "1", 1},
	}
	seen := map[string]string{}
	for title, a := range attempts {
		name := sandbox.PodName(&orcav1alpha1.OrcaSession{ObjectMeta: metav1.ObjectMeta{Name: a.session, UID: types.UID(a.uid)}}, a.attempt)
		if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
			t.Errorf("%s: pod name %q: %s", title, name, strings.Join(problems, "; "))
		}
		if beginning := a.session[:min(len(a.session), 10)]; !strings.HasPrefix(strings.ReplaceAll(name, ".", "-"), strings.ReplaceAll(beginning, ".", "-")) {
			t.Errorf("%s: pod name %q doesn't begin as session %q does", title, name, a.session)
		}
		if other, found := seen[name]; found {
			t.Errorf("%s and %s share pod %q", title, other, name)
		}
		seen[name] = title
	}
}

func TestPodNamesStay(t *testing.T) {
	// Another name would make the operator miss the pods that are there when it
	// is upgraded.
	const want = "report-7jq7vlxfkcgr7i3b"
	if got := sandbox.PodName(session(), 1); got != want {
		t.Errorf("pod name = %q, want %q", got, want)
	}
}

func TestAttempt(t *testing.T) {
	cases := map[string]struct {
		labels map[string]string
		want   int32
	}{
		"the label of an attempt":       {map[string]string{sandbox.LabelAttempt: "12"}, 12},
		"no labels":                     {nil, 0},
		"a label that somebody edited":  {map[string]string{sandbox.LabelAttempt: "twelve"}, 0},
		"a number that is no attempt's": {map[string]string{sandbox.LabelAttempt: "4294967297"}, 0},
		"a label that somebody emptied": {map[string]string{sandbox.LabelAttempt: ""}, 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: tc.labels}}
			if got := sandbox.Attempt(pod); got != tc.want {
				t.Errorf("attempt = %d, want %d", got, tc.want)
			}
		})
	}
}

func TestThePodBelongsToItsSession(t *testing.T) {
	s := session()
	s.Name = strings.Repeat("long.", 50) + "one"
	in := input(s, effective(t, "  podLabels: {app.kubernetes.io/name: ours, team: research}"))
	in.Attempt = 7
	pod := build(t, in)
	if !metav1.IsControlledBy(pod, s) {
		t.Errorf("owners = %+v, want the session as controller", pod.OwnerReferences)
	}
	if got := sandbox.Attempt(pod); got != 7 {
		t.Errorf("attempt = %d, want 7", got)
	}
	if got := pod.Labels[sandbox.LabelSessionUID]; got != string(s.UID) {
		t.Errorf("label %s = %q, want %q", sandbox.LabelSessionUID, got, s.UID)
	}
	if got := pod.Annotations[sandbox.AnnotationSession]; got != s.Name {
		t.Errorf("annotation %s = %q, want %q", sandbox.AnnotationSession, got, s.Name)
	}
	if pod.Labels["team"] != "research" || pod.Labels["app.kubernetes.io/name"] != "orca-sandbox" {
		t.Errorf("labels = %v, want the deployment's beneath the operator's", pod.Labels)
	}
}
