// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/hack/gitserver"
)

// authority is whom the deployment trusts in every test.
var authority *gitserver.Authority

// trustingAuthority returns the line of the settings that says so.
func trustingAuthority() string { return fmt.Sprintf("setup: {extraCA: %q}", authority.CA()) }

// withAuthority runs the tests on a deployment that trusts the authority. It is
// told before the first of them, since another setting rolls the managers.
func withAuthority(tests func() int) (code int, err error) {
	if authority, err = gitserver.NewAuthority(); err != nil {
		return 0, err
	}
	ctx := context.Background()
	before, err := renderWith(ctx)
	if err != nil {
		return 0, err
	}
	during, err := renderWith(ctx, trustingAuthority())
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, install(ctx, before)) }()
	if err := install(ctx, during); err != nil {
		return 0, err
	}
	return tests(), nil
}

// startGit starts servers of repositories on this machine, at the address at
// which pods reach the cluster's first node: the machine must be this node.
func startGit(t *testing.T) *gitserver.Server {
	t.Helper()
	var nodes corev1.NodeList
	if err := cluster.List(t.Context(), &nodes); err != nil {
		t.Fatal(err)
	}
	for _, address := range nodes.Items[0].Status.Addresses {
		if address.Type == corev1.NodeInternalIP {
			return gitserver.Start(t, gitserver.Options{Address: address.Address, Authority: authority})
		}
	}
	t.Fatalf("node %s has no InternalIP", nodes.Items[0].Name)
	return nil
}

// secret makes a Secret with the credential of repositories.
func secret(t *testing.T, namespace, name string, data map[string]string) {
	t.Helper()
	create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, StringData: data})
}

// cloned returns a repository resource. Its Secret's name is empty if it needs
// none.
func cloned(name, url, secret string, change func(*orcav1alpha1.GitRepositoryResource)) orcav1alpha1.SessionResource {
	repository := orcav1alpha1.GitRepositoryResource{URL: url}
	repository.Credentials.SecretRef.Name = secret
	if change != nil {
		change(&repository)
	}
	return orcav1alpha1.SessionResource{Name: name, GitRepository: repository}
}
