// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	orcatesting "github.com/orca-agent-engine/orca-operator/controllers/internal/testing"
)

// conditionsOf returns an environment's conditions, each as "type status reason",
// by type.
func conditionsOf(environment *orcav1alpha1.OrcaEnvironment) []string {
	var out []string
	for _, c := range environment.Status.Conditions {
		out = append(out, fmt.Sprintf("%s %s %s", c.Type, c.Status, c.Reason))
	}
	slices.Sort(out)
	return out
}

// F40, F41: the conditions follow the spec, are about its generation, and
// nothing is written once they do.
func TestTheConditionsOfAnEnvironmentFollowItsSpec(t *testing.T) {
	cases := map[string]struct {
		settings string
		// withImage and withPackages are the conditions while there is one of
		// these, and networking.
		withImage, withPackages []string
	}{
		"in Colocated mode": {
			withImage:    []string{"NetworkingEnforced False NotEnforced", "Ready False ImageRejected", "Stalled True ImageRejected"},
			withPackages: []string{"NetworkingEnforced False NotEnforced", "Ready False PackagesUnsupported", "Stalled True PackagesUnsupported"},
		},
		"in Separate mode": {
			settings:     "mode: Separate\n",
			withImage:    []string{"ImageIgnored True SeparateMode", "NetworkingEnforced False NotEnforced", "Ready True Available"},
			withPackages: []string{"NetworkingEnforced False NotEnforced", "Ready False PackagesUnsupported", "Stalled True PackagesUnsupported"},
		},
		"where packages are stored": {
			settings:     "packages: Store\n",
			withImage:    []string{"NetworkingEnforced False NotEnforced", "Ready False ImageRejected", "Stalled True ImageRejected"},
			withPackages: []string{"NetworkingEnforced False NotEnforced", "Ready False PackagesUnsupported", "Stalled True PackagesUnsupported"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			namespace := newNamespace(t)
			environment := newEnvironment(namespace, "env")
			create(t, environment)
			if got := orcatesting.Verdict(t, environment); got != status.InProgressStatus {
				t.Errorf("kstatus reads %s before anybody looked, want InProgress", got)
			}
			m := startWith(t, namespace, tc.settings, nil)
			writes := 0
			step := func(want []string, edit func(*orcav1alpha1.OrcaEnvironment)) {
				t.Helper()
				if got := m.writes.seen(0); len(got) != writes {
					t.Errorf("writes %v, want %d", got, writes)
				}
				change(t, environment, edit)
				awaitObserved(t, environment)
				if diff := cmp.Diff(want, conditionsOf(environment)); diff != "" {
					t.Errorf("conditions (-want +got):\n%s", diff)
				}
				writes++
			}
			step([]string{"Ready True Available"}, func(*orcav1alpha1.OrcaEnvironment) {})
			step(tc.withImage, func(e *orcav1alpha1.OrcaEnvironment) {
				e.Spec.Image = "python:3"
				e.Spec.Config.Networking.Type = orcav1alpha1.NetworkingLimited
			})
			step(tc.withPackages, func(e *orcav1alpha1.OrcaEnvironment) {
				e.Spec.Image = ""
				e.Spec.Config.Packages = []string{"numpy"}
			})
			step([]string{"Ready True Available"}, func(e *orcav1alpha1.OrcaEnvironment) { e.Spec = orcav1alpha1.OrcaEnvironmentSpec{} })
		})
	}
}

func TestAChangeOfAnEnvironmentWakesItsSessionsOnly(t *testing.T) {
	namespace := newNamespace(t)
	one, other := newEnvironment(namespace, "one"), newEnvironment(namespace, "other")
	create(t, one, other)
	var sessions []*orcav1alpha1.OrcaSession
	for i := range 6 {
		sessions = append(sessions, newSession(namespace, fmt.Sprintf("report-%d", i), []string{"one", "other"}[i%2]))
		create(t, sessions[i])
	}
	start(t, namespace, nil)
	for _, session := range sessions {
		awaitState(t, session, "Starting", orcav1alpha1.ReasonStarting)
	}
	awaitObserved(t, one)
	settled := quiet(t, "session")
	change(t, one, func(e *orcav1alpha1.OrcaEnvironment) { metav1.SetMetaDataLabel(&e.ObjectMeta, "touched", "yes") })
	change(t, one, func(e *orcav1alpha1.OrcaEnvironment) { e.Spec.Config.Networking.Type = orcav1alpha1.NetworkingLimited })
	awaitObserved(t, one)
	await(t, "the sessions to be looked at", func() bool { return reconciles(t, "session") >= settled+3 })
	if got := quiet(t, "session") - settled; got != 3 {
		t.Errorf("%v sessions were looked at, want the 3 on the environment", got)
	}
}

