// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	// reservedPrefix begins the keys of the operator's own labels and annotations.
	reservedPrefix = "orca.dev/"

	maxCommandItems     = 256
	maxCommandItemBytes = 32768

	// maxAnnotationBytes leaves most of the room that a pod has for annotations,
	// 256 KiB, to what the operator writes there.
	maxAnnotationBytes = 16384
)

func validateSandbox(sandbox *Sandbox, path *field.Path) field.ErrorList {
	errs := validateImage(path.Child("image"), sandbox.Image)
	errs = append(errs, validateImage(path.Child("runtimeImage"), sandbox.RuntimeImage)...)
	errs = append(errs, validateCommand(path.Child("command"), sandbox.Command)...)
	errs = append(errs, validateBetween(path.Child("runAsUser"), sandbox.RunAsUser, 1, maxRunAsUser)...)
	errs = append(errs, validateResources(sandbox.Resources, path.Child("resources"))...)
	errs = append(errs, validateDuration(path.Child("maxLifetime"), sandbox.MaxLifetime, time.Second, maxLifetime)...)
	errs = append(errs, validateDuration(path.Child("agentGracePeriod"), sandbox.AgentGracePeriod, time.Second, maxGracePeriod)...)
	errs = append(errs, validateSize(path.Child("scratchSize"), sandbox.ScratchSize, 1)...)
	errs = append(errs, validateSize(path.Child("outputsSize"), sandbox.OutputsSize, 1)...)
	errs = append(errs, validateSize(path.Child("sharedMemory"), sandbox.SharedMemory, 0)...)
	return append(errs, validatePlacement(sandbox, path)...)
}

// validatePlacement judges what a sandbox's pod takes over as it stands.
func validatePlacement(sandbox *Sandbox, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if sandbox.RuntimeClassName != "" {
		errs = append(errs, validateName(path.Child("runtimeClassName"), sandbox.RuntimeClassName)...)
	}
	errs = append(errs, validateLabels(path.Child("nodeSelector"), sandbox.NodeSelector)...)
	errs = append(errs, validateTolerations(path.Child("tolerations"), sandbox.Tolerations)...)
	for i, name := range sandbox.ImagePullSecrets {
		errs = append(errs, validateName(path.Child("imagePullSecrets").Index(i), name)...)
	}
	errs = append(errs, validateLabels(path.Child("podLabels"), sandbox.PodLabels)...)
	errs = append(errs, validateNotReserved(path.Child("podLabels"), sandbox.PodLabels)...)
	return append(errs, validateAnnotations(path.Child("podAnnotations"), sandbox.PodAnnotations)...)
}

func validateImage(path *field.Path, image string) field.ErrorList {
	if image == "" {
		return field.ErrorList{field.Required(path, "has no default; set it in config/default/settings.yaml")}
	}
	return validateWord(path, image, maxImageBytes)
}

func validateCommand(path *field.Path, command []string) field.ErrorList {
	if len(command) > maxCommandItems {
		return field.ErrorList{field.TooMany(path, len(command), maxCommandItems)}
	}
	if len(command) > 0 && command[0] == "" {
		return field.ErrorList{field.Required(path.Index(0), "must name a program")}
	}
	var errs field.ErrorList
	for i, item := range command {
		if len(item) > maxCommandItemBytes {
			errs = append(errs, field.TooLong(path.Index(i), item, maxCommandItemBytes))
		}
		if strings.ContainsRune(item, 0) {
			errs = append(errs, field.Invalid(path.Index(i), item, "must not contain a NUL character"))
		}
	}
	return errs
}

func validateLabels(path *field.Path, labels map[string]string) field.ErrorList {
	var errs field.ErrorList
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		errs = append(errs, metav1validation.ValidateLabelName(key, path.Key(key))...)
		errs = append(errs, problems(path.Key(key), labels[key], validation.IsValidLabelValue(labels[key]))...)
	}
	return errs
}

func validateAnnotations(path *field.Path, annotations map[string]string) field.ErrorList {
	total := 0
	for key, value := range annotations {
		total += len(key) + len(value)
	}
	if total > maxAnnotationBytes {
		return field.ErrorList{field.TooLong(path, "", maxAnnotationBytes)}
	}
	errs := apivalidation.ValidateAnnotations(annotations, path)
	return append(errs, validateNotReserved(path, annotations)...)
}

func validateNotReserved(path *field.Path, values map[string]string) field.ErrorList {
	var errs field.ErrorList
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if strings.HasPrefix(key, reservedPrefix) {
			errs = append(errs, field.Forbidden(path.Key(key), fmt.Sprintf("must not begin with '%s'", reservedPrefix)))
		}
	}
	return errs
}

func validateTolerations(path *field.Path, tolerations []corev1.Toleration) field.ErrorList {
	var errs field.ErrorList
	for i := range tolerations {
		errs = append(errs, validateToleration(path.Index(i), &tolerations[i])...)
	}
	return errs
}

func validateToleration(path *field.Path, toleration *corev1.Toleration) field.ErrorList {
	errs := validateOneOf(path.Child("operator"), toleration.Operator, "", corev1.TolerationOpEqual, corev1.TolerationOpExists)
	errs = append(errs, validateOneOf(path.Child("effect"), toleration.Effect, "",
		corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute)...)
	if toleration.Key != "" {
		errs = append(errs, metav1validation.ValidateLabelName(toleration.Key, path.Child("key"))...)
	} else if toleration.Operator != corev1.TolerationOpExists {
		errs = append(errs, field.Required(path.Child("key"), "must be set unless operator is 'Exists'"))
	}
	if toleration.TolerationSeconds != nil && toleration.Effect != corev1.TaintEffectNoExecute {
		errs = append(errs, field.Forbidden(path.Child("tolerationSeconds"), "must not be set unless effect is 'NoExecute'"))
	}
	return append(errs, validateTolerationValue(path.Child("value"), toleration)...)
}

func validateTolerationValue(path *field.Path, toleration *corev1.Toleration) field.ErrorList {
	if toleration.Operator == corev1.TolerationOpExists && toleration.Value != "" {
		return field.ErrorList{field.Forbidden(path, "must not be set when operator is 'Exists'")}
	}
	return problems(path, toleration.Value, validation.IsValidLabelValue(toleration.Value))
}

func validateName(path *field.Path, name string) field.ErrorList {
	return problems(path, name, validation.IsDNS1123Subdomain(name))
}

func problems(path *field.Path, value string, details []string) field.ErrorList {
	var errs field.ErrorList
	for _, detail := range details {
		errs = append(errs, field.Invalid(path, value, detail))
	}
	return errs
}
