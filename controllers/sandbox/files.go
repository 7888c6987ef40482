// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/layout"
	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

// files returns what setup is told of the file resources of a session, by
// name.
func files(resources []orcav1alpha1.SessionResource) ([]manifest.File, error) {
	var out []manifest.File
	for _, resource := range resources {
		if resource.Kind() != orcav1alpha1.ResourceKindFile {
			continue
		}
		file, err := placeFile(resource.Name, &resource.File)
		if err != nil {
			return nil, fmt.Errorf("placing file %q: %w", resource.Name, err)
		}
		out = append(out, file)
	}
	slices.SortFunc(out, func(a, b manifest.File) int { return cmp.Compare(a.Resource, b.Resource) })
	return out, nil
}

func placeFile(name string, file *orcav1alpha1.FileResource) (manifest.File, error) {
	source := file.Source.ConfigMapKeyRef
	path, err := layout.File(file.FileID, cmp.Or(file.Filename, source.Key), file.MountPath)
	if err != nil {
		return manifest.File{}, err
	}
	return manifest.File{
		Resource: name, Path: path,
		ConfigMap: source.Name, Key: source.Key,
		Source: name,
	}, nil
}

// inputsVolume projects the source of every file under the name of its
// resource. Sources are optional: where one is missing the pod starts all the
// same and setup names it, while the kubelet would retry without a word.
func inputsVolume(files []manifest.File) corev1.Volume {
	sources := make([]corev1.VolumeProjection, 0, len(files))
	for _, file := range files {
		sources = append(sources, corev1.VolumeProjection{ConfigMap: &corev1.ConfigMapProjection{
			LocalObjectReference: corev1.LocalObjectReference{Name: file.ConfigMap},
			Items:                []corev1.KeyToPath{{Key: file.Key, Path: file.Source}},
			Optional:             new(true),
		}})
	}
	return corev1.Volume{Name: volumeInputs, VolumeSource: corev1.VolumeSource{
		Projected: &corev1.ProjectedVolumeSource{Sources: sources},
	}}
}

// ConfigMaps returns the names of the ConfigMaps that a session reads, sorted.
func ConfigMaps(session *orcav1alpha1.OrcaSession) []string {
	var names []string
	for _, resource := range session.Spec.Resources {
		if name := resource.File.Source.ConfigMapKeyRef.Name; name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Resources returns what the status says of a session's resources, by name.
func Resources(session *orcav1alpha1.OrcaSession) ([]orcav1alpha1.ResourceStatus, error) {
	files, err := files(session.Spec.Resources)
	if err != nil {
		return nil, err
	}
	out := make([]orcav1alpha1.ResourceStatus, 0, len(files))
	for _, file := range files {
		out = append(out, orcav1alpha1.ResourceStatus{Name: file.Resource, MountPath: file.Path, Access: orcav1alpha1.AccessReadOnly})
	}
	return out, nil
}
