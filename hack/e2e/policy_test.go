// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
)

const (
	imageWithVolume = "ghcr.io/orca-agent-engine/orca-sandbox-with-volume:test"
	imageWithLink   = "ghcr.io/orca-agent-engine/orca-sandbox-with-link:test"

	// marked is a mutation that tells a pod that was mutated from one that
	// wasn't.
	marked = `JSONPatch{op: "add", path: "/metadata/annotations/mutated", value: "yes"}`
)

// What others do to a pod on its way, as JSON patches in CEL.
const (
	addsVolume = `JSONPatch{op: "add", path: "/spec/volumes/-",
		value: Object.spec.volumes{name: "extra", emptyDir: Object.spec.volumes.emptyDir{}}}`
	mountsIt   = `JSONPatch{op: "add", path: "/spec/containers/0/volumeMounts/-", value: Object.spec.containers.volumeMounts{name: "extra", mountPath: "/cache"}}`
	mountsTmp  = `JSONPatch{op: "add", path: "/spec/containers/0/volumeMounts/-", value: Object.spec.containers.volumeMounts{name: "tmp", mountPath: "/scratch"}}`
	editsTold  = `JSONPatch{op: "add", path: "/metadata/annotations/orca.dev~1sandbox", value: '{"writableRoots":["/"],"command":["echo","the agent ran"],"lifetimeSeconds":60,"gracePeriodSeconds":1}'}`
	skipsSetup = `JSONPatch{op: "replace", path: "/spec/initContainers/0/command", value: ["/bin/true"]}`
	opensRoot  = `JSONPatch{op: "replace", path: "/spec/containers/0/securityContext/readOnlyRootFilesystem", value: false}`
	usesVolume = `JSONPatch{op: "replace", path: "/spec/containers/0/image", value: "` + imageWithVolume + `"}`
	noProbe    = `JSONPatch{op: "remove", path: "/spec/containers/0/startupProbe"}`
	ownCommand = `JSONPatch{op: "replace", path: "/spec/containers/0/command", value: ["bash", "-c", "echo the agent ran"]}`
	addsHook   = `JSONPatch{op: "add", path: "/spec/containers/0/lifecycle", value: Object.spec.containers.lifecycle{
		postStart: Object.spec.containers.lifecycle.postStart{exec: Object.spec.containers.lifecycle.postStart.exec{command: ["touch", "/tmp/x"]}}}}`
	usesLink = `JSONPatch{op: "replace", path: "/spec/containers/0/image", value: "` + imageWithLink + `"}`
)

// mutate has the API server change every sandbox of a namespace, and waits until
// it does.
func mutate(t *testing.T, namespace string, patches ...string) {
	t.Helper()
	name := "mutate." + namespace
	policy := &admissionregistrationv1.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionregistrationv1.MutatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}},
				ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
					Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
				}}},
			},
			FailurePolicy:      new(admissionregistrationv1.Fail),
			ReinvocationPolicy: admissionregistrationv1.NeverReinvocationPolicy,
			Mutations: []admissionregistrationv1.Mutation{{
				PatchType: admissionregistrationv1.PatchTypeJSONPatch,
				JSONPatch: &admissionregistrationv1.JSONPatch{Expression: "[" + strings.Join(append(patches, marked), ", ") + "]"},
			}},
		},
	}
	create(t, policy)
	create(t, &admissionregistrationv1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       admissionregistrationv1.MutatingAdmissionPolicyBindingSpec{PolicyName: name},
	})
	awaitMutation(t, namespace)
}

// awaitMutation tries a pod that has whatever a patch may want to change.
func awaitMutation(t *testing.T, namespace string) {
	t.Helper()
	security := &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true), RunAsNonRoot: new(true),
		Capabilities:   &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	container := corev1.Container{
		Name: "sandbox", Image: "none.test/none:1", Command: []string{"none"}, SecurityContext: security,
		StartupProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"none"}}}},
		VolumeMounts: []corev1.VolumeMount{{Name: "tmp", MountPath: "/tmp"}},
	}
	setup := container
	setup.Name, setup.StartupProbe = "setup", nil
	err := wait.PollUntilContextTimeout(t.Context(), 200*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "probe", Annotations: map[string]string{"probe": ""}},
			Spec: corev1.PodSpec{
				InitContainers: []corev1.Container{setup}, Containers: []corev1.Container{container},
				Volumes: []corev1.Volume{{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
			},
		}
		err := cluster.Create(ctx, pod, client.DryRunAll)
		return pod.Annotations["mutated"] == "yes", err
	})
	if err != nil {
		t.Fatalf("waiting for the mutation: %v", err)
	}
}

