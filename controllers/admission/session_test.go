// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	orcatesting "github.com/orca-agent-engine/orca-operator/controllers/internal/testing"
)

// files returns files at paths of a pattern, which takes a number.
func files(count int, pattern string) []orcav1alpha1.SessionResource {
	var out []orcav1alpha1.SessionResource
	for i := range count {
		out = append(out, newFile(fmt.Sprintf("f-%d", i), fmt.Sprintf(pattern, i)))
	}
	return out
}

// refused returns the status of a refusal, which must be one of a webhook that
// names the fields.
func refused(t *testing.T, err error) metav1.Status {
	t.Helper()
	status, is := errors.AsType[*apierrors.StatusError](err)
	if !is {
		t.Fatalf("the answer is %v, want a refusal", err)
	}
	out := status.Status()
	if out.Code != http.StatusUnprocessableEntity || out.Reason != metav1.StatusReasonInvalid || out.Details == nil || len(out.Details.Causes) == 0 {
		t.Fatalf("the answer is %+v, want 422 with causes", out)
	}
	if !strings.Contains(out.Message, "admission webhook") {
		t.Fatalf("%q is no webhook's", out.Message)
	}
	return out
}

func TestASessionIsJudgedWhenItIsMade(t *testing.T) {
	serve(t, orcatesting.Settings(t, ""))
	u := newUser(t)
	namespace := u.newNamespace(t)
	cases := map[string]struct {
		resources []orcav1alpha1.SessionResource
		// wantFields are the fields of the causes; none for a session that is
		// let.
		wantFields []string
		wantText   string
	}{
		"nothing attached":      {},
		"as many files as can":  {resources: files(100, "/data/%d")},
		"a file too many":       {resources: files(101, "/data/%d"), wantFields: []string{"spec.resources"}, wantText: "at most 100 files"},
		"a file in /etc":        {resources: files(1, "/etc/%d"), wantFields: []string{"spec.resources[0].file.mountPath"}, wantText: `"/etc/0"`},
		"a file among skills":   {resources: files(1, "/workspace/skills/%d"), wantFields: []string{"spec.resources[0].file.mountPath"}, wantText: "/workspace/skills"},
		"a file in the outputs": {resources: files(1, "/mnt/session/outputs/%d"), wantFields: []string{"spec.resources[0].file.mountPath"}, wantText: "/mnt/session/outputs"},
		"two bad files": {
			resources:  files(2, "/data/../%d"),
			wantFields: []string{"spec.resources[0].file.mountPath", "spec.resources[1].file.mountPath"},
			wantText:   `resource "f-1"`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			session := newSession(namespace, "", tc.resources...)
			session.GenerateName = "report-"
			err := u.Create(t.Context(), session)
			if len(tc.wantFields) == 0 {
				if err != nil {
					t.Error(err)
				}
				return
			}
			status := refused(t, err)
			var fields []string
			for _, cause := range status.Details.Causes {
				fields = append(fields, cause.Field)
			}
			if got, want := strings.Join(fields, " "), strings.Join(tc.wantFields, " "); got != want {
				t.Errorf("causes at %s, want %s", got, want)
			}
			if !strings.Contains(status.Message, tc.wantText) {
				t.Errorf("message %q does not say %q", status.Message, tc.wantText)
			}
			if status.Details.Kind != "OrcaSession" || !strings.HasPrefix(status.Details.Name, "report-") {
				t.Errorf("the refusal is about %s %q", status.Details.Kind, status.Details.Name)
			}
		})
	}
}

func TestARefusalSpellsOutSixteenCauses(t *testing.T) {
	serve(t, orcatesting.Settings(t, ""))
	u := newUser(t)
	session := newSession(u.newNamespace(t), "report", files(100, "/etc/%d-"+strings.Repeat("x", 240))...)
	status := refused(t, u.Create(t.Context(), session))
	if got := len(status.Details.Causes); got != 16 {
		t.Errorf("%d causes, want 16", got)
	}
	last := status.Details.Causes[15].Message
	for _, text := range []string{status.Message, last} {
		if !strings.Contains(text, "and 85 more") {
			t.Errorf("%q does not say how many more causes there are", text)
		}
	}
	if len(status.Message) > 16*512 {
		t.Errorf("the message has %d bytes", len(status.Message))
	}
}

func TestTheSettingsOfTheNamespaceHold(t *testing.T) {
	u := newUser(t)
	small := u.newNamespace(t)
	serve(t, orcatesting.Settings(t, fmt.Sprintf("workspaces:\n- namespaces: [%s]\n  limits: {files: 1}\n", small)))
	status := refused(t, u.Create(t.Context(), newSession(small, "report", files(2, "/data/%d")...)))
	if !strings.Contains(status.Message, "at most 1 file") {
		t.Errorf("message %q does not name the namespace's limit", status.Message)
	}
	if err := u.Create(t.Context(), newSession(u.newNamespace(t), "report", files(2, "/data/%d")...)); err != nil {
		t.Errorf("another namespace is held to the limit too: %v", err)
	}
}

