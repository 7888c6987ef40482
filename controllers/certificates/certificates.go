// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package certificates gives the webhook server a certificate that API servers
// trust. The server takes it from a folder, whoever puts it there: a volume
// that somebody else fills, as cert-manager does, or the manager itself, which
// keeps a pair that all replicas share in a Secret.
package certificates

import (
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The names of the objects that the manager is installed with.
const (
	// Configuration is the ValidatingWebhookConfiguration whose caBundle tells
	// the API servers whom to trust.
	Configuration = "orca-admission"
	// SecretName is the Secret that the replicas share their pair in.
	SecretName = "orca-webhook-certificates"
	// service is what the API servers call.
	service = "orca-webhook"
)

const (
	certFile = corev1.TLSCertKey
	keyFile  = corev1.TLSPrivateKeyKey
	// caFile has the CA that signs, and the one before it.
	caFile = "ca.crt"
)

// Options say where certificates come from and go to.
type Options struct {
	// Folder is where tls.crt and tls.key are served from.
	Folder string
	// Namespace is the manager's own, with its Secret and its Service.
	Namespace string
	// Lifetime is how long a certificate of the manager's own is valid. It is
	// renewed when a third is left.
	Lifetime time.Duration
}

// lookahead is how much of a lifetime is left when a certificate is renewed.
func (o Options) lookahead() time.Duration { return o.Lifetime / 3 }

// settle is how long API servers have to hear of a CA before the pair that it
// signed is served.
func (o Options) settle() time.Duration { return min(10*time.Second, o.Lifetime/20) }

func (o Options) secret() types.NamespacedName {
	return types.NamespacedName{Namespace: o.Namespace, Name: SecretName}
}

// Cached keeps to the two objects what the manager watches of their kinds: its
// role lets it see no others.
func (o Options) Cached() map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{
		&corev1.Secret{}: {
			Namespaces: map[string]cache.Config{o.Namespace: {}},
			Field:      fields.OneTermEqualSelector("metadata.name", SecretName),
		},
		&admissionregistrationv1.ValidatingWebhookConfiguration{}: {
			Field: fields.OneTermEqualSelector("metadata.name", Configuration),
		},
	}
}
