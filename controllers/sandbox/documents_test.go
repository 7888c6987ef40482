// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
	"github.com/orca-agent-engine/orca-operator/controllers/sandbox"
	"github.com/orca-agent-engine/orca-operator/controllers/settings"
)

// decode reads the document in an annotation as the container does: by the
// digest in its command.
func decode[D manifest.Setup | manifest.Sandbox](t *testing.T, pod *corev1.Pod, annotation string, container corev1.Container) D {
	t.Helper()
	const flag = "--manifest-digest="
	i := slices.IndexFunc(container.Command, func(word string) bool { return strings.HasPrefix(word, flag) })
	if i < 0 {
		t.Fatalf("container %s is told no digest: %q", container.Name, container.Command)
	}
	document, err := manifest.Decode[D]([]byte(pod.Annotations[annotation]), container.Command[i][len(flag):])
	if err != nil {
		t.Fatalf("container %s: %v", container.Name, err)
	}
	return document
}

func TestTheLauncherIsToldWhatTheSessionSays(t *testing.T) {
	eachGenerated(t, func(t *testing.T, _ *rand.Rand, in sandbox.Input) {
		pod := build(t, in)
		got := decode[manifest.Sandbox](t, pod, sandboxAnnotation, pod.Spec.Containers[0])
		want := manifest.Sandbox{
			WritableRoots:      wantWritable(t, in),
			Command:            in.Session.Spec.Command,
			Args:               in.Session.Spec.Args,
			LifetimeSeconds:    int64((in.Lifetime + time.Second - 1) / time.Second),
			GracePeriodSeconds: 30,
		}
		if in.Settings.Mode == settings.ModeSeparate {
			want.Command, want.Args = nil, nil
		}
		for _, v := range in.Session.Spec.Env {
			want.Env = append(want.Env, manifest.EnvVar{Name: v.Name, Value: *v.Value})
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("document (-want +got):\n%s", diff)
		}
	})
}

func TestNothingThatAUserWroteStandsWhereTheKubeletExpandsIt(t *testing.T) {
	s := session()
	s.Spec.Command, s.Spec.Args = []string{"$(HOME)-command"}, []string{"$(HOME)-args"}
	s.Spec.Env = []orcav1alpha1.EnvVar{{Name: "VALUE", Value: new("$(HOME)-value")}}
	pod := build(t, input(s, effective(t, "")))
	for _, container := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		for _, word := range slices.Concat(container.Command, container.Args) {
			if strings.Contains(word, "$(HOME)") {
				t.Errorf("container %s has %q in its command", container.Name, word)
			}
		}
		for _, v := range container.Env {
			if strings.Contains(v.Value, "$(HOME)") {
				t.Errorf("container %s has %s=%q", container.Name, v.Name, v.Value)
			}
		}
	}
}

func TestTheAgentsCommand(t *testing.T) {
	cases := map[string]struct {
		settings                string
		command, args           []string
		wantCommand, wantedArgs []string
	}{
		"the session's":                         {"  command: [deployment, -d]", []string{"own"}, []string{"x"}, []string{"own"}, []string{"x"}},
		"the session's, without args":           {"  command: [deployment, -d]", []string{"own"}, nil, []string{"own"}, nil},
		"the deployment's":                      {"  command: [deployment, -d]", nil, nil, []string{"deployment", "-d"}, nil},
		"the deployment's, with session's args": {"  command: [deployment, -d]", nil, []string{"x"}, []string{"deployment", "-d"}, []string{"x"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := session()
			s.Spec.Command, s.Spec.Args = tc.command, tc.args
			pod := build(t, input(s, effective(t, tc.settings)))
			got := decode[manifest.Sandbox](t, pod, sandboxAnnotation, pod.Spec.Containers[0])
			if diff := cmp.Diff(tc.wantCommand, got.Command); diff != "" {
				t.Errorf("command (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.wantedArgs, got.Args); diff != "" {
				t.Errorf("args (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAPathThatThePolicyRefusesBuildsNoPod(t *testing.T) {
	in := input(session(file("passwd", "/etc/passwd")), effective(t, ""))
	_, err := sandbox.Build(in)
	if err == nil || !strings.Contains(err.Error(), `"passwd"`) {
		t.Errorf("error = %v, want one about file \"passwd\"", err)
	}
	if _, err := sandbox.Resources(in.Session); err == nil {
		t.Error("its resources are listed all the same")
	}
}

func TestResources(t *testing.T) {
	got, err := sandbox.Resources(session(file("b", "/data/b"), file("a", "")))
	if err != nil {
		t.Fatal(err)
	}
	want := []orcav1alpha1.ResourceStatus{
		{Name: "a", MountPath: "/mnt/session/uploads/file_a/a.csv", Access: orcav1alpha1.AccessReadOnly},
		{Name: "b", MountPath: "/data/b", Access: orcav1alpha1.AccessReadOnly},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}
}

func TestConfigMaps(t *testing.T) {
	more := file("c", "")
	more.File.Source.ConfigMapKeyRef.Name = "another"
	artifact := orcav1alpha1.SessionResource{Name: "d", File: orcav1alpha1.FileResource{
		FileID: "file_d", Source: orcav1alpha1.FileSource{Artifact: &orcav1alpha1.ArtifactSource{}},
	}}
	got := sandbox.ConfigMaps(session(file("a", ""), more, file("b", ""), artifact))
	if diff := cmp.Diff([]string{"another", "inputs"}, got); diff != "" {
		t.Errorf("ConfigMaps (-want +got):\n%s", diff)
	}
}
