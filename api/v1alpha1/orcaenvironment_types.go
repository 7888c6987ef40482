// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NetworkingType says which hosts an environment's sessions ask to reach.
// +kubebuilder:validation:Enum=Unrestricted;Limited
type NetworkingType string

const (
	// NetworkingUnrestricted asks for every host.
	NetworkingUnrestricted NetworkingType = "Unrestricted"
	// NetworkingLimited asks for the hosts in allowedHosts only.
	NetworkingLimited NetworkingType = "Limited"
)

// OrcaEnvironment is what a group of sessions has in common.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:categories=orca,shortName=orcaenv
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
type OrcaEnvironment struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is what the environment's sessions have in common.
	// +optional
	Spec OrcaEnvironmentSpec `json:"spec,omitzero"` //nolint:kubeapilinter // an environment needs nothing in common

	// status is what the operator found out about the environment.
	// +optional
	// +kubebuilder:default:={"observedGeneration":-1}
	Status OrcaEnvironmentStatus `json:"status,omitzero"`
}

// OrcaEnvironmentList is a list of environments.
// +kubebuilder:object:root=true
type OrcaEnvironmentList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []OrcaEnvironment `json:"items"`
}

// OrcaEnvironmentSpec is what the environment's sessions have in common.
type OrcaEnvironmentSpec struct {
	// image is a container image for the sandbox. The operator's own image is
	// always the one that runs: in Colocated mode an image is refused, in
	// Separate mode it is ignored. Empty is the same as absent.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Image string `json:"image,omitempty"` //nolint:kubeapilinter // empty is the same as absent

	// config is the environment's configuration.
	// +optional
	Config EnvironmentConfig `json:"config,omitzero"` //nolint:kubeapilinter // empty is the same as absent
}

// EnvironmentConfig is an environment's configuration.
type EnvironmentConfig struct {
	// packages are the names of packages. They are stored as given and never
	// installed: no session starts on an environment that has any.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=256
	Packages []string `json:"packages,omitempty"` //nolint:kubeapilinter // stored as given, also when empty

	// networking is what the sessions ask to reach. It is accepted and stored,
	// and not enforced.
	// +optional
	Networking EnvironmentNetworking `json:"networking,omitzero"`
}

// EnvironmentNetworking is what an environment's sessions ask to reach.
type EnvironmentNetworking struct {
	// type is Unrestricted or Limited.
	// +required
	Type NetworkingType `json:"type,omitempty"`

	// allowedHosts are the hosts that Limited sessions ask to reach.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	AllowedHosts []string `json:"allowedHosts,omitempty"` //nolint:kubeapilinter // stored as given, also when empty
}

// OrcaEnvironmentStatus is what the operator found out about an environment.
// +kubebuilder:validation:MinProperties=1
type OrcaEnvironmentStatus struct {
	// conditions are Ready, and while they apply Stalled, ImageIgnored and
	// NetworkingEnforced.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the metadata.generation that this status is about;
	// -1 before the first look.
	// +optional
	// +kubebuilder:validation:Minimum=-1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"` //nolint:kubeapilinter // no generation is 0
}
