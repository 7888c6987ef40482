// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

// folders makes volumes that are folders of one node.
type folders struct {
	dir, node string
}

// Provision makes the folder of a volume. The volume is a local one, since the
// kubelet gives those, and not those of type hostPath, to a pod's fsGroup.
func (f folders) Provision(_ context.Context, options controller.ProvisionOptions) (*corev1.PersistentVolume, controller.ProvisioningState, error) {
	claim := options.PVC
	if claim.Spec.Selector != nil {
		return nil, controller.ProvisioningFinished, errors.New("spec.selector: no folder has labels to select it by")
	}
	if err := f.make(options.PVName); err != nil {
		return nil, controller.ProvisioningFinished, err
	}
	volume := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: options.PVName},
		Spec: corev1.PersistentVolumeSpec{
			PersistentVolumeReclaimPolicy: *options.StorageClass.ReclaimPolicy,
			AccessModes:                   claim.Spec.AccessModes,
			MountOptions:                  options.StorageClass.MountOptions,
			VolumeMode:                    new(corev1.PersistentVolumeFilesystem),
			Capacity: corev1.ResourceList{
				corev1.ResourceStorage: claim.Spec.Resources.Requests[corev1.ResourceStorage],
			},
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				Local: &corev1.LocalVolumeSource{Path: f.path(options.PVName)},
			},
			NodeAffinity: f.affinity(),
		},
	}
	return volume, controller.ProvisioningFinished, nil
}

func (f folders) path(volume string) string { return filepath.Join(f.dir, volume) }

// make makes a folder that anybody may read and, until a pod's fsGroup gets it,
// only root may write. One that an interrupted attempt left is as good.
func (f folders) make(volume string) error {
	err := os.Mkdir(f.path(volume), 0o755)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("making the volume's folder: %w", err)
	}
	// Whatever the umask says.
	return os.Chmod(f.path(volume), 0o755)
}

func (f folders) affinity() *corev1.VolumeNodeAffinity {
	return &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{
				Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{f.node},
			}},
		}},
	}}
}

// Delete removes the folder of a volume. What pods left in it is removed
// without following links. A volume that is no folder of this provisioner's is
// left alone.
func (f folders) Delete(_ context.Context, volume *corev1.PersistentVolume) error {
	if volume.Spec.Local == nil || volume.Spec.Local.Path != f.path(volume.Name) {
		return &controller.IgnoredError{Reason: "its folder was not made here"}
	}
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return fmt.Errorf("opening the folder of volumes: %w", err)
	}
	defer root.Close()
	if err := root.RemoveAll(volume.Name); err != nil {
		return fmt.Errorf("removing the volume's folder: %w", err)
	}
	return nil
}
