// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateResources takes CPU, memory, ephemeral storage, and what device plugins
// offer under names of their own.
func validateResources(resources corev1.ResourceRequirements, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if resources.Claims != nil {
		errs = append(errs, field.Forbidden(path.Child("claims"), "not supported; use requests and limits"))
	}
	for _, name := range slices.Sorted(maps.Keys(resources.Requests)) {
		errs = append(errs, validateAmount(path.Child("requests").Key(string(name)), name, resources.Requests[name])...)
		errs = append(errs, validateRequest(path.Child("requests").Key(string(name)), name, resources)...)
	}
	for _, name := range slices.Sorted(maps.Keys(resources.Limits)) {
		errs = append(errs, validateAmount(path.Child("limits").Key(string(name)), name, resources.Limits[name])...)
	}
	return errs
}

func validateAmount(path *field.Path, name corev1.ResourceName, amount resource.Quantity) field.ErrorList {
	switch {
	case !isNative(name) && !isExtended(name):
		return field.ErrorList{field.Forbidden(path, "must be cpu, memory, ephemeral-storage or a name with a domain, as 'example.com/gpu'")}
	case amount.Sign() <= 0:
		return field.ErrorList{field.Invalid(path, amount.String(), "must be greater than zero")}
	case name != corev1.ResourceCPU:
		return validateWhole(path, amount)
	}
	return nil
}

// validateRequest takes a request that the limit has room for; devices can't be
// overcommitted.
func validateRequest(path *field.Path, name corev1.ResourceName, resources corev1.ResourceRequirements) field.ErrorList {
	request := resources.Requests[name]
	limit, limited := resources.Limits[name]
	switch {
	case isExtended(name) && (!limited || request.Cmp(limit) != 0):
		return field.ErrorList{field.Invalid(path, request.String(), "must be equal to the limit")}
	case limited && limit.Sign() > 0 && request.Cmp(limit) > 0:
		return field.ErrorList{field.Invalid(path, request.String(), "must not be greater than the limit, "+limit.String())}
	}
	return nil
}

func isNative(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage
}

func isExtended(name corev1.ResourceName) bool {
	return strings.Contains(string(name), "/") && len(validation.IsQualifiedName(string(name))) == 0
}
