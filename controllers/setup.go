// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package controllers wires the operator's controllers together.
package controllers

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/orca-agent-engine/orca-operator/controllers/admission"
	"github.com/orca-agent-engine/orca-operator/controllers/environment"
	"github.com/orca-agent-engine/orca-operator/controllers/sandbox"
	"github.com/orca-agent-engine/orca-operator/controllers/session"
	"github.com/orca-agent-engine/orca-operator/controllers/settings"
)

// Setup registers every controller and webhook with a manager.
func Setup(ctx context.Context, mgr ctrl.Manager, settings *settings.Settings, workers int) error {
	environments := &environment.Reconciler{Client: mgr.GetClient(), Settings: settings, Clock: clock.RealClock{}}
	if err := environments.SetupWithManager(mgr); err != nil {
		return fmt.Errorf("setting up the environment controller: %w", err)
	}
	sessions := &session.Reconciler{
		Client:   mgr.GetClient(),
		Reader:   mgr.GetAPIReader(),
		Settings: settings,
		Recorder: mgr.GetEventRecorder("orca-manager"),
		Clock:    clock.RealClock{},
		Workers:  workers,
	}
	if err := sessions.SetupWithManager(ctx, mgr); err != nil {
		return fmt.Errorf("setting up the session controller: %w", err)
	}
	admission.Setup(mgr, settings)
	return nil
}

// CacheOptions keep in memory only what the controllers read: the operator's
// own pods, without their specs and what their containers are told, and of
// claims that they are there.
func CacheOptions() (cache.Options, error) {
	ours, err := labels.NewRequirement(sandbox.LabelSessionUID, selection.Exists, nil)
	if err != nil {
		return cache.Options{}, fmt.Errorf("selecting the operator's pods: %w", err)
	}
	return cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}:                   {Label: labels.NewSelector().Add(*ours), Transform: stripPod},
			&corev1.PersistentVolumeClaim{}: {Transform: stripClaim},
		},
	}, nil
}

func stripPod(object any) (any, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil
	}
	pod.ManagedFields = nil
	pod.Spec = corev1.PodSpec{}
	inputs, ok := pod.Annotations[sandbox.AnnotationInputs]
	pod.Annotations = nil
	if ok {
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, sandbox.AnnotationInputs, inputs)
	}
	return pod, nil
}

func stripClaim(object any) (any, error) {
	claim, ok := object.(*metav1.PartialObjectMetadata)
	if !ok {
		return object, nil
	}
	claim.ObjectMeta = metav1.ObjectMeta{
		Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID, ResourceVersion: claim.ResourceVersion,
		CreationTimestamp: claim.CreationTimestamp, DeletionTimestamp: claim.DeletionTimestamp,
	}
	return claim, nil
}
