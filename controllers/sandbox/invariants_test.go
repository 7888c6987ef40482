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
	"k8s.io/apimachinery/pkg/util/validation"
	psaapi "k8s.io/pod-security-admission/api"
	psapolicy "k8s.io/pod-security-admission/policy"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/layout"
	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
	"github.com/orca-agent-engine/orca-operator/controllers/sandbox"
)

func TestTheAgentCanWriteInWritableRootsOnly(t *testing.T) {
	eachInput(t, func(t *testing.T, _ *rand.Rand, in sandbox.Input) {
		pod := build(t, in)
		var writable []string
		for _, mount := range pod.Spec.Containers[0].VolumeMounts {
			if mount.ReadOnly {
				continue
			}
			writable = append(writable, mount.MountPath)
			if mount.SubPath != "" && !goesWithPod(pod, mount.Name) {
				t.Errorf("writable %s is a part of volume %s, which outlives the pod", mount.MountPath, mount.Name)
			}
		}
		if diff := cmp.Diff(wantWritable(t, in), writable); diff != "" {
			t.Errorf("writable mounts (-want +got):\n%s", diff)
		}
	})
}

// wantWritable returns the fixed writable roots and the directories of the
// session's ReadWrite resources, sorted.
func wantWritable(t *testing.T, in sandbox.Input) []string {
	t.Helper()
	resources, err := sandbox.Resources(in.Session)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, resource := range resources {
		if resource.Access == orcav1alpha1.AccessReadWrite {
			paths = append(paths, resource.MountPath)
		}
	}
	return layout.WritableRoots(!in.Settings.Sandbox.SharedMemory.IsZero(), paths...)
}

// goesWithPod reports whether a volume goes with its pod.
func goesWithPod(pod *corev1.Pod, volume string) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == volume && v.EmptyDir != nil })
}

func TestReadOnlyMountsAreReadOnlyAllTheWayDown(t *testing.T) {
	eachInput(t, func(t *testing.T, _ *rand.Rand, in sandbox.Input) {
		pod := build(t, in)
		for _, mount := range slices.Concat(pod.Spec.InitContainers[0].VolumeMounts, pod.Spec.Containers[0].VolumeMounts) {
			recursive := mount.RecursiveReadOnly != nil && *mount.RecursiveReadOnly == corev1.RecursiveReadOnlyIfPossible
			if mount.ReadOnly != recursive {
				t.Errorf("%s: readOnly %v, recursively %v", mount.MountPath, mount.ReadOnly, recursive)
			}
		}
	})
}

func TestEveryResourceIsWhereItsPathSays(t *testing.T) {
	eachInput(t, func(t *testing.T, _ *rand.Rand, in sandbox.Input) {
		pod := build(t, in)
		resources, err := sandbox.Resources(in.Session)
		if err != nil {
			t.Fatal(err)
		}
		if len(resources) != len(in.Session.Spec.Resources) {
			t.Errorf("%d resources are listed, the session has %d", len(resources), len(in.Session.Spec.Resources))
		}
		for _, resource := range resources {
			mount := innermost(pod.Spec.Containers[0].VolumeMounts, resource.MountPath)
			if sealed := mount.Name == "sealed"; sealed && mount.SubPath != mount.MountPath[1:] || !sealed && mount.MountPath != resource.MountPath {
				t.Errorf("%s at %s is shown by the mount %+v", resource.Name, resource.MountPath, mount)
			}
			if readOnly := resource.Access == orcav1alpha1.AccessReadOnly; mount.ReadOnly != readOnly {
				t.Errorf("%s at %s is %s and mounted readOnly: %v", resource.Name, resource.MountPath, resource.Access, mount.ReadOnly)
			}
		}
	})
}

// innermost returns the mount that shows a path.
func innermost(mounts []corev1.VolumeMount, path string) corev1.VolumeMount {
	var found corev1.VolumeMount
	for _, mount := range mounts {
		if layout.Contains(mount.MountPath, path) && len(mount.MountPath) > len(found.MountPath) {
			found = mount
		}
	}
	return found
}

func TestWhatIsMountedBelowTheSealedTreeHasADirectoryInIt(t *testing.T) {
	eachInput(t, func(t *testing.T, _ *rand.Rand, in sandbox.Input) {
		pod := build(t, in)
		directories := decode[manifest.Setup](t, pod, setupAnnotation, pod.Spec.InitContainers[0]).Directories
		for _, mount := range pod.Spec.Containers[0].VolumeMounts {
			below := layout.InSealedRoot(mount.MountPath) && mount.Name != "sealed"
			if below && !slices.Contains(directories, mount.MountPath) {
				t.Errorf("the sealed tree has no directory for the mount at %s", mount.MountPath)
			}
		}
	})
}

func TestAMissingSourceDoesNotKeepThePodFromStarting(t *testing.T) {
	eachInput(t, func(t *testing.T, _ *rand.Rand, in sandbox.Input) {
		for _, volume := range build(t, in).Spec.Volumes {
			if volume.Secret != nil && (volume.Secret.Optional == nil || !*volume.Secret.Optional) {
				t.Errorf("Secret %s is not optional", volume.Secret.SecretName)
			}
			for _, source := range projections(volume) {
				if source.ConfigMap == nil || source.ConfigMap.Optional == nil || !*source.ConfigMap.Optional {
					t.Errorf("source %+v is not an optional ConfigMap", source)
				}
			}
		}
	})
}

