// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// clone returns a copy that shares nothing with e.
func (e Effective) clone() Effective {
	e.Sandbox = e.Sandbox.clone()
	e.Setup.Resources = *e.Setup.Resources.DeepCopy()
	e.Collector.Resources = *e.Collector.Resources.DeepCopy()
	e.Artifacts.MaxFileBytes = e.Artifacts.MaxFileBytes.DeepCopy()
	e.Artifacts.MaxSessionBytes = e.Artifacts.MaxSessionBytes.DeepCopy()
	return e
}

// clone returns a copy that shares nothing with s.
func (s Sandbox) clone() Sandbox {
	s.Command = slices.Clone(s.Command)
	s.Resources = *s.Resources.DeepCopy()
	s.ScratchSize = s.ScratchSize.DeepCopy()
	s.OutputsSize = s.OutputsSize.DeepCopy()
	s.SharedMemory = s.SharedMemory.DeepCopy()
	s.NodeSelector = maps.Clone(s.NodeSelector)
	s.Tolerations = cloneTolerations(s.Tolerations)
	s.ImagePullSecrets = slices.Clone(s.ImagePullSecrets)
	s.PodLabels = maps.Clone(s.PodLabels)
	s.PodAnnotations = maps.Clone(s.PodAnnotations)
	return s
}

func cloneTolerations(tolerations []corev1.Toleration) []corev1.Toleration {
	tolerations = slices.Clone(tolerations)
	for i := range tolerations {
		tolerations[i] = *tolerations[i].DeepCopy()
	}
	return tolerations
}
