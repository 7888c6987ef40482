// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	maxFiles = 999
	// maxRunAsUser is the largest uid that Kubernetes takes.
	maxRunAsUser = 1<<31 - 1

	maxLifetime    = 365 * 24 * time.Hour
	maxGracePeriod = time.Hour
	maxTimeout     = 24 * time.Hour
	maxRetention   = 10 * 365 * 24 * time.Hour
)

func validateHeader(apiVersion, kind string) field.ErrorList {
	errs := validateOneOf(field.NewPath("apiVersion"), apiVersion, APIVersion)
	return append(errs, validateOneOf(field.NewPath("kind"), kind, Kind)...)
}

func validateEffective(effective *Effective) field.ErrorList {
	errs := validateOneOf(field.NewPath("mode"), effective.Mode, ModeColocated, ModeSeparate)
	errs = append(errs, validateOneOf(field.NewPath("packages"), effective.Packages, PackagesReject, PackagesStore)...)
	errs = append(errs, validateLimits(effective.Limits, field.NewPath("limits"))...)
	errs = append(errs, validateSandbox(&effective.Sandbox, field.NewPath("sandbox"))...)
	errs = append(errs, validateSetup(&effective.Setup, field.NewPath("setup"))...)
	errs = append(errs, validateResources(effective.Collector.Resources, field.NewPath("collector", "resources"))...)
	return append(errs, validateArtifacts(&effective.Artifacts, field.NewPath("artifacts"))...)
}

func validateWorkspace(workspace *Workspace, path *field.Path) field.ErrorList {
	errs := validateNamespaces(workspace.Namespaces, path.Child("namespaces"))
	errs = append(errs, validateLimits(workspace.Limits, path.Child("limits"))...)
	return append(errs, validateSandbox(&workspace.Sandbox, path.Child("sandbox"))...)
}

func validateNamespaces(namespaces []string, path *field.Path) field.ErrorList {
	if len(namespaces) == 0 {
		return field.ErrorList{field.Required(path, "must name at least one namespace")}
	}
	var errs field.ErrorList
	for i, namespace := range namespaces {
		for _, problem := range validation.IsDNS1123Label(namespace) {
			errs = append(errs, field.Invalid(path.Index(i), namespace, problem))
		}
	}
	return errs
}

func validateLimits(limits Limits, path *field.Path) field.ErrorList {
	return validateBetween(path.Child("files"), int64(limits.Files), 1, maxFiles)
}

func validateSetup(setup *Setup, path *field.Path) field.ErrorList {
	errs := validateDuration(path.Child("timeout"), setup.Timeout, time.Second, maxTimeout)
	errs = append(errs, validateCertificates(path.Child("extraCA"), setup.ExtraCA)...)
	errs = append(errs, validateProxy(&setup.Proxy, path.Child("proxy"))...)
	return append(errs, validateResources(setup.Resources, path.Child("resources"))...)
}

func validateProxy(proxy *Proxy, path *field.Path) field.ErrorList {
	errs := validateProxyURL(path.Child("httpProxy"), proxy.HTTPProxy)
	errs = append(errs, validateProxyURL(path.Child("httpsProxy"), proxy.HTTPSProxy)...)
	return append(errs, validateWord(path.Child("noProxy"), proxy.NoProxy, maxNoProxyBytes)...)
}

func validateArtifacts(artifacts *Artifacts, path *field.Path) field.ErrorList {
	errs := validateStoreURL(path.Child("url"), artifacts.URL)
	errs = append(errs, validateDuration(path.Child("collectTimeout"), artifacts.CollectTimeout, time.Second, maxTimeout)...)
	errs = append(errs, validateSize(path.Child("maxFileBytes"), artifacts.MaxFileBytes, 1)...)
	errs = append(errs, validateSize(path.Child("maxSessionBytes"), artifacts.MaxSessionBytes, 1)...)
	return append(errs, validateDuration(path.Child("retention"), artifacts.Retention, 0, maxRetention)...)
}
