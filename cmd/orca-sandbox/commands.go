// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"syscall"

	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/confine"
	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/probe"
	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/run"
	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/setup"
	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/termination"
	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/toolcall"
	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

func setupCommand(arguments []string) int {
	var options setup.Options
	flags := newFlags("setup")
	flags.StringVar(&options.Manifest, "manifest", "", "the manifest's `file`")
	flags.StringVar(&options.Digest, "manifest-digest", "", "the `digest` that the manifest must have")
	flags.StringVar(&options.Inputs, "inputs", "", "the `folder` with the files' content")
	flags.StringVar(&options.Sealed, "sealed", "", "the `folder` in which the read-only tree is made")
	flags.StringVar(&options.Work, "work", "", "the `folder` in memory in which nothing stays")
	flags.StringVar(&options.Bin, "bin", "", "the `folder` in which this program is installed")
	message := flags.String("termination-message", termination.DefaultPath, "the `file` for the result")
	if !parse(flags, arguments) {
		return exitUsage
	}
	syscall.Umask(0o022) // Git's modes are up to it.
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	result, exitCode := setUp(options, log)
	if err := leave(*message, result); err != nil {
		log.Error("the result is lost", "error", err)
	}
	return exitCode
}

// setUp does the work. Its result tells the operator, too, whether this node's
// kernel has Landlock: the agent's container, which runs on it as well, could
// not be believed.
func setUp(options setup.Options, log *slog.Logger) (result manifest.SetupResult, exitCode int) {
	commits, err := setup.Run(context.Background(), options, log)
	landlock := false
	if err == nil {
		landlock, err = confine.Landlock(nil)
	}
	if err != nil {
		log.Error("setup failed", "error", err)
		return setup.Result(err), 1
	}
	return manifest.SetupResult{Code: manifest.SetupPrepared, Landlock: landlock, Commits: commits}, 0
}

// leave writes the result of setup for the operator.
func leave(path string, result manifest.SetupResult) error {
	message, err := termination.Open(path)
	if err != nil {
		return err
	}
	return termination.Write(message, result)
}

func runCommand(arguments []string) int {
	var options run.Options
	flags := newFlags("run")
	flags.StringVar(&options.Manifest, "manifest", "", "the manifest's `file`")
	flags.StringVar(&options.Digest, "manifest-digest", "", "the `digest` that the manifest must have")
	if !parse(flags, arguments) {
		return exitUsage
	}
	return run.Main(options)
}

func execCommand(arguments []string) int {
	return toolCall("exec", arguments, toolcall.Run)
}

// execBackCommand is for exec alone.
func execBackCommand(arguments []string) int {
	return toolCall(toolcall.Subcommand, arguments, toolcall.Serve)
}

func toolCall(name string, arguments []string, work func(toolcall.Options) int) int {
	var options toolcall.Options
	flags := newFlags(name)
	flags.StringVar(&options.Manifest, "manifest", toolcall.DefaultManifest, "the manifest's `file`")
	flags.StringVar(&options.Digest, "manifest-digest", os.Getenv(toolcall.DigestVariable), "the `digest` that the manifest must have")
	if err := flags.Parse(arguments); err != nil {
		return exitUsage
	}
	if flags.NArg() == 0 {
		return refuse("a program to execute is required")
	}
	if !complete(flags) {
		return exitUsage
	}
	options.Command = flags.Args()
	return work(options)
}

// confineCommand is for the launcher alone, which starts itself with it.
func confineCommand([]string) int { return confine.Enter() }

func startedCommand(arguments []string) int {
	if !parse(newFlags("started"), arguments) {
		return exitUsage
	}
	stage, err := probe.Check()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if stage == probe.StartedByMounts {
		fmt.Println("the write policy is held by mounts only: the kernel has no Landlock")
	}
	return 0
}
