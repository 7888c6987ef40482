// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Command provisioner makes the local cluster's persistent volumes: each is a
// folder of the machine.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

// provisionerName is what the cluster's storage class asks for.
const provisionerName = "orca.dev/folder"

type options struct {
	kubeconfig, dir, node string
	port                  int
}

func main() {
	var o options
	flag.StringVar(&o.kubeconfig, "kubeconfig", "", "how to reach the API server")
	flag.StringVar(&o.dir, "dir", "", "the `folder` that holds those of the volumes")
	flag.StringVar(&o.node, "node", "", "the `name` of the only node")
	flag.IntVar(&o.port, "port", 0, "the `port` on loopback at which metrics are served")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o)
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "provisioner:", err)
		os.Exit(1)
	}
}

// run serves until the context ends.
func run(ctx context.Context, o options) error {
	if o.kubeconfig == "" || o.dir == "" || o.node == "" || flag.NArg() > 0 {
		return errors.New("--kubeconfig, --dir and --node are required, and nothing else")
	}
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return fmt.Errorf("making the folder of volumes: %w", err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return fmt.Errorf("reading %s: %w", o.kubeconfig, err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	controller.NewProvisionController(ctx, client, provisionerName, folders{dir: o.dir, node: o.node},
		controller.LeaderElection(false),
		controller.MetricsAddress("127.0.0.1"),
		controller.MetricsPort(int32(o.port)),
	).Run(ctx)
	return nil
}
