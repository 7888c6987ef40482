// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Command orca-cluster runs a single-node Kubernetes cluster on this machine,
// built from source.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/cluster"
	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/component"
	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/layout"
	"github.com/orca-agent-engine/orca-operator/hack/cluster/internal/progress"
)

const usage = `usage: orca-cluster COMMAND [--dir DIR]

  up                    start the cluster, or whatever of it does not run
  down                  end it and remove all of it
  images [NAME...]      make the images of hack/cluster/images.yaml and import them
  status                list the components
  build [--only A,B]    build the programs without starting anything

--dir is the state folder, .orca under the repository's root by default.
`

func main() {
	if len(os.Args) > 1 && os.Args[1] == component.LaunchCommand {
		fail(component.Launch(os.Args[2:]))
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	err := run(ctx, os.Args[1:])
	if err != nil && ctx.Err() != nil {
		err = errors.New("interrupted; the same command goes on where it was")
	}
	if err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "orca-cluster:", err)
	os.Exit(1)
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	command, args := args[0], args[1:]
	flags := flag.NewFlagSet("orca-cluster "+command, flag.ExitOnError)
	flags.Usage = func() { fmt.Fprint(os.Stderr, usage) }
	dir := flags.String("dir", "", "state folder")
	var only string
	if command == "build" {
		flags.StringVar(&only, "only", "", "programs, separated by commas")
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	places, err := layout.New(*dir)
	if err != nil {
		return err
	}
	c := &cluster.Cluster{Layout: places, Progress: progress.Printer{Out: os.Stderr}}
	return dispatch(ctx, c, command, flags.Args(), splitList(only))
}

func dispatch(ctx context.Context, c *cluster.Cluster, command string, args, only []string) error {
	if len(args) > 0 && command != "images" {
		return fmt.Errorf("%s takes no arguments, got %q", command, args)
	}
	switch command {
	case "up":
		return c.Up(ctx)
	case "down":
		return c.Down(ctx)
	case "images":
		return c.Images(ctx, args)
	case "status":
		return c.Status(ctx, os.Stdout)
	case "build":
		return c.Build(ctx, only)
	}
	return fmt.Errorf("unknown command %q\n%s", command, usage)
}

func splitList(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}
