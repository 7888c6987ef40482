// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package settings reads what the operator of a deployment decides for all of
// its sessions: one YAML file, decoded strictly, completed by defaults,
// validated as a whole, and merged for each namespace. docs/settings.md
// describes every field of it.
package settings

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What a settings file says it is.
const (
	APIVersion = "config.orca.dev/v1alpha1"
	Kind       = "OperatorConfig"
)

// Mode says where the agent process runs.
type Mode string

const (
	// ModeColocated runs the agent process in the sandbox.
	ModeColocated Mode = "Colocated"
	// ModeSeparate runs the agent elsewhere; the sandbox waits for tool calls.
	ModeSeparate Mode = "Separate"
)

// PackagesPolicy says what admission does about an environment with packages.
// No session starts on one either way.
type PackagesPolicy string

const (
	// PackagesReject refuses it.
	PackagesReject PackagesPolicy = "Reject"
	// PackagesStore stores it, with a warning.
	PackagesStore PackagesPolicy = "Store"
)

// Effective is what holds in one namespace, complete and valid.
type Effective struct {
	Mode      Mode           `json:"mode"`
	Packages  PackagesPolicy `json:"packages"`
	Limits    Limits         `json:"limits"`
	Sandbox   Sandbox        `json:"sandbox"`
	Setup     Setup          `json:"setup"`
	Collector Collector      `json:"collector"`
	Artifacts Artifacts      `json:"artifacts"`
}

// Limits bound what one session can ask for.
type Limits struct {
	// Files is how many files a session can have.
	Files int32 `json:"files"`
}

// Sandbox is what a sandbox is made of.
type Sandbox struct {
	// Image is the image that agents run in.
	Image string `json:"image"`
	// RuntimeImage is the image with the operator's own tools.
	RuntimeImage string `json:"runtimeImage"`
	// Command is the agent process of sessions that name none.
	Command []string `json:"command"`
	// RunAsUser is the uid of every process in the sandbox.
	RunAsUser int64 `json:"runAsUser"`
	// Resources are the agent container's. ScratchSize and SharedMemory count
	// against its limit of memory.
	Resources corev1.ResourceRequirements `json:"resources"`
	// MaxLifetime is how long the agent of a session can run, over all attempts.
	MaxLifetime metav1.Duration `json:"maxLifetime"`
	// AgentGracePeriod is how long the agent has between SIGTERM and SIGKILL.
	AgentGracePeriod metav1.Duration `json:"agentGracePeriod"`
	// ScratchSize is how much /tmp holds.
	ScratchSize resource.Quantity `json:"scratchSize"`
	// OutputsSize is how much /mnt/session/outputs holds.
	OutputsSize resource.Quantity `json:"outputsSize"`
	// SharedMemory is how much /dev/shm holds. With 0 it is read-only.
	SharedMemory resource.Quantity `json:"sharedMemory"`
	// RuntimeClassName is the pod's runtime class; empty: the cluster's default.
	RuntimeClassName string `json:"runtimeClassName"`
	// NodeSelector chooses the nodes.
	NodeSelector map[string]string `json:"nodeSelector"`
	// Tolerations are the pod's.
	Tolerations []corev1.Toleration `json:"tolerations"`
	// ImagePullSecrets name Secrets in the session's namespace.
	ImagePullSecrets []string `json:"imagePullSecrets"`
	// PodLabels are further labels of the pod.
	PodLabels map[string]string `json:"podLabels"`
	// PodAnnotations are further annotations of the pod.
	PodAnnotations map[string]string `json:"podAnnotations"`
}

// Setup is how a sandbox's content is brought into it.
type Setup struct {
	// Timeout is how long a session can wait for what it refers to, and how long
	// bringing it into the sandbox can take.
	Timeout metav1.Duration `json:"timeout"`
	// AllowHTTP allows repositories at http:// addresses.
	AllowHTTP bool `json:"allowHTTP"`
	// ExtraCA holds certificates of authorities to trust, in PEM, on top of those
	// in the runtime image.
	ExtraCA string `json:"extraCA"`
	// Proxy is how to reach repositories.
	Proxy Proxy `json:"proxy"`
	// Resources are the setup container's.
	Resources corev1.ResourceRequirements `json:"resources"`
}

// Proxy is how to reach repositories.
type Proxy struct {
	// HTTPProxy is the URL of the proxy for http:// addresses.
	HTTPProxy string `json:"httpProxy"`
	// HTTPSProxy is the URL of the proxy for https:// addresses.
	HTTPSProxy string `json:"httpsProxy"`
	// NoProxy lists the hosts to reach directly, separated by commas.
	NoProxy string `json:"noProxy"`
}

// Collector is how outputs are collected.
type Collector struct {
	// Resources are the collector container's.
	Resources corev1.ResourceRequirements `json:"resources"`
}

// Artifacts is where outputs and uploaded files are stored.
type Artifacts struct {
	// URL is the store.
	URL string `json:"url"`
	// CollectTimeout is how long collecting a sandbox's outputs can take.
	CollectTimeout metav1.Duration `json:"collectTimeout"`
	// MaxFileBytes is how large one stored file can be.
	MaxFileBytes resource.Quantity `json:"maxFileBytes"`
	// MaxSessionBytes is how large the outputs of one session can be together.
	MaxSessionBytes resource.Quantity `json:"maxSessionBytes"`
	// Retention is how long the outputs of a deleted session are kept; 0: for
	// ever.
	Retention metav1.Duration `json:"retention"`
}

// Workspace is what differs in some namespaces. In the file it holds only what
// differs; once read, Limits and Sandbox are complete.
type Workspace struct {
	// Namespaces are the names of the namespaces.
	Namespaces []string `json:"namespaces"`
	// Limits are merged over the deployment's.
	Limits Limits `json:"limits"`
	// Sandbox is merged over the deployment's.
	Sandbox Sandbox `json:"sandbox"`
}
