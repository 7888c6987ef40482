// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"bytes"
	"context"
	"fmt"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// carrier carries the pair that the replicas share from their Secret into the
// folder that it is served from, once the API servers trust it.
type carrier struct {
	client  client.Reader
	folder  *Folder
	options Options
	clock   clock.PassiveClock

	// waiting is a trusted certificate that isn't served yet, since when.
	waiting []byte
	since   time.Time
}

// setup makes every replica look at each change of the pair and of what the
// API servers trust.
func (c *carrier) setup(mgr ctrl.Manager) error {
	same := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: c.options.secret()}}
	})
	return ctrl.NewControllerManagedBy(mgr).
		Named("webhook-certificates").
		Watches(&corev1.Secret{}, same).
		Watches(&admissionregistrationv1.ValidatingWebhookConfiguration{}, same).
		WithOptions(controller.Options{NeedLeaderElection: new(false)}).
		Complete(c)
}

// Reconcile serves the pair in the Secret if it is time to.
func (c *carrier) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	secret := &corev1.Secret{}
	if err := c.client.Get(ctx, c.options.secret(), secret); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	cert, key := secret.Data[certFile], secret.Data[keyFile]
	if c.folder.has(cert) {
		return reconcile.Result{}, nil
	}
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	if err := c.client.Get(ctx, client.ObjectKey{Name: Configuration}, configuration); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	next, err := leaf(cert, key)
	if err != nil || trusted(configuration, next, c.clock.Now()) != nil {
		return reconcile.Result{}, nil // What is missing comes with a change.
	}
	if left := c.settling(cert, configuration); left > 0 {
		return reconcile.Result{RequeueAfter: left}, nil
	}
	if err := c.folder.put(cert, key); err != nil {
		return reconcile.Result{}, err
	}
	ctrl.LoggerFrom(ctx).Info("Serving the webhooks with a new certificate", "until", next.NotAfter)
	return reconcile.Result{}, nil
}

// settling returns how long a trusted certificate waits. It doesn't where the
// one that is served is of no use.
func (c *carrier) settling(cert []byte, configuration *admissionregistrationv1.ValidatingWebhookConfiguration) time.Duration {
	if !bytes.Equal(c.waiting, cert) {
		c.waiting, c.since = cert, c.clock.Now()
	}
	if c.folder.check(configuration, c.clock.Now()) != nil {
		return 0
	}
	return c.options.settle() - c.clock.Since(c.since)
}

// check returns why API servers would not trust what is served.
func (f *Folder) check(configuration *admissionregistrationv1.ValidatingWebhookConfiguration, now time.Time) error {
	pair, err := f.GetCertificate(nil)
	if err != nil {
		return err
	}
	if pair == nil || pair.Leaf == nil {
		return fmt.Errorf("the folder %s: %w", f.path, errNotInPlace)
	}
	return trusted(configuration, pair.Leaf, now)
}
