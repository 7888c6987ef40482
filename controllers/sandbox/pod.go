// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/layout"
	"github.com/orca-agent-engine/orca-operator/controllers/settings"
)

// Input is everything that a sandbox is made from.
type Input struct {
	Session  *orcav1alpha1.OrcaSession
	Settings settings.Effective
	// Attempt counts the session's sandboxes from 1.
	Attempt int32
	// Lifetime is how long the agent may still run.
	Lifetime time.Duration
	// InputVersions is the digest of the versions of the session's inputs.
	InputVersions string
}

// Check reports, as an error that is ErrTooLarge, that a session which the
// policy takes says more than a pod can carry. Build fails with it as well.
func Check(in Input) error {
	p, err := newPlan(in.Session)
	if err != nil {
		return err
	}
	_, err = encodeDocuments(in, &p)
	return err
}

// Build returns the pod of one attempt. It fails only for a session that the
// policy or Check refuses.
func Build(in Input) (*corev1.Pod, error) {
	p, err := newPlan(in.Session)
	if err != nil {
		return nil, err
	}
	documents, err := encodeDocuments(in, &p)
	if err != nil {
		return nil, err
	}
	return &corev1.Pod{
		ObjectMeta: objectMeta(in, documents),
		Spec: corev1.PodSpec{
			RestartPolicy:                 corev1.RestartPolicyNever,
			AutomountServiceAccountToken:  new(false),
			EnableServiceLinks:            new(false),
			TerminationGracePeriodSeconds: new(gracePeriod(in.Settings)),
			SecurityContext:               podSecurity(in.Settings.Sandbox.RunAsUser),
			RuntimeClassName:              runtimeClass(in.Settings.Sandbox.RuntimeClassName),
			NodeSelector:                  in.Settings.Sandbox.NodeSelector,
			Tolerations:                   in.Settings.Sandbox.Tolerations,
			ImagePullSecrets:              pullSecrets(in.Settings.Sandbox.ImagePullSecrets),
			Volumes:                       append(volumes(in.Settings), resourceVolumes(&p)...),
			InitContainers:                []corev1.Container{setupContainer(in.Settings, documents.setup, &p)},
			Containers:                    []corev1.Container{agentContainer(in.Settings, documents.sandbox, &p)},
		},
	}, nil
}

// objectMeta lets the operator's own labels and annotations win over the
// deployment's.
func objectMeta(in Input, documents documents) metav1.ObjectMeta {
	labels := maps.Clone(in.Settings.Sandbox.PodLabels)
	annotations := maps.Clone(in.Settings.Sandbox.PodAnnotations)
	return metav1.ObjectMeta{
		Name:      PodName(in.Session, in.Attempt),
		Namespace: in.Session.Namespace,
		Labels: overlay(labels, map[string]string{
			"app.kubernetes.io/name":       "orca-sandbox",
			"app.kubernetes.io/managed-by": "orca-operator",
			LabelSessionUID:                string(in.Session.UID),
			LabelAttempt:                   strconv.Itoa(int(in.Attempt)),
		}),
		Annotations: overlay(annotations, map[string]string{
			"kubectl.kubernetes.io/default-container": AgentContainer,
			AnnotationSession:                         in.Session.Name,
			AnnotationInputs:                          in.InputVersions,
			annotationSetup:                           string(documents.setup),
			annotationSandbox:                         string(documents.sandbox),
		}),
		OwnerReferences: []metav1.OwnerReference{
			*metav1.NewControllerRef(in.Session, orcav1alpha1.SchemeGroupVersion.WithKind("OrcaSession")),
		},
	}
}

func overlay(base, top map[string]string) map[string]string {
	if base == nil {
		return top
	}
	maps.Copy(base, top)
	return base
}

func volumes(settings settings.Effective) []corev1.Volume {
	out := []corev1.Volume{
		emptyDir(volumeBin, corev1.StorageMediumDefault, nil),
		emptyDir(volumeSealed, corev1.StorageMediumDefault, nil),
		emptyDir(volumeOutputs, corev1.StorageMediumDefault, &settings.Sandbox.OutputsSize),
		emptyDir(volumeTmp, corev1.StorageMediumMemory, &settings.Sandbox.ScratchSize),
		emptyDir(volumeSetupWork, corev1.StorageMediumMemory, &setupWorkSize),
		annotationVolume(volumeSetupManifest, annotationSetup, setupFile),
		annotationVolume(volumeSandboxManifest, annotationSandbox, sandboxFile),
	}
	if hasSharedMemory(settings) {
		out = append(out, emptyDir(volumeSharedMemory, corev1.StorageMediumMemory, &settings.Sandbox.SharedMemory))
	}
	return out
}

func hasSharedMemory(settings settings.Effective) bool {
	return !settings.Sandbox.SharedMemory.IsZero()
}

// gracePeriod leaves the agent its own time to stop and, after it, the
// collection of the outputs its time.
func gracePeriod(settings settings.Effective) int64 {
	return wholeSeconds(settings.Sandbox.AgentGracePeriod.Duration + settings.Artifacts.CollectTimeout.Duration)
}

// podSecurity is what the restricted Pod Security Standard asks for. Setup and
// agent run as one user, or git would refuse the repositories of the other.
func podSecurity(user int64) *corev1.PodSecurityContext {
	return &corev1.PodSecurityContext{
		RunAsNonRoot:        new(true),
		RunAsUser:           new(user),
		RunAsGroup:          new(user),
		FSGroup:             new(user),
		FSGroupChangePolicy: new(corev1.FSGroupChangeOnRootMismatch),
		SeccompProfile:      &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
}

func containerSecurity() *corev1.SecurityContext {
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false),
		ReadOnlyRootFilesystem:   new(true),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

func runtimeClass(name string) *string {
	if name == "" {
		return nil
	}
	return &name
}

func pullSecrets(names []string) []corev1.LocalObjectReference {
	var out []corev1.LocalObjectReference
	for _, name := range names {
		out = append(out, corev1.LocalObjectReference{Name: name})
	}
	return out
}

// agentMounts gives the agent's container the sealed tree, the launcher and
// its manifest read-only, and the writable roots.
func agentMounts(settings settings.Effective, p *plan) []corev1.VolumeMount {
	mounts := append(sealedMounts(p.sealed(), hasSharedMemory(settings)),
		readOnly(volumeBin, binDir),
		readOnly(volumeSandboxManifest, manifestDir),
		writable(volumeOutputs, layout.Outputs),
		writable(volumeTmp, layout.Tmp),
	)
	if hasSharedMemory(settings) {
		mounts = append(mounts, writable(volumeSharedMemory, layout.SharedMemory))
	}
	mounts = append(mounts, resourceMounts(p)...)
	slices.SortFunc(mounts, func(a, b corev1.VolumeMount) int { return cmp.Compare(a.MountPath, b.MountPath) })
	return mounts
}
