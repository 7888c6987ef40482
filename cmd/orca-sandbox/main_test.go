// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// binary is the program under test, built by TestMain.
var binary string

// TestMain builds the program. The test binary has two more roles, told by its
// environment: it turns itself into a container, and it is an agent in one.
func TestMain(m *testing.M) {
	if spec, set := os.LookupEnv(containerVariable); set {
		fmt.Fprintln(os.Stderr, "making the container:", enterContainer(spec))
		os.Exit(1)
	}
	if role, set := os.LookupEnv(agentVariable); set {
		os.Exit(agents[role]())
	}
	os.Exit(testAll(m))
}

func testAll(m *testing.M) int {
	folder, err := os.MkdirTemp("", "orca-sandbox-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	binary = filepath.Join(folder, "orca-sandbox")
	if err := build(folder); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// build builds the program as it is shipped, or with the race detector if the
// tests have it.
func build(folder string) error {
	if err := os.Chmod(folder, 0o755); err != nil { // Other users execute it.
		return err
	}
	arguments := []string{"build", "-buildvcs=false", "-o", binary}
	variables := append(os.Environ(), "CGO_ENABLED=0")
	if raceDetector {
		arguments = append(arguments, "-race")
		variables = append(os.Environ(), "CGO_ENABLED=1")
	}
	command := exec.Command("go", append(arguments, ".")...)
	command.Env = variables
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("building the program: %w\n%s", err, output)
	}
	return nil
}

// execute runs the program outside a container.
func execute(t *testing.T, arguments ...string) (output string, exitCode int) {
	t.Helper()
	command := exec.CommandContext(t.Context(), binary, arguments...)
	combined, err := command.CombinedOutput()
	if command.ProcessState == nil {
		t.Fatal(err)
	}
	return string(combined), command.ProcessState.ExitCode()
}

func TestCommandLinesThatMakeNoSenseGetTheUsage(t *testing.T) {
	complete := []string{"run", "--manifest=m", "--manifest-digest=d"}
	for name, tc := range map[string]struct {
		arguments []string
		want      string
	}{
		"no subcommand":                  {nil, "a subcommand is required"},
		"help is asked for":              {[]string{"--help"}, "Usage:"},
		"help of a subcommand":           {[]string{"run", "--help"}, "Usage:"},
		"an unknown subcommand":          {[]string{"collect"}, `unknown subcommand "collect"`},
		"an unknown flag":                {append(slices.Clone(complete), "--policy=off"), "flag provided but not defined: -policy"},
		"a flag of another subcommand":   {append(slices.Clone(complete), "--sealed=/x"), "flag provided but not defined: -sealed"},
		"an argument beside the flags":   {append(slices.Clone(complete), "sh"), `unexpected argument "sh"`},
		"run without a digest":           {complete[:2], "--manifest-digest is required"},
		"run with an empty manifest":     {[]string{"run", "--manifest=", "--manifest-digest=d"}, "--manifest is required"},
		"setup without a folder":         {[]string{"setup", "--manifest=m", "--manifest-digest=d", "--inputs=i", "--bin=b", "--work=w"}, "--sealed is required"},
		"setup without a work folder":    {[]string{"setup", "--manifest=m", "--manifest-digest=d", "--inputs=i", "--bin=b", "--sealed=s"}, "--work is required"},
		"exec without a program":         {[]string{"exec", "--manifest-digest=d", "--"}, "a program to execute is required"},
		"exec without a digest":          {[]string{"exec", "--", "true"}, "--manifest-digest is required"},
		"an argument for started":        {[]string{"started", "now"}, `unexpected argument "now"`},
		"a dash that looks like a value": {[]string{"-"}, `unknown subcommand "-"`},
	} {
		t.Run(name, func(t *testing.T) {
			output, exitCode := execute(t, tc.arguments...)
			if exitCode != 2 || !strings.Contains(output, tc.want) || !strings.Contains(output, "orca-sandbox started") {
				t.Errorf("exit code %d, output:\n%s\nwant exit code 2, %q and the usage", exitCode, output, tc.want)
			}
		})
	}
}

func TestRunRefusesToBeAnythingButProcess1(t *testing.T) {
	output, exitCode := execute(t, "run", "--manifest=m", "--manifest-digest=d")
	if exitCode != 125 || !strings.Contains(output, "run must be process 1 of a container") {
		t.Errorf("exit code %d, output: %s", exitCode, output)
	}
}

func TestStartedFailsWhereProcess1IsNotTheLauncher(t *testing.T) {
	output, exitCode := execute(t, "started")
	if exitCode != 1 || !strings.Contains(output, "not the launcher") || strings.Count(output, "\n") != 1 {
		t.Errorf("exit code %d, want 1; output, which must be one line: %s", exitCode, output)
	}
}

func TestTheProgramIsStatic(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector links dynamically")
	}
	output, err := exec.Command("go", "version", "-m", binary).CombinedOutput()
	if err != nil || !strings.Contains(string(output), "CGO_ENABLED=0") {
		t.Errorf("error %v, build settings:\n%s", err, output)
	}
}
