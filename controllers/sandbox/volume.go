// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/orca-agent-engine/orca-operator/controllers/layout"
)

// The volumes of a sandbox.
const (
	volumeBin             = "orca-bin"
	volumeSealed          = "sealed"
	volumeInputs          = "inputs"
	volumeSetupManifest   = "setup-manifest"
	volumeSetupWork       = "setup-work"
	volumeSandboxManifest = "sandbox-manifest"
	volumeOutputs         = "outputs"
	volumeTmp             = "tmp"
	volumeSharedMemory    = "shared-memory"
)

// Where the operator's own things appear in both containers. No resource may
// be mounted there.
const (
	binDir       = "/orca/bin"
	manifestDir  = "/orca/manifest"
	inputsDir    = "/orca/inputs"
	sealedDir    = "/orca/sealed"
	workDir      = "/orca/work"
	setupFile    = "setup.json"
	sandboxFile  = "sandbox.json"
	launcherPath = binDir + "/orca-sandbox"
)

// setupWorkSize bounds what setup keeps in memory while it clones: copies of
// keys, the configuration of git and of ssh, certificates. No tree is in it.
var setupWorkSize = resource.MustParse("32Mi")

func emptyDir(name string, medium corev1.StorageMedium, limit *resource.Quantity) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
		EmptyDir: &corev1.EmptyDirVolumeSource{Medium: medium, SizeLimit: limit},
	}}
}

// annotationVolume shows one annotation of the pod as a file. A downward API
// file keeps the bytes as they are; the kubelet would expand $(NAME) in an
// argument or a variable.
func annotationVolume(name, annotation, file string) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
		DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: []corev1.DownwardAPIVolumeFile{{
			Path:     file,
			FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.annotations['" + annotation + "']"},
		}}},
	}}
}

func writable(volume, path string) corev1.VolumeMount {
	return corev1.VolumeMount{Name: volume, MountPath: path}
}

func readOnly(volume, path string) corev1.VolumeMount {
	return corev1.VolumeMount{
		Name: volume, MountPath: path, ReadOnly: true,
		RecursiveReadOnly: new(corev1.RecursiveReadOnlyIfPossible),
	}
}

// sealed mounts one path of the sealed tree where it belongs. The agent can't
// write that volume, so it can't swap what subPath points at.
func sealed(path string) corev1.VolumeMount {
	mount := readOnly(volumeSealed, path)
	mount.SubPath = strings.TrimPrefix(path, "/")
	return mount
}

// sealedMounts returns the mounts of the sealed tree: its fixed roots, the
// covers of what the runtime would leave writable, and each resource outside
// them.
func sealedMounts(resources []string, sharedMemory bool) []corev1.VolumeMount {
	paths := append(layout.SealedRoots(), layout.MessageQueues, layout.Hosts)
	if !sharedMemory {
		paths = append(paths, layout.SharedMemory)
	}
	for _, path := range resources {
		if !layout.InSealedRoot(path) {
			paths = append(paths, path)
		}
	}
	mounts := make([]corev1.VolumeMount, 0, len(paths))
	for _, path := range paths {
		mounts = append(mounts, sealed(path))
	}
	return mounts
}
