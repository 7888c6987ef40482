// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/machine"
)

// leanOptions leave out what no program reads at run time.
var leanOptions = []string{
	"--variant=essential",
	"--dpkgopt=path-exclude=/usr/share/man/*",
	"--dpkgopt=path-exclude=/usr/share/info/*",
	"--dpkgopt=path-exclude=/usr/share/locale/*",
	"--dpkgopt=path-exclude=/usr/share/doc/*",
	"--dpkgopt=path-include=/usr/share/doc/*/copyright",
}

// rootfsKey names the cached root file system of these packages.
func rootfsKey(suite string, packages []string) string {
	sorted := slices.Sorted(slices.Values(packages))
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", suite, sorted, leanOptions))
	return hex.EncodeToString(sum[:8])
}

// rootfs gives the tar file of a root file system, made on first use.
func (b Builder) rootfs(ctx context.Context, suite string, packages []string) (path string, err error) {
	path = filepath.Join(b.Layout.ImageCache(), "rootfs-"+rootfsKey(suite, packages)+".tar")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := machine.Ensure(ctx, machine.RootfsNeeds(), b.Progress); err != nil {
		return "", err
	}
	defer b.Progress.Step("making a root file system of Debian " + suite + " with " + strings.Join(packages, ", "))(&err)
	tmp := strings.TrimSuffix(path, ".tar") + ".tmp.tar"
	if err := os.MkdirAll(b.Layout.ImageCache(), 0o755); err != nil {
		return "", err
	}
	if err := bootstrap(ctx, suite, packages, tmp); err != nil {
		return "", fmt.Errorf("making a root file system: %w", err)
	}
	return path, os.Rename(tmp, path)
}

func bootstrap(ctx context.Context, suite string, packages []string, target string) error {
	args := append([]string{"SOURCE_DATE_EPOCH=1", "mmdebstrap", "--quiet"}, leanOptions...)
	args = append(args, "--include="+strings.Join(packages, ","), suite, target)
	_, err := machine.Run(ctx, "env", args...)
	return err
}
