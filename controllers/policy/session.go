// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/layout"
	"github.com/orca-agent-engine/orca-operator/controllers/settings"
)

type sessionRule func(*orcav1alpha1.OrcaSession, settings.Effective) Violations

var sessionRules = []sessionRule{
	filesWithinLimit,
	commandPresent,
	kindsSupported,
	filePathsValid,
	skillsReserved,
	writableRootsApart,
	filesAreNoDirectories,
	filesDistinct,
}

// Session returns what keeps a session from starting.
func Session(session *orcav1alpha1.OrcaSession, settings settings.Effective) Violations {
	var out Violations
	for _, rule := range sessionRules {
		out = append(out, rule(session, settings)...)
	}
	return out
}

func filesWithinLimit(session *orcav1alpha1.OrcaSession, settings settings.Effective) Violations {
	limit, count := int(settings.Limits.Files), 0
	for _, resource := range session.Spec.Resources {
		if resource.Kind() == orcav1alpha1.ResourceKindFile {
			count++
		}
	}
	if count <= limit {
		return nil
	}
	cause := field.TooMany(field.NewPath("spec", "resources"), count, limit)
	cause.Detail = fmt.Sprintf("must have at most %d files", limit)
	return Violations{{Reason: orcav1alpha1.ReasonLimitExceeded, Cause: cause}}
}

func commandPresent(session *orcav1alpha1.OrcaSession, deployment settings.Effective) Violations {
	if len(session.Spec.Command)+len(deployment.Sandbox.Command) > 0 || deployment.Mode != settings.ModeColocated {
		return nil
	}
	return Violations{{
		Reason: orcav1alpha1.ReasonInvalidSpec,
		Cause:  field.Required(field.NewPath("spec", "command"), "the deployment has no command of its own"),
	}}
}

// kindsSupported refuses, rather than ignores, what no sandbox gives yet.
func kindsSupported(session *orcav1alpha1.OrcaSession, _ settings.Effective) Violations {
	var out Violations
	for i, resource := range session.Spec.Resources {
		path := resourcePath(i)
		refuse := func(path *field.Path, reason, kind string) {
			cause := field.Forbidden(path, kind+" are not supported by this version")
			out = append(out, Violation{Reason: reason, Resource: resource.Name, Cause: cause})
		}
		if resource.File.Source.Artifact != nil {
			refuse(path.Child("file", "source", "artifact"), orcav1alpha1.ReasonFileUnavailable, "files from the artifact store")
		}
	}
	return out
}

// placed is a file resource whose path is known, or why it has none.
type placed struct {
	resource string
	// at is the file's field, from what its path comes from.
	at, from *field.Path
	path     string
	err      error
}

// placeFiles derives the path of every file that has a source of a supported
// kind.
func placeFiles(session *orcav1alpha1.OrcaSession) []placed {
	var out []placed
	for i, resource := range session.Spec.Resources {
		file := resource.File
		if file.Source.ConfigMapKeyRef.Key == "" {
			continue
		}
		at := resourcePath(i).Child("file")
		from := at
		if file.MountPath != "" {
			from = at.Child("mountPath")
		}
		path, err := layout.File(file.FileID, file.Filename, file.Source.ConfigMapKeyRef.Key, file.MountPath)
		out = append(out, placed{resource: resource.Name, at: at, from: from, path: path, err: err})
	}
	return out
}

func filePathsValid(session *orcav1alpha1.OrcaSession, _ settings.Effective) Violations {
	return filter(placeFiles(session), orcav1alpha1.ReasonInvalidSpec, func(p placed) *field.Error {
		broken, is := errors.AsType[*layout.FileError](p.err)
		if !is {
			return nil
		}
		return field.Invalid(partPath(p.at, broken.Part), broken.Value, broken.Rule.Error())
	})
}

// partPath returns where a session says a part of a file.
func partPath(file *field.Path, part layout.FilePart) *field.Path {
	if part == layout.Key {
		return file.Child("source", "configMapKeyRef", "key")
	}
	return file.Child(string(part))
}

func skillsReserved(session *orcav1alpha1.OrcaSession, _ settings.Effective) Violations {
	return filter(placeFiles(session), orcav1alpha1.ReasonReservedRoot, func(p placed) *field.Error {
		if p.err != nil || !layout.Overlap(p.path, layout.Skills) {
			return nil
		}
		return field.Invalid(p.from, p.path, "must not overlap '"+layout.Skills+"', which is reserved")
	})
}

func writableRootsApart(session *orcav1alpha1.OrcaSession, settings settings.Effective) Violations {
	roots := layout.WritableRoots(!settings.Sandbox.SharedMemory.IsZero())
	return filter(placeFiles(session), orcav1alpha1.ReasonOverlappingRoots, func(p placed) *field.Error {
		for _, root := range roots {
			if p.err == nil && layout.Overlap(p.path, root) {
				return field.Invalid(p.from, p.path, "must not overlap '"+root+"', which is writable")
			}
		}
		return nil
	})
}

// filesAreNoDirectories refuses files where every sandbox has a directory: setup
// could not make both.
func filesAreNoDirectories(session *orcav1alpha1.OrcaSession, settings settings.Effective) Violations {
	directories := layout.SealedDirectories(!settings.Sandbox.SharedMemory.IsZero())
	return filter(placeFiles(session), orcav1alpha1.ReasonMountConflict, func(p placed) *field.Error {
		for _, directory := range directories {
			if p.err == nil && layout.Contains(p.path, directory) {
				return field.Invalid(p.from, p.path, "must not be at or above '"+directory+"', which is a directory")
			}
		}
		return nil
	})
}

func filesDistinct(session *orcav1alpha1.OrcaSession, _ settings.Effective) Violations {
	first := map[string]string{}
	return filter(placeFiles(session), orcav1alpha1.ReasonMountConflict, func(p placed) *field.Error {
		if p.err != nil {
			return nil
		}
		if other, taken := first[p.path]; taken {
			return field.Invalid(p.from, p.path, fmt.Sprintf("must not have the path of resource '%s'", other))
		}
		first[p.path] = p.resource
		return nil
	})
}

// filter returns a violation for each file that a rule has a cause against.
func filter(files []placed, reason string, rule func(placed) *field.Error) Violations {
	var out Violations
	for _, file := range files {
		if cause := rule(file); cause != nil {
			out = append(out, Violation{Reason: reason, Resource: file.resource, Cause: cause})
		}
	}
	return out
}

func resourcePath(i int) *field.Path {
	return field.NewPath("spec", "resources").Index(i)
}
