// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

func provision(t *testing.T, f folders, name string, modes ...corev1.PersistentVolumeAccessMode) *corev1.PersistentVolume {
	t.Helper()
	volume, state, err := f.Provision(t.Context(), request(name, modes...))
	if err != nil || state != controller.ProvisioningFinished {
		t.Fatalf("state %s, error %v", state, err)
	}
	return volume
}

func request(name string, modes ...corev1.PersistentVolumeAccessMode) controller.ProvisionOptions {
	return controller.ProvisionOptions{
		PVName:       name,
		StorageClass: &storagev1.StorageClass{ReclaimPolicy: new(corev1.PersistentVolumeReclaimDelete)},
		PVC: &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: modes,
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			},
		}},
	}
}

// A class that names another provisioner gets no volumes at all.
func TestTheStorageClassNamesThisProvisioner(t *testing.T) {
	class, err := os.ReadFile(filepath.Join("..", "..", "internal", "config", "templates", "storage.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(class), "\nprovisioner: "+provisionerName+"\n") {
		t.Errorf("the storage class doesn't name %s:\n%s", provisionerName, class)
	}
}

func TestAVolumeIsAFolderOfTheNode(t *testing.T) {
	f := folders{dir: t.TempDir(), node: "orca"}
	for range 2 { // The second time as after an interruption.
		volume := provision(t, f, "pvc-1", corev1.ReadWriteOnce, corev1.ReadOnlyMany, corev1.ReadWriteMany)
		if volume.Spec.Local == nil || volume.Spec.Local.Path != filepath.Join(f.dir, "pvc-1") {
			t.Fatalf("the volume is %+v", volume.Spec.PersistentVolumeSource)
		}
		if got := volume.Spec.NodeAffinity.Required.NodeSelectorTerms[0].MatchExpressions[0]; got.Key != "kubernetes.io/hostname" || got.Values[0] != "orca" {
			t.Errorf("it lies where %+v", got)
		}
		size := volume.Spec.Capacity[corev1.ResourceStorage]
		if len(volume.Spec.AccessModes) != 3 || size.String() != "1Gi" || volume.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete {
			t.Errorf("it isn't as the claim asks: %+v", volume.Spec)
		}
		info, err := os.Stat(volume.Spec.Local.Path)
		if err != nil {
			t.Fatal(err)
		}
		if !info.IsDir() || info.Mode().Perm() != 0o755 {
			t.Errorf("the folder's mode is %s", info.Mode())
		}
	}
}

func TestAClaimWithASelectorGetsNoVolume(t *testing.T) {
	options := request("pvc-1", corev1.ReadWriteOnce)
	options.PVC.Spec.Selector = &metav1.LabelSelector{}
	f := folders{dir: t.TempDir(), node: "orca"}
	if _, _, err := f.Provision(t.Context(), options); err == nil {
		t.Error("it gets one")
	}
	if entries, err := os.ReadDir(f.dir); err != nil || len(entries) > 0 {
		t.Errorf("folders %v, error %v", entries, err)
	}
}

func TestAVolumeGoesWithAllThatIsInItAndNothingElse(t *testing.T) {
	f := folders{dir: t.TempDir(), node: "orca"}
	outside := filepath.Join(t.TempDir(), "outside")
	volume, other := provision(t, f, "pvc-1"), provision(t, f, "pvc-2")
	for _, path := range []string{outside, filepath.Join(volume.Spec.Local.Path, "a"), filepath.Join(other.Spec.Local.Path, "b")} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(volume.Spec.Local.Path, "link")); err != nil {
		t.Fatal(err)
	}
	for range 2 { // The second time there is nothing left to remove.
		if err := f.Delete(t.Context(), volume); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Lstat(volume.Spec.Local.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the volume's folder is still there: %v", err)
	}
	for _, path := range []string{outside, filepath.Join(other.Spec.Local.Path, "b")} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}

func TestAFolderThatWasNotMadeHereStays(t *testing.T) {
	f := folders{dir: t.TempDir(), node: "orca"}
	elsewhere := filepath.Join(t.TempDir(), "pvc-1")
	if err := os.Mkdir(elsewhere, 0o755); err != nil {
		t.Fatal(err)
	}
	foreign := provision(t, f, "pvc-1")
	for name, path := range map[string]string{
		"in another place":           elsewhere,
		"of another volume":          filepath.Join(f.dir, "pvc-2"),
		"by a detour":                f.dir + "/pvc-1/../pvc-2",
		"which is the folder of all": f.dir,
	} {
		foreign.Spec.Local.Path = path
		err := f.Delete(t.Context(), foreign)
		if _, ignored := errors.AsType[*controller.IgnoredError](err); !ignored {
			t.Errorf("a folder %s: error %v, want that it is ignored", name, err)
		}
	}
	foreign.Spec.Local = nil
	if err := f.Delete(t.Context(), foreign); err == nil {
		t.Error("a volume that is no folder is removed")
	}
	if _, err := os.Stat(elsewhere); err != nil {
		t.Error(err)
	}
}