func TestThePodIsOneAttemptWithoutAnyRights(t *testing.T) {
	eachInput(t, func(t *testing.T, _ *rand.Rand, in sandbox.Input) {
		spec := build(t, in).Spec
		if spec.RestartPolicy != corev1.RestartPolicyNever {
			t.Errorf("restartPolicy = %s", spec.RestartPolicy)
		}
		if spec.AutomountServiceAccountToken == nil || *spec.AutomountServiceAccountToken {
			t.Error("the pod gets a token of its service account")
		}
		if spec.EnableServiceLinks == nil || *spec.EnableServiceLinks {
			t.Error("the pod gets the addresses of the namespace's services")
		}
		if len(spec.Containers) != 1 || spec.Containers[0].Name != sandbox.AgentContainer {
			t.Errorf("containers[0] is %q", spec.Containers[0].Name)
		}
		for _, container := range slices.Concat(spec.InitContainers, spec.Containers) {
			if root := container.SecurityContext.ReadOnlyRootFilesystem; root == nil || !*root {
				t.Errorf("the root of container %s is writable", container.Name)
			}
		}
	})
}

func TestThePodKeepsTheRestrictedPodSecurityStandard(t *testing.T) {
	evaluator, err := psapolicy.NewEvaluator(psapolicy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	restricted := psaapi.LevelVersion{Level: psaapi.LevelRestricted, Version: psaapi.LatestVersion()}
	eachInput(t, func(t *testing.T, _ *rand.Rand, in sandbox.Input) {
		pod := build(t, in)
		result := psapolicy.AggregateCheckResults(evaluator.EvaluatePod(restricted, &pod.ObjectMeta, &pod.Spec))
		if !result.Allowed {
			t.Errorf("the restricted standard forbids the pod: %s", result.ForbiddenDetail())
		}
	})
}

func TestNamesAreValidAndUnique(t *testing.T) {
	eachInput(t, func(t *testing.T, _ *rand.Rand, in sandbox.Input) {
		pod := build(t, in)
		requireValid(t, "pod name", pod.Name, validation.IsDNS1123Label(pod.Name))
		for key, value := range pod.Labels {
			requireValid(t, "label", key, validation.IsQualifiedName(key))
			requireValid(t, "label value", value, validation.IsValidLabelValue(value))
		}
		volumes := map[string]bool{}
		for _, volume := range pod.Spec.Volumes {
			requireValid(t, "volume name", volume.Name, validation.IsDNS1123Label(volume.Name))
			if volumes[volume.Name] {
				t.Errorf("two volumes are called %s", volume.Name)
			}
			volumes[volume.Name] = true
		}
		for _, container := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
			checkMounts(t, container, volumes)
		}
	})
}

func requireValid(t *testing.T, what, value string, problems []string) {
	t.Helper()
	if len(problems) > 0 {
		t.Errorf("%s %q: %s", what, value, strings.Join(problems, "; "))
	}
}

func checkMounts(t *testing.T, container corev1.Container, volumes map[string]bool) {
	t.Helper()
	paths := map[string]bool{}
	for _, mount := range container.VolumeMounts {
		if !volumes[mount.Name] {
			t.Errorf("container %s mounts volume %s, which isn't there", container.Name, mount.Name)
		}
		if paths[mount.MountPath] {
			t.Errorf("container %s has two mounts at %s", container.Name, mount.MountPath)
		}
		if slices.Contains(strings.Split(mount.SubPath, "/"), "..") || strings.Contains(mount.MountPath, ":") {
			t.Errorf("container %s has a mount that the API server refuses: %+v", container.Name, mount)
		}
		paths[mount.MountPath] = true
	}
}

// P29: only what the session says decides, not the order in which it says it.
func TestTheOrderOfListsChangesNothing(t *testing.T) {
	eachInput(t, func(t *testing.T, random *rand.Rand, in sandbox.Input) {
		want := encode(t, build(t, in))
		shuffle(random, in.Session.Spec.Resources)
		shuffle(random, in.Session.Spec.Env)
		if diff := cmp.Diff(want, encode(t, build(t, in))); diff != "" {
			t.Errorf("pod once resources and env are in another order (-want +got):\n%s", diff)
		}
	})
}

func shuffle[T any](random *rand.Rand, list []T) {
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

func TestBuildChangesNothingThatItIsGiven(t *testing.T) {
	eachInput(t, func(t *testing.T, _ *rand.Rand, in sandbox.Input) {
		want := in.Session.DeepCopy()
		first := encode(t, build(t, in))
		if diff := cmp.Diff(want, in.Session); diff != "" {
			t.Errorf("session after it was built from (-before +after):\n%s", diff)
		}
		if diff := cmp.Diff(first, encode(t, build(t, in))); diff != "" {
			t.Errorf("the second pod of the same input (-first +second):\n%s", diff)
		}
	})
}
