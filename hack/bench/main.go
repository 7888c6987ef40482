// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Command bench measures what a sandbox's enforcement costs. It runs the same
// work in one sandbox, on the same volumes, in turn with and without the
// launcher's layers, and prints a table of the fastest runs and their ratio:
// what else a machine does only adds to a time. The ratios mean something on
// other machines too, the times don't. KUBECONFIG names a cluster with the operator in it, on nodes that can
// run this machine's Go; kubectl and go must be on the PATH.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
)

func main() {
	rounds := flag.Int("rounds", 3, "how often each is measured")
	page := flag.String("page", "", "a Markdown `file` that gets the table between its markers, instead of standard output")
	flag.Parse()
	if *rounds < 1 {
		fmt.Fprintf(os.Stderr, "bench: -rounds is %d, it must be at least 1\n", *rounds)
		os.Exit(2)
	}
	if err := run(context.Background(), *rounds, *page); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, rounds int, page string) (err error) {
	sandbox, stop, err := startSandbox(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	table, err := measureAll(ctx, sandbox, rounds)
	if err != nil {
		return err
	}
	if page == "" {
		fmt.Print(table)
		return nil
	}
	return update(page, table)
}
