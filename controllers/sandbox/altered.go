// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Altered returns the field in which a pod that was made isn't what was built,
// and "" where the difference doesn't matter: what the API server defaults, and
// what others may add. It looks at what the check inside the sandbox can't see,
// because it decides whether there is a check, or what it says.
func Altered(built, made *corev1.Pod) string {
	spec := field.NewPath("spec")
	for _, alteration := range []*field.Path{
		alteredPod(spec, &built.Spec, &made.Spec),
		alteredVolumes(spec.Child("volumes"), built.Spec.Volumes, made.Spec.Volumes),
		alteredContainers(spec.Child("initContainers"), built.Spec.InitContainers, made.Spec.InitContainers),
		alteredContainers(spec.Child("containers"), built.Spec.Containers, made.Spec.Containers),
		sharedVolumes(spec, built, made),
	} {
		if alteration != nil {
			return alteration.String()
		}
	}
	return ""
}

func alteredPod(path *field.Path, built, made *corev1.PodSpec) *field.Path {
	shares := made.ShareProcessNamespace != nil && *made.ShareProcessNamespace
	switch {
	case made.RestartPolicy != built.RestartPolicy:
		return path.Child("restartPolicy")
	case made.HostPID:
		return path.Child("hostPID")
	case made.HostIPC:
		return path.Child("hostIPC")
	case shares:
		return path.Child("shareProcessNamespace")
	case !equality.Semantic.DeepDerivative(built.SecurityContext, made.SecurityContext):
		return path.Child("securityContext")
	}
	return nil
}

func alteredVolumes(path *field.Path, built, made []corev1.Volume) *field.Path {
	for _, volume := range built {
		i := slices.IndexFunc(made, func(v corev1.Volume) bool { return v.Name == volume.Name })
		if i < 0 {
			return path.Key(volume.Name)
		}
		if !equality.Semantic.DeepDerivative(volume, made[i]) {
			return path.Index(i)
		}
	}
	return nil
}

// alteredContainers looks at the containers that were built. Others may be
// there besides.
func alteredContainers(path *field.Path, built, made []corev1.Container) *field.Path {
	for _, container := range built {
		i := slices.IndexFunc(made, func(c corev1.Container) bool { return c.Name == container.Name })
		if i < 0 {
			return path.Key(container.Name)
		}
		if altered := alteredContainer(path.Index(i), &container, &made[i]); altered != nil {
			return altered
		}
	}
	return nil
}

func alteredContainer(path *field.Path, built, made *corev1.Container) *field.Path {
	switch {
	case !slices.Equal(built.Command, made.Command):
		return path.Child("command")
	case !slices.Equal(built.Args, made.Args):
		return path.Child("args")
	case built.WorkingDir != made.WorkingDir:
		return path.Child("workingDir")
	case made.Lifecycle != nil:
		return path.Child("lifecycle")
	case made.LivenessProbe != nil:
		return path.Child("livenessProbe")
	case made.ReadinessProbe != nil:
		return path.Child("readinessProbe")
	case built.StartupProbe == nil && made.StartupProbe != nil, !equality.Semantic.DeepDerivative(built.StartupProbe, made.StartupProbe):
		return path.Child("startupProbe")
	case alteredSecurity(built.SecurityContext, made.SecurityContext):
		return path.Child("securityContext")
	}
	return alteredMounts(path.Child("volumeMounts"), built.VolumeMounts, made.VolumeMounts)
}

func alteredSecurity(built, made *corev1.SecurityContext) bool {
	return !equality.Semantic.DeepDerivative(built, made) ||
		made.Privileged != nil && *made.Privileged ||
		len(made.Capabilities.Add) > 0 ||
		made.ProcMount != nil && *made.ProcMount != corev1.DefaultProcMount ||
		made.RunAsUser != nil || made.SeccompProfile != nil
}

func alteredMounts(path *field.Path, built, made []corev1.VolumeMount) *field.Path {
	for _, mount := range built {
		i := slices.IndexFunc(made, func(m corev1.VolumeMount) bool { return m.MountPath == mount.MountPath })
		if i < 0 {
			return path.Key(mount.MountPath)
		}
		if !equality.Semantic.DeepDerivative(mount, made[i]) || made[i].SubPath != mount.SubPath || made[i].SubPathExpr != "" {
			return path.Index(i)
		}
	}
	return nil
}

// sharedVolumes is about containers that somebody else added and that have a
// volume of the sandbox.
func sharedVolumes(path *field.Path, built, made *corev1.Pod) *field.Path {
	for _, list := range []struct {
		name        string
		built, made []corev1.Container
	}{
		{"initContainers", built.Spec.InitContainers, made.Spec.InitContainers},
		{"containers", built.Spec.Containers, made.Spec.Containers},
	} {
		for i, container := range list.made {
			own := slices.ContainsFunc(list.built, func(c corev1.Container) bool { return c.Name == container.Name })
			if !own && mountsAny(container, built.Spec.Volumes) {
				return path.Child(list.name).Index(i).Child("volumeMounts")
			}
		}
	}
	return nil
}

func mountsAny(container corev1.Container, volumes []corev1.Volume) bool {
	return slices.ContainsFunc(container.VolumeMounts, func(m corev1.VolumeMount) bool {
		return slices.ContainsFunc(volumes, func(v corev1.Volume) bool { return v.Name == m.Name })
	})
}
