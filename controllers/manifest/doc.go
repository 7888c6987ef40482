// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package manifest is what the operator and the program inside the sandbox
// tell each other: the documents that setup and run read, and the results that
// they leave behind.
//
// A document travels in a pod annotation and is read from a downward API file.
// Annotations can be edited on a live pod, so the digest of each document
// stands in the pod's spec, which can't be, and a reader refuses a document
// that has another one.
package manifest

// MaxBytes is what the documents of one sandbox may have together, but for what
// the deployment adds to them. Kubernetes
// allows 262,144 bytes for all annotations of an object; the rest is left to
// those that clusters add.
const MaxBytes = 196_608
