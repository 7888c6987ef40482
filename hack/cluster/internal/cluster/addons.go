// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/config"
	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/machine"
	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/pki"
)

// applyAddons brings in what the API server keeps: DNS, which runs as a pod and
// needs its images first, and the storage class. What was applied before is not
// applied again.
func (c *Cluster) applyAddons(ctx context.Context, manifests ...string) error {
	if err := c.importImages(ctx, []string{config.PauseImage, config.CoreDNSImage}); err != nil {
		return err
	}
	manifest := strings.Join(manifests, "---\n")
	sum := sha256.Sum256([]byte(manifest))
	applied, want := c.Layout.State("addons-applied"), hex.EncodeToString(sum[:])
	if got, err := os.ReadFile(applied); err == nil && string(got) == want {
		return nil
	}
	if err := c.kubectlApply(ctx, manifest); err != nil {
		return fmt.Errorf("applying DNS and the storage class: %w", err)
	}
	return replaceFile(applied, []byte(want))
}

// kubectlApply tries for a while: just after its start the API server may
// still lack the namespaces and roles that it makes by itself.
func (c *Cluster) kubectlApply(ctx context.Context, manifest string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return poll(ctx, func(ctx context.Context) error {
		_, err := machine.RunInput(ctx, manifest, c.Layout.Bin("kubectl"),
			"--kubeconfig", c.Layout.PKI(pki.Admin+".kubeconfig"),
			"apply", "--server-side", "--force-conflicts", "--field-manager=orca-cluster", "-f", "-")
		return err
	})
}
