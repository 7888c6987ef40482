// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/sandbox"
)

// P28: one claim is one volume, however many stores show it, and a store that
// may not be written is read-only as a volume and as a mount.
// F22: nobody gets a part of a claim, whose links whoever wrote it last has
// planted.
func TestEachClaimIsOneVolumeAndMountedWhole(t *testing.T) {
	eachInput(t, func(t *testing.T, _ *rand.Rand, in sandbox.Input) {
		pod := build(t, in)
		claims := map[string]*corev1.PersistentVolumeClaimVolumeSource{}
		names := map[string]string{}
		for _, volume := range pod.Spec.Volumes {
			claim := volume.PersistentVolumeClaim
			if claim == nil {
				continue
			}
			if other, twice := names[claim.ClaimName]; twice {
				t.Errorf("claim %s is volume %s and %s", claim.ClaimName, other, volume.Name)
			}
			names[claim.ClaimName], claims[volume.Name] = volume.Name, claim
		}
		mounted := 0
		for _, container := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
			for _, mount := range container.VolumeMounts {
				claim := claims[mount.Name]
				if claim == nil {
					continue
				}
				mounted++
				if mount.SubPath != "" || mount.SubPathExpr != "" || container.Name != sandbox.AgentContainer {
					t.Errorf("container %s has a mount of claim %s: %+v", container.Name, claim.ClaimName, mount)
				}
				if mount.ReadOnly != claim.ReadOnly {
					t.Errorf("%s is mounted readOnly %v, its volume is readOnly %v", mount.MountPath, mount.ReadOnly, claim.ReadOnly)
				}
			}
		}
		if want := countStores(in.Session); mounted != want {
			t.Errorf("%d mounts of claims, the session has %d stores", mounted, want)
		}
	})
}

func countStores(session *orcav1alpha1.OrcaSession) (count int) {
	for _, resource := range session.Spec.Resources {
		if resource.Kind() == orcav1alpha1.ResourceKindMemoryStore {
			count++
		}
	}
	return count
}

// ofAgent are the volumes that the agent may see, by the beginning of the name.
var ofAgent = []string{"orca-bin", "sealed", "outputs", "tmp", "shared-memory", "sandbox-manifest", "repository-", "memory-"}

func TestOnlySetupSeesWhatItIsMadeFrom(t *testing.T) {
	eachInput(t, func(t *testing.T, _ *rand.Rand, in sandbox.Input) {
		for _, mount := range build(t, in).Spec.Containers[0].VolumeMounts {
			if !slices.ContainsFunc(ofAgent, func(prefix string) bool { return strings.HasPrefix(mount.Name, prefix) }) {
				t.Errorf("the agent sees volume %s at %s", mount.Name, mount.MountPath)
			}
		}
	})
}

// F05: a credential is nowhere but in the mounts of setup, which are for each
// repository its own.
func TestACredentialIsNowhereButInTheMountsOfSetup(t *testing.T) {
	eachInput(t, func(t *testing.T, _ *rand.Rand, in sandbox.Input) {
		pod := build(t, in)
		want := map[string]string{}
		for _, resource := range in.Session.Spec.Resources {
			if secret := resource.GitRepository.Credentials.SecretRef.Name; secret != "" {
				want["/orca/credentials/"+resource.Name] = secret
			}
		}
		if diff := cmp.Diff(want, credentialMounts(t, pod, pod.Spec.InitContainers[0])); diff != "" {
			t.Errorf("credentials in setup (-want +got):\n%s", diff)
		}
		if got := credentialMounts(t, pod, pod.Spec.Containers[0]); len(got) > 0 {
			t.Errorf("credentials in the agent's container: %v", got)
		}
		for _, container := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
			if len(container.EnvFrom) > 0 || slices.ContainsFunc(container.Env, func(v corev1.EnvVar) bool { return v.ValueFrom != nil }) {
				t.Errorf("the environment of %s comes from objects", container.Name)
			}
		}
	})
}

// credentialMounts returns the Secrets that a container sees, by path.
func credentialMounts(t *testing.T, pod *corev1.Pod, container corev1.Container) map[string]string {
	t.Helper()
	secrets := map[string]string{}
	for _, volume := range pod.Spec.Volumes {
		if volume.Secret != nil {
			secrets[volume.Name] = volume.Secret.SecretName
		}
		for _, source := range projections(volume) {
			if source.Secret != nil || source.ServiceAccountToken != nil {
				t.Errorf("volume %s projects a secret", volume.Name)
			}
		}
	}
	out := map[string]string{}
	for _, mount := range container.VolumeMounts {
		if secret, is := secrets[mount.Name]; is {
			out[mount.MountPath] = secret
			if !mount.ReadOnly {
				t.Errorf("%s is writable", mount.MountPath)
			}
		}
	}
	return out
}

func projections(volume corev1.Volume) []corev1.VolumeProjection {
	if volume.Projected == nil {
		return nil
	}
	return volume.Projected.Sources
}
