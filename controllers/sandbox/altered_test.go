// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/orca-agent-engine/orca-operator/controllers/sandbox"
)

func TestWhatAWebhookMayChangeInASandbox(t *testing.T) {
	probe := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}}}
	agent := func(change func(*corev1.Container)) func(*corev1.PodSpec) {
		return func(spec *corev1.PodSpec) { change(&spec.Containers[0]) }
	}
	mount := func(path string, change func(*corev1.VolumeMount)) func(*corev1.PodSpec) {
		return agent(func(c *corev1.Container) {
			for i := range c.VolumeMounts {
				if c.VolumeMounts[i].MountPath == path {
					change(&c.VolumeMounts[i])
				}
			}
		})
	}
	sidecar := func(mounts ...corev1.VolumeMount) func(*corev1.PodSpec) {
		return func(spec *corev1.PodSpec) {
			spec.Containers = append(spec.Containers, corev1.Container{Name: "proxy", Command: []string{"proxy"}, VolumeMounts: mounts})
		}
	}
	for name, tc := range map[string]struct {
		change func(*corev1.PodSpec)
		want   string
	}{
		"nothing": {func(*corev1.PodSpec) {}, ""},
		"what the API server defaults": {func(spec *corev1.PodSpec) {
			spec.DNSPolicy = corev1.DNSClusterFirst
			spec.Containers[0].TerminationMessagePath = corev1.TerminationMessagePathDefault
			spec.Containers[0].StartupProbe.SuccessThreshold = 1
			for i := range spec.Volumes {
				if projected := spec.Volumes[i].Projected; projected != nil {
					projected.DefaultMode = new(corev1.ProjectedVolumeSourceDefaultMode)
				}
			}
		}, ""},
		"the image, as mirrors do": {agent(func(c *corev1.Container) { c.Image = "mirror.test/" + c.Image }), ""},
		"resources, as autoscalers do": {agent(func(c *corev1.Container) {
			c.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
		}), ""},
		"a variable":        {agent(func(c *corev1.Container) { c.Env = append(c.Env, corev1.EnvVar{Name: "A"}) }), ""},
		"another container": {sidecar(), ""},
		"one more mount": {agent(func(c *corev1.Container) {
			c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{MountPath: "/x", Name: "x"})
		}), ""},
		"the node":              {func(spec *corev1.PodSpec) { spec.NodeName = "a" }, ""},
		"the command":           {agent(func(c *corev1.Container) { c.Command = []string{"sh"} }), "spec.containers[0].command"},
		"arguments":             {agent(func(c *corev1.Container) { c.Args = []string{"-c"} }), "spec.containers[0].args"},
		"the working directory": {agent(func(c *corev1.Container) { c.WorkingDir = "/" }), "spec.containers[0].workingDir"},
		"no startup probe":      {agent(func(c *corev1.Container) { c.StartupProbe = nil }), "spec.containers[0].startupProbe"},
		"another startup probe": {agent(func(c *corev1.Container) { c.StartupProbe = probe }), "spec.containers[0].startupProbe"},
		"a readiness probe":     {agent(func(c *corev1.Container) { c.ReadinessProbe = probe }), "spec.containers[0].readinessProbe"},
		"a liveness probe":      {agent(func(c *corev1.Container) { c.LivenessProbe = probe }), "spec.containers[0].livenessProbe"},
		"a hook":                {agent(func(c *corev1.Container) { c.Lifecycle = &corev1.Lifecycle{} }), "spec.containers[0].lifecycle"},
		"no security context":   {agent(func(c *corev1.Container) { c.SecurityContext = nil }), "spec.containers[0].securityContext"},
		"privileges":            {agent(func(c *corev1.Container) { c.SecurityContext.Privileged = new(true) }), "spec.containers[0].securityContext"},
		"a capability":          {agent(func(c *corev1.Container) { c.SecurityContext.Capabilities.Add = []corev1.Capability{"SYS_ADMIN"} }), "spec.containers[0].securityContext"},
		"a writable image":      {agent(func(c *corev1.Container) { c.SecurityContext.ReadOnlyRootFilesystem = new(false) }), "spec.containers[0].securityContext"},
		"the container's user":  {agent(func(c *corev1.Container) { c.SecurityContext.RunAsUser = new(int64(0)) }), "spec.containers[0].securityContext"},
		"all of /proc":          {agent(func(c *corev1.Container) { c.SecurityContext.ProcMount = new(corev1.UnmaskedProcMount) }), "spec.containers[0].securityContext"},
		"setup's command":       {func(spec *corev1.PodSpec) { spec.InitContainers[0].Command[1] = "run" }, "spec.initContainers[0].command"},
		"a container before setup": {func(spec *corev1.PodSpec) {
			spec.InitContainers = append([]corev1.Container{{Name: "proxy"}}, spec.InitContainers...)
		}, ""},
		"no setup":                      {func(spec *corev1.PodSpec) { spec.InitContainers = nil }, "spec.initContainers[setup]"},
		"the workspace, from elsewhere": {mount("/workspace", func(m *corev1.VolumeMount) { m.Name = "x" }), "spec.containers[0].volumeMounts"},
		"the workspace, writable":       {mount("/workspace", func(m *corev1.VolumeMount) { m.ReadOnly = false }), "spec.containers[0].volumeMounts"},
		"another part of the outputs":   {mount("/mnt/session/outputs", func(m *corev1.VolumeMount) { m.SubPath = "x" }), "spec.containers[0].volumeMounts"},
		"no workspace":                  {mount("/workspace", func(m *corev1.VolumeMount) { m.MountPath = "/w" }), "spec.containers[0].volumeMounts[/workspace]"},
		"a volume": {func(spec *corev1.PodSpec) {
			spec.Volumes[0].VolumeSource = corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}
		}, "spec.volumes[0]"},
		"no volume":                     {func(spec *corev1.PodSpec) { spec.Volumes = spec.Volumes[1:] }, "spec.volumes[orca-bin]"},
		"a container that restarts":     {func(spec *corev1.PodSpec) { spec.RestartPolicy = corev1.RestartPolicyAlways }, "spec.restartPolicy"},
		"processes of the node":         {func(spec *corev1.PodSpec) { spec.HostPID = true }, "spec.hostPID"},
		"the node's queues":             {func(spec *corev1.PodSpec) { spec.HostIPC = true }, "spec.hostIPC"},
		"processes of other containers": {func(spec *corev1.PodSpec) { spec.ShareProcessNamespace = new(true) }, "spec.shareProcessNamespace"},
		"the pod's user":                {func(spec *corev1.PodSpec) { spec.SecurityContext.RunAsUser = new(int64(0)) }, "spec.securityContext"},
		"a container that has the outputs": {
			sidecar(corev1.VolumeMount{Name: "outputs", MountPath: "/outputs"}), "spec.containers[1].volumeMounts",
		},
	} {
		t.Run(name, func(t *testing.T) {
			built := build(t, input(session(oneOfEach()...), effective(t, "")))
			made := built.DeepCopy()
			tc.change(&made.Spec)
			got := sandbox.Altered(built, made)
			if tc.want == "" && got != "" || !strings.HasPrefix(got, tc.want) {
				t.Errorf("altered is %q, want %q", got, tc.want)
			}
		})
	}
}
