// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	corev1 "k8s.io/api/core/v1"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

// What the volumes of resources are called by. A hash follows: names of objects
// may be longer than those of volumes, and cut ones could be equal.
const (
	volumeRepository = "repository-"
	volumeCredential = "credential-"
	volumeMemory     = "memory-"
)

// Where the setup container has the volumes of single resources.
const (
	repositoriesDir = "/orca/repositories"
	credentialsDir  = "/orca/credentials"
)

func hashed(prefix, name string) string {
	sum := sha256.Sum256([]byte(name))
	return prefix + hex.EncodeToString(sum[:10])
}

// resourceVolumes returns the volumes that resources bring along.
func resourceVolumes(p *plan) []corev1.Volume {
	out := []corev1.Volume{inputsVolume(p.files)}
	var secrets []string
	for _, repository := range p.repositories {
		if repository.spec.Access == orcav1alpha1.AccessReadWrite {
			out = append(out, emptyDir(hashed(volumeRepository, repository.name), corev1.StorageMediumDefault, nil))
		}
		if secret := repository.spec.Credentials.SecretRef.Name; secret != "" && !slices.Contains(secrets, secret) {
			secrets = append(secrets, secret)
			out = append(out, credentialVolume(secret))
		}
	}
	return append(out, memoryVolumes(p.stores)...)
}

// inputsVolume projects the source of every file under the name of its
// resource. Sources are optional: where one is missing the pod starts all the
// same and setup names it, while the kubelet would retry without a word.
func inputsVolume(files []placed[orcav1alpha1.FileResource]) corev1.Volume {
	sources := make([]corev1.VolumeProjection, 0, len(files))
	for _, file := range files {
		source := file.spec.Source.ConfigMapKeyRef
		if source.Name == "" {
			continue
		}
		sources = append(sources, corev1.VolumeProjection{ConfigMap: &corev1.ConfigMapProjection{
			LocalObjectReference: corev1.LocalObjectReference{Name: source.Name},
			Items:                []corev1.KeyToPath{{Key: source.Key, Path: file.name}},
			Optional:             new(true),
		}})
	}
	return corev1.Volume{Name: volumeInputs, VolumeSource: corev1.VolumeSource{
		Projected: &corev1.ProjectedVolumeSource{Sources: sources},
	}}
}

func credentialVolume(secret string) corev1.Volume {
	return corev1.Volume{Name: hashed(volumeCredential, secret), VolumeSource: corev1.VolumeSource{
		Secret: &corev1.SecretVolumeSource{SecretName: secret, DefaultMode: new(int32(0o400)), Optional: new(true)},
	}}
}

// memoryVolumes makes one volume of each claim. One that no store may write is
// read-only as a volume too, or the kubelet would change the modes in it.
func memoryVolumes(stores []placed[orcav1alpha1.MemoryStoreResource]) []corev1.Volume {
	var claims []string
	written := map[string]bool{}
	for _, store := range stores {
		claim := store.spec.Source.PersistentVolumeClaim.ClaimName
		if !slices.Contains(claims, claim) {
			claims = append(claims, claim)
		}
		written[claim] = written[claim] || store.spec.Access == orcav1alpha1.AccessReadWrite
	}
	out := make([]corev1.Volume, 0, len(claims))
	for _, claim := range claims {
		out = append(out, corev1.Volume{Name: hashed(volumeMemory, claim), VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim, ReadOnly: !written[claim]},
		}})
	}
	return out
}

// resourceMounts returns the mounts of volumes of their own in the agent's
// container.
func resourceMounts(p *plan) []corev1.VolumeMount {
	var out []corev1.VolumeMount
	for _, repository := range p.repositories {
		if repository.spec.Access == orcav1alpha1.AccessReadWrite {
			mount := writable(hashed(volumeRepository, repository.name), repository.path)
			mount.SubPath = manifest.VolumeTree
			out = append(out, mount)
		}
	}
	for _, store := range p.stores {
		volume := hashed(volumeMemory, store.spec.Source.PersistentVolumeClaim.ClaimName)
		if store.spec.Access == orcav1alpha1.AccessReadWrite {
			out = append(out, writable(volume, store.path))
		} else {
			out = append(out, readOnly(volume, store.path))
		}
	}
	return out
}

// setupMounts returns the mounts of single resources in the setup container.
func setupMounts(p *plan) []corev1.VolumeMount {
	var out []corev1.VolumeMount
	for _, repository := range p.repositories {
		if repository.spec.Access == orcav1alpha1.AccessReadWrite {
			out = append(out, writable(hashed(volumeRepository, repository.name), repositoriesDir+"/"+repository.name))
		}
		if secret := repository.spec.Credentials.SecretRef.Name; secret != "" {
			out = append(out, readOnly(hashed(volumeCredential, secret), credentialsDir+"/"+repository.name))
		}
	}
	return out
}
