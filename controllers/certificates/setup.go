// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"sync/atomic"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
)

// NewFolder returns what serves the pair of a folder.
func NewFolder(o Options) *Folder { return &Folder{path: o.Folder} }

// Setup serves what is in the folder, and adds a readiness check to the manager
// that fails until API servers trust it. With a lifetime, the manager makes the
// certificates itself; without, somebody else fills the folder.
func Setup(mgr ctrl.Manager, folder *Folder, o Options) error {
	if err := mgr.Add(folder); err != nil {
		return fmt.Errorf("adding the server's certificates: %w", err)
	}
	if err := mgr.AddReadyzCheck("webhook-certificate", trustCheck(mgr.GetClient(), folder)); err != nil {
		return fmt.Errorf("adding the readiness check of certificates: %w", err)
	}
	if o.Lifetime == 0 {
		return nil
	}
	if err := os.MkdirAll(o.Folder, 0o700); err != nil {
		return fmt.Errorf("making the folder of the webhook's certificates: %w", err)
	}
	carrier := &carrier{client: mgr.GetClient(), folder: folder, options: o, clock: clock.RealClock{}}
	if err := carrier.setup(mgr); err != nil {
		return fmt.Errorf("setting up the controller of certificates: %w", err)
	}
	return rotate(mgr, o)
}

// trustCheck fails while an API server would not trust what is served. Who
// probes is not told why, so the log says it, once for each cause.
func trustCheck(reader client.Reader, folder *Folder) healthz.Checker {
	var said atomic.Value
	return func(request *http.Request) error {
		err := whetherTrusted(request.Context(), reader, folder)
		text := fmt.Sprint(err)
		if before := said.Swap(text); err != nil && before != text {
			ctrl.Log.Info("Not ready: API servers would not trust the webhooks", "cause", text)
		}
		return err
	}
}

func whetherTrusted(ctx context.Context, reader client.Reader, folder *Folder) error {
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	if err := reader.Get(ctx, client.ObjectKey{Name: Configuration}, configuration); err != nil {
		return fmt.Errorf("reading what API servers trust: %w", err)
	}
	return folder.check(configuration, clock.RealClock{}.Now())
}