func TestADryRunIsJudgedAndLeavesNothing(t *testing.T) {
	serve(t, orcatesting.Settings(t, ""))
	u := newUser(t)
	namespace := u.newNamespace(t)
	refused(t, u.Create(t.Context(), newSession(namespace, "bad", files(1, "/etc/%d")...), client.DryRunAll))
	good := newSession(namespace, "good", files(1, "/data/%d")...)
	if err := u.Create(t.Context(), good, client.DryRunAll); err != nil {
		t.Fatal(err)
	}
	if err := u.Get(t.Context(), client.ObjectKeyFromObject(good), good); !apierrors.IsNotFound(err) {
		t.Errorf("reading what a dry run made: %v, want that it is not there", err)
	}
}

// A session that was made under other settings can be ended, labelled and
// deleted under those of today.
func TestStricterSettingsLockNobodyOut(t *testing.T) {
	u := newUser(t)
	session := newSession(u.newNamespace(t), "report", files(2, "/data/%d")...)
	session.Finalizers = []string{"orca.test/kept"}
	stop := serve(t, orcatesting.Settings(t, ""))
	if err := u.Create(t.Context(), session); err != nil {
		t.Fatal(err)
	}
	stop()
	serve(t, orcatesting.Settings(t, "limits: {files: 1}\n"))
	refused(t, u.Create(t.Context(), newSession(session.Namespace, "another", files(2, "/data/%d")...)))
	useUntilGone(t, u, session)
}

// useUntilGone does with a session all that can be done with one that exists.
func useUntilGone(t *testing.T, u *user, session *orcav1alpha1.OrcaSession) {
	t.Helper()
	edits := []func(*orcav1alpha1.OrcaSession){
		func(s *orcav1alpha1.OrcaSession) { s.Labels = map[string]string{"touched": "yes"} },
		func(s *orcav1alpha1.OrcaSession) { s.Spec.DesiredState = orcav1alpha1.DesiredStateEnded },
		func(s *orcav1alpha1.OrcaSession) { s.Spec.TTLSecondsAfterEnded = new(int32(60)) },
	}
	for _, edit := range edits {
		edit(session)
		if err := u.Update(t.Context(), session); err != nil {
			t.Fatal(err)
		}
	}
	session.Status.State = orcav1alpha1.SessionStateEnded
	if err := u.Status().Update(t.Context(), session); err != nil {
		t.Fatal(err)
	}
	if err := u.Delete(t.Context(), session); err != nil {
		t.Fatal(err)
	}
	before := session.DeepCopy()
	session.Finalizers = nil
	if err := u.Patch(t.Context(), session, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	if err := u.Get(t.Context(), client.ObjectKeyFromObject(session), session); !apierrors.IsNotFound(err) {
		t.Fatalf("reading the deleted session: %v, want that it is gone", err)
	}
}

// F37: while nobody answers, nothing is made; all else goes on.
func TestOnlyMakingAndChangingNeedAnAnswer(t *testing.T) {
	u := newUser(t)
	namespace := u.newNamespace(t)
	session := newSession(namespace, "report")
	session.Finalizers = []string{"orca.test/kept"}
	bare := newEnvironment(namespace, "bare", orcav1alpha1.OrcaEnvironmentSpec{})
	full := newEnvironment(namespace, "full", orcav1alpha1.OrcaEnvironmentSpec{
		Config: orcav1alpha1.EnvironmentConfig{Networking: orcav1alpha1.EnvironmentNetworking{Type: orcav1alpha1.NetworkingLimited}},
	})
	full.Finalizers = []string{"orca.test/kept"}
	stop := serve(t, orcatesting.Settings(t, ""))
	for _, object := range []client.Object{session, bare, full} {
		if err := u.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	stop()

	for _, object := range []client.Object{newSession(namespace, "new"), newEnvironment(namespace, "new", orcav1alpha1.OrcaEnvironmentSpec{})} {
		if err := u.Create(t.Context(), object); !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), "failed calling webhook") {
			t.Errorf("making a %T without an answer: %v, want a refusal", object, err)
		}
	}
	changed := full.DeepCopy()
	changed.Spec.Image = "python:3"
	if err := u.Update(t.Context(), changed); !apierrors.IsInternalError(err) {
		t.Errorf("changing an environment without an answer: %v, want a refusal", err)
	}
	useUntilGone(t, u, session)
	for _, environment := range []*orcav1alpha1.OrcaEnvironment{bare, full} {
		environment.Labels = map[string]string{"touched": "yes"}
		if err := u.Update(t.Context(), environment); err != nil {
			t.Errorf("labelling environment %s: %v", environment.Name, err)
		}
		environment.Status.ObservedGeneration = environment.Generation
		if err := u.Status().Update(t.Context(), environment); err != nil {
			t.Errorf("writing the status of environment %s: %v", environment.Name, err)
		}
	}
	if err := u.DeleteAllOf(t.Context(), &orcav1alpha1.OrcaEnvironment{}, client.InNamespace(namespace)); err != nil {
		t.Error(err)
	}
	if err := u.Get(t.Context(), client.ObjectKeyFromObject(full), full); err != nil {
		t.Fatal(err)
	}
	full.Finalizers, full.Spec.Image = nil, "python:3"
	if err := u.Update(t.Context(), full); err != nil {
		t.Errorf("letting a deleted environment go: %v", err)
	}
	if err := u.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		t.Error(err)
	}
}
