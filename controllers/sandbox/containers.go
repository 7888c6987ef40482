// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/orca-agent-engine/orca-operator/controllers/layout"
	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
	"github.com/orca-agent-engine/orca-operator/controllers/settings"
)

// setupContainer assembles the sandbox. It alone sees the inputs.
func setupContainer(settings settings.Effective, document []byte, p *plan) corev1.Container {
	return corev1.Container{
		Name:  SetupContainer,
		Image: settings.Sandbox.RuntimeImage,
		Command: []string{
			"/usr/local/bin/orca-sandbox", "setup",
			"--manifest=" + manifestDir + "/" + setupFile,
			"--manifest-digest=" + manifest.Digest(document),
			"--inputs=" + inputsDir,
			"--sealed=" + sealedDir,
			"--bin=" + binDir,
			"--work=" + workDir,
		},
		Resources: settings.Setup.Resources,
		VolumeMounts: append([]corev1.VolumeMount{
			writable(volumeBin, binDir),
			writable(volumeSealed, sealedDir),
			writable(volumeSetupWork, workDir),
			readOnly(volumeSetupManifest, manifestDir),
			readOnly(volumeInputs, inputsDir),
		}, setupMounts(p)...),
		SecurityContext: containerSecurity(),
	}
}

// digestVariable is where orca-sandbox exec finds the digest that the manifest
// must have: a program that is executed in the container is given its
// environment, which nobody in the container can change.
const digestVariable = "ORCA_MANIFEST_DIGEST"

// agentContainer runs the agent under the launcher.
func agentContainer(settings settings.Effective, document []byte, p *plan) corev1.Container {
	return corev1.Container{
		Name:  AgentContainer,
		Image: settings.Sandbox.Image,
		Command: []string{
			launcherPath, "run",
			"--manifest=" + manifestDir + "/" + sandboxFile,
			"--manifest-digest=" + manifest.Digest(document),
		},
		WorkingDir: layout.Workspace,
		// The launcher sets these too. They stand here for a process that is
		// executed in the container without it.
		Env: []corev1.EnvVar{
			{Name: "HOME", Value: layout.Home},
			{Name: "TMPDIR", Value: layout.Tmp},
			{Name: digestVariable, Value: manifest.Digest(document)},
		},
		Resources:       settings.Sandbox.Resources,
		VolumeMounts:    agentMounts(settings, p),
		StartupProbe:    startupProbe(),
		SecurityContext: containerSecurity(),
	}
}

// startupProbe succeeds once the launcher has executed the agent. Until then
// the session isn't seen running. What it allows, five minutes, is only the
// kubelet's bound: the launcher ends by itself much earlier.
func startupProbe() *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler: corev1.ProbeHandler{
			Exec: &corev1.ExecAction{Command: []string{launcherPath, "started"}},
		},
		PeriodSeconds:    1,
		TimeoutSeconds:   5,
		FailureThreshold: 300,
		SuccessThreshold: 1,
	}
}