// sightings are what a watcher saw of a session.
type sightings struct {
	mu    sync.Mutex
	ready []string
}

// watch notes every status in which a session of a namespace is seen running or
// ready.
func watch(t *testing.T, namespace string) *sightings {
	t.Helper()
	watcher, err := watching.Watch(t.Context(), &orcav1alpha1.OrcaSessionList{}, client.InNamespace(namespace))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(watcher.Stop)
	seen := &sightings{}
	go func() {
		for event := range watcher.ResultChan() {
			if s, ok := event.Object.(*orcav1alpha1.OrcaSession); ok {
				seen.note(s)
			}
		}
	}()
	return seen
}

func (seen *sightings) note(s *orcav1alpha1.OrcaSession) {
	ready := condition(s, orcav1alpha1.ConditionReady)
	if s.Status.State == orcav1alpha1.SessionStateRunning || ready.Status == metav1.ConditionTrue {
		seen.mu.Lock()
		defer seen.mu.Unlock()
		seen.ready = append(seen.ready, string(s.Status.State)+" "+ready.Reason)
	}
}

func (seen *sightings) list() []string {
	seen.mu.Lock()
	defer seen.mu.Unlock()
	return seen.ready
}

func TestNoAgentRunsWhereTheWritePolicyDoesNotHold(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		patches []string
		want    string
	}{
		"a webhook adds a writable volume":           {[]string{addsVolume, mountsIt}, `"/cache"`},
		"a webhook mounts a writable root once more": {[]string{mountsTmp}, `"/scratch"`},
		"a webhook makes the image writable":         {[]string{opensRoot}, "spec.containers[0].securityContext"},
		"a webhook has the check not waited for":     {[]string{noProbe}, "spec.containers[0].startupProbe"},
		"a webhook starts something else":            {[]string{ownCommand}, "spec.containers[0].command"},
		"a webhook executes something before":        {[]string{addsHook}, "spec.containers[0].lifecycle"},
		"a webhook edits what the launcher is told":  {[]string{editsTold}, `"/orca/manifest/sandbox.json"`},
		"the image declares a volume":                {[]string{usesVolume}, `"/cache"`},
		"in the image /workspace is a link":          {[]string{usesLink}, `"/workspace`},
		"setup is skipped, so there is no launcher":  {[]string{skipsSetup}, "spec.initContainers[0].command"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := newNamespace(t)
			mutate(t, namespace, tc.patches...)
			seen := watch(t, namespace)
			create(t, environment(namespace, "env"))
			s := session(namespace, "echo the agent ran")
			create(t, s)
			awaitReason(t, s, orcav1alpha1.ReasonWritePolicyUnverified)

			if s.Status.State != orcav1alpha1.SessionStateIdle || s.Status.Error.Type != orcav1alpha1.ErrorSetupFailed {
				t.Errorf("state %s with error %q, want Idle with setup_failed", s.Status.State, s.Status.Error.Type)
			}
			if !strings.Contains(s.Status.Error.Message, tc.want) {
				t.Errorf("message %q does not name %s", s.Status.Error.Message, tc.want)
			}
			if c := condition(s, orcav1alpha1.ConditionWritePolicyEstablished); c.Status != metav1.ConditionFalse {
				t.Errorf("WritePolicyEstablished is %s %s", c.Status, c.Reason)
			}
			if out, err := kubectl(t, "logs", "--namespace", namespace, s.Status.PodName, "--container", "sandbox"); err == nil && strings.Contains(out, "the agent ran") {
				t.Error("the agent ran")
			}
			if ready := seen.list(); len(ready) > 0 {
				t.Errorf("the session was seen %q", ready)
			}
		})
	}
}
