// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// scalarDefaults are the values that a file is decoded over.
func scalarDefaults() Effective {
	return Effective{
		Mode:     ModeColocated,
		Packages: PackagesReject,
		Limits:   Limits{Files: 100},
		Sandbox: Sandbox{
			RunAsUser:        1000,
			MaxLifetime:      metav1.Duration{Duration: 24 * time.Hour},
			AgentGracePeriod: metav1.Duration{Duration: 30 * time.Second},
			ScratchSize:      resource.MustParse("1Gi"),
			OutputsSize:      resource.MustParse("10Gi"),
			SharedMemory:     resource.MustParse("64Mi"),
		},
		Setup: Setup{Timeout: metav1.Duration{Duration: 10 * time.Minute}},
		Artifacts: Artifacts{
			URL:             "file:///var/lib/orca/artifacts",
			CollectTimeout:  metav1.Duration{Duration: 10 * time.Minute},
			MaxFileBytes:    resource.MustParse("10Gi"),
			MaxSessionBytes: resource.MustParse("10Gi"),
			Retention:       metav1.Duration{Duration: 720 * time.Hour},
		},
	}
}

// setResourceDefaults fills in the requests and limits that a file leaves out,
// each as a whole: who gives a limit of memory alone wants no limit of CPU.
func setResourceDefaults(effective *Effective) {
	setDefault(&effective.Sandbox.Resources, amounts("100m", "256Mi"), amounts("2", "2Gi"))
	setDefault(&effective.Setup.Resources, amounts("100m", "128Mi"), amounts("1", "1Gi"))
	setDefault(&effective.Collector.Resources, amounts("10m", "32Mi"), amounts("500m", "256Mi"))
}

func setDefault(resources *corev1.ResourceRequirements, requests, limits corev1.ResourceList) {
	if resources.Requests == nil {
		resources.Requests = requests
	}
	if resources.Limits == nil {
		resources.Limits = limits
	}
}

func amounts(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse(cpu),
		corev1.ResourceMemory: resource.MustParse(memory),
	}
}