// The contract: a session on an environment with packages never starts, in
// every mode and whatever admission does; it is idle, and starts when they are
// gone. One that runs already goes on.
func TestPackagesKeepSessionsFromStarting(t *testing.T) {
	for name, settings := range map[string]string{
		"refused, Colocated": "", "stored, Colocated": "packages: Store\n",
		"refused, Separate": "mode: Separate\n", "stored, Separate": "mode: Separate\npackages: Store\n",
	} {
		t.Run(name, func(t *testing.T) {
			namespace := newNamespace(t)
			environment, running := newEnvironment(namespace, "env"), newSession(namespace, "running", "env")
			create(t, environment, running)
			startWith(t, namespace, settings, nil)
			awaitState(t, running, "Starting", orcav1alpha1.ReasonStarting)
			pod := podOf(t, running)
			runAgent(t, pod)
			awaitState(t, running, "Running", orcav1alpha1.ReasonRunning)

			change(t, environment, func(e *orcav1alpha1.OrcaEnvironment) { e.Spec.Config.Packages = []string{""} })
			awaitObserved(t, environment)
			var waiting []*orcav1alpha1.OrcaSession
			for i := range 3 {
				session := newSession(namespace, fmt.Sprintf("waiting-%d", i), "env")
				// What would have to be there is not looked for.
				session.Spec.Resources = []orcav1alpha1.SessionResource{newFile("a", "absent")}
				create(t, session)
				waiting = append(waiting, session)
				awaitState(t, session, "Idle", orcav1alpha1.ReasonPackagesUnsupported)
				if got := session.Status.Error; got.Type != orcav1alpha1.ErrorSetupFailed || got.Reason != orcav1alpha1.ReasonPackagesUnsupported {
					t.Errorf("session.error is %+v", got)
				}
			}
			if got := pods(t, namespace); len(got) != 1 {
				t.Fatalf("there are %d pods, want the running session's alone", len(got))
			}
			if get(t, running); running.Status.State != orcav1alpha1.SessionStateRunning || podOf(t, running).UID != pod.UID {
				t.Errorf("the running session was disturbed: %+v", running.Status)
			}

			change(t, environment, func(e *orcav1alpha1.OrcaEnvironment) { e.Spec.Config.Packages = nil })
			create(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "absent"}})
			for _, session := range waiting {
				awaitState(t, session, "Starting", orcav1alpha1.ReasonStarting)
			}
		})
	}
}

func TestAnImageKeepsSessionsFromStartingInColocatedMode(t *testing.T) {
	namespace := newNamespace(t)
	environment, session := newEnvironment(namespace, "env"), newSession(namespace, "report", "env")
	environment.Spec.Image = "registry.test/theirs:v1"
	create(t, environment, session)
	start(t, namespace, nil)
	awaitState(t, session, "Idle", orcav1alpha1.ReasonImageRejected)
	if got := pods(t, namespace); len(got) > 0 {
		t.Fatalf("pods %v were made", got)
	}
	change(t, environment, func(e *orcav1alpha1.OrcaEnvironment) { e.Spec.Image = "" })
	awaitState(t, session, "Starting", orcav1alpha1.ReasonStarting)
}

// In Separate mode the sandbox is ready for calls once its check has passed, in
// the operator's image whatever the environment names, and ends as asked.
func TestASandboxInSeparateMode(t *testing.T) {
	namespace := newNamespace(t)
	environment, session := newEnvironment(namespace, "env"), newSession(namespace, "report", "env")
	environment.Spec.Image = "registry.test/theirs:v1"
	create(t, environment, session)
	startWith(t, namespace, "mode: Separate\n", nil)
	awaitState(t, session, "Starting", orcav1alpha1.ReasonStarting)
	awaitObserved(t, environment)
	if !meta.IsStatusConditionTrue(environment.Status.Conditions, orcav1alpha1.ConditionImageIgnored) {
		t.Errorf("the environment doesn't say that its image is ignored: %v", conditionsOf(environment))
	}
	pod := podOf(t, session)
	if container := pod.Spec.Containers[0]; container.Name != "sandbox" || container.Image != "registry.test/agent:v1" {
		t.Errorf("containers[0] is %q of %q", container.Name, container.Image)
	}
	if document := pod.Annotations["orca.dev/sandbox"]; document == "" || strings.Contains(document, "command") {
		t.Errorf("the sandbox is told %q", document)
	}
	schedule(t, pod)
	runAgent(t, pod)
	awaitState(t, session, "Running", orcav1alpha1.ReasonRunning)
	if !meta.IsStatusConditionTrue(session.Status.Conditions, orcav1alpha1.ConditionWritePolicyEstablished) {
		t.Error("it runs without a verified write policy")
	}

	change(t, session, func(s *orcav1alpha1.OrcaSession) { s.Spec.DesiredState = orcav1alpha1.DesiredStateIdle })
	awaitState(t, session, "Ending", orcav1alpha1.ReasonEnding)
	remove(t, pod)
	awaitState(t, session, "Idle", orcav1alpha1.ReasonIdle)
	change(t, session, func(s *orcav1alpha1.OrcaSession) { s.Spec.DesiredState = orcav1alpha1.DesiredStateRunning })
	awaitState(t, session, "Starting", orcav1alpha1.ReasonStarting)
	pod = podOf(t, session)
	schedule(t, pod)
	runAgent(t, pod)
	awaitState(t, session, "Running", orcav1alpha1.ReasonRunning)
	change(t, session, func(s *orcav1alpha1.OrcaSession) { s.Spec.DesiredState = orcav1alpha1.DesiredStateEnded })
	awaitState(t, session, "Ending", orcav1alpha1.ReasonEnding)
	remove(t, pod)
	awaitState(t, session, "Ended", orcav1alpha1.ReasonEnded)
	if session.Status.ExitCode != nil || session.Status.Attempt != 2 {
		t.Errorf("exit code %v after attempt %d, want none after 2", session.Status.ExitCode, session.Status.Attempt)
	}
}
