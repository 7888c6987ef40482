// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/open-policy-agent/cert-controller/pkg/rotator"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// lifetimesOfCA is how many lifetimes of a certificate its CA is valid for.
	lifetimesOfCA = 4
	// maxCheck is how often, at least, it is looked whether to renew.
	maxCheck = 12 * time.Hour
)

// rotate makes the leader keep the pair in the Secret valid and its CA
// published in the configuration.
func rotate(mgr ctrl.Manager, o Options) error {
	err := rotator.AddRotator(newKeeper(mgr), &rotator.CertRotator{
		SecretKey:              o.secret(),
		CertDir:                o.Folder,
		CAName:                 "orca-webhook-ca",
		CAOrganization:         "orca",
		DNSName:                service + "." + o.Namespace + ".svc",
		IsReady:                make(chan struct{}),
		Webhooks:               []rotator.WebhookInfo{{Name: Configuration, Type: rotator.Validating}},
		RequireLeaderElection:  true,
		ServerCertDuration:     o.Lifetime,
		CaCertDuration:         lifetimesOfCA * o.Lifetime,
		LookaheadInterval:      o.lookahead(),
		RotationCheckFrequency: min(maxCheck, o.lookahead()/4),
	})
	if err != nil {
		return fmt.Errorf("setting up the rotation of certificates: %w", err)
	}
	return nil
}

// keeper is the manager as the rotator sees it: one that looks at no objects
// but the two it needs, and doesn't forget a CA that pairs in use are signed by.
type keeper struct {
	ctrl.Manager
	config *rest.Config
	client client.Client
}

func newKeeper(mgr ctrl.Manager) *keeper {
	config := rest.CopyConfig(mgr.GetConfig())
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return narrow{next} })
	return &keeper{mgr, config, keepingClient{mgr.GetClient(), mgr.GetAPIReader(), clock.RealClock{}}}
}

// GetConfig is what the rotator's cache is made from.
func (k *keeper) GetConfig() *rest.Config { return k.config }

// GetClient is what the rotator writes by.
func (k *keeper) GetClient() client.Client { return k.client }

// narrow asks for one object by name where the rotator's cache asks for all of
// its kind: the manager's role lets it see no others.
type narrow struct{ next http.RoundTripper }

func (n narrow) RoundTrip(request *http.Request) (*http.Response, error) {
	for suffix, name := range map[string]string{"/secrets": SecretName, "/validatingwebhookconfigurations": Configuration} {
		if request.Method == http.MethodGet && strings.HasSuffix(request.URL.Path, suffix) {
			request = request.Clone(request.Context())
			query := request.URL.Query()
			query.Set("fieldSelector", "metadata.name="+name)
			request.URL.RawQuery = query.Encode()
		}
	}
	return n.next.RoundTrip(request)
}

// keepingClient stores a new CA together with the one before, so that the API
// servers trust pairs of both until every replica serves the new one.
type keepingClient struct {
	client.Client
	live  client.Reader
	clock clock.PassiveClock
}

// Update stores an object.
func (c keepingClient) Update(ctx context.Context, object client.Object, options ...client.UpdateOption) error {
	if secret, is := object.(*corev1.Secret); is {
		before := &corev1.Secret{}
		if err := c.live.Get(ctx, client.ObjectKeyFromObject(secret), before); err != nil {
			return fmt.Errorf("reading the CA so far: %w", err)
		}
		secret.Data[caFile] = chain(secret.Data[caFile], before.Data[caFile], c.clock.Now())
	}
	return c.Client.Update(ctx, object, options...)
}
