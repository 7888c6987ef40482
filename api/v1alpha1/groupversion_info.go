// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the API of the Orca operator: OrcaEnvironment, what
// sessions have in common, and OrcaSession, one agent's run in a sandbox.
//
// Every spec of a session that the schema accepts survives a round trip through
// these types: a field of it is left out when encoded only if the schema refuses
// its zero value. Otherwise a client that reads a session and writes it back, say
// to add a label, would change a spec that may not be changed.
//
// +kubebuilder:object:generate=true
// +groupName=orca.dev
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of every type in this package.
const GroupName = "orca.dev"

var (
	// SchemeGroupVersion is the group and version of every type in this package.
	SchemeGroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1alpha1"}

	// SchemeBuilder collects the functions that add these types to a scheme.
	SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

	// AddToScheme adds the types of this package to a scheme.
	AddToScheme = SchemeBuilder.AddToScheme
)

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(SchemeGroupVersion,
		&OrcaEnvironment{}, &OrcaEnvironmentList{},
		&OrcaSession{}, &OrcaSessionList{},
	)
	metav1.AddToGroupVersion(scheme, SchemeGroupVersion)
	return nil
}
