// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/orca-agent-engine/orca-operator/controllers/layout"
	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

// agentVariable makes the test binary an agent of the given role.
const agentVariable = "ORCA_TEST_AGENT"

// agents are the roles. Each returns its exit code.
var agents = map[string]func() int{
	"report":   reportAgent,
	"orphans":  orphansAgent,
	"signals":  signalsAgent,
	"denied":   deniedAgent,
	"streams":  streamsAgent,
	"matrix":   matrixAgent,
	"hostile":  hostileAgent,
	"apart":    apartAgent,
	"onto":     ontoSocketAgent,
	"stress":   stressAgent,
	"obstruct": obstructAgent,
}

// writableRoots are those of every sandbox of the tests.
var writableRoots = layout.WritableRoots(true)

// agent returns the manifest of a sandbox whose agent has a role.
func agent(role string, arguments ...string) manifest.Sandbox {
	sandbox := empty()
	sandbox.Command, sandbox.Args = []string{agentProgram}, arguments
	sandbox.Env = []manifest.EnvVar{{Name: agentVariable, Value: role}}
	return sandbox
}

// shell returns the manifest of a sandbox whose agent is a shell script.
func shell(script string) manifest.Sandbox {
	sandbox := empty()
	sandbox.Command, sandbox.Args = []string{"sh", "-c"}, []string{script}
	return sandbox
}

// empty returns the manifest of a sandbox without an agent process.
func empty() manifest.Sandbox {
	return manifest.Sandbox{
		WritableRoots:   writableRoots,
		LifetimeSeconds: 3600, GracePeriodSeconds: 3600,
	}
}

// report is what an agent finds around itself.
type report struct {
	Arguments, Environment []string
	Folder                 string
}

func reportAgent() int {
	arguments, err := zeroTerminated("/proc/self/cmdline")
	if err != nil {
		return fail(err)
	}
	variables, err := zeroTerminated("/proc/self/environ")
	if err != nil {
		return fail(err)
	}
	folder, err := os.Getwd()
	if err != nil {
		return fail(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(report{arguments, variables, folder}); err != nil {
		return fail(err)
	}
	return 0
}

// zeroTerminated reads a file of strings that each end in a zero byte.
func zeroTerminated(path string) ([]string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(content), "\x00"), "\x00"), nil
}

// orphansAgent leaves 30 processes to process 1, kills them and waits until
// none is left, not even as a zombie. Its exit code differs from theirs.
func orphansAgent() int {
	script := `i=0; while [ $i -lt 30 ]; do setsid sleep 3600 & i=$((i+1)); done`
	if err := exec.Command("sh", "-c", script).Run(); err != nil {
		return fail(err)
	}
	if count := countProcesses(); count != 32 {
		return fail(fmt.Errorf("%d processes, want process 1, this one and 30 orphans", count))
	}
	if err := syscall.Kill(-1, syscall.SIGKILL); err != nil {
		return fail(err)
	}
	for deadline := time.Now().Add(patience / 2); countProcesses() > 2; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			return fail(fmt.Errorf("%d processes are left, want process 1 and this one", countProcesses()))
		}
	}
	return 3
}

// countProcesses counts all processes of the container, zombies too.
func countProcesses() int {
	entries, _ := filepath.Glob("/proc/[0-9]*")
	return len(entries)
}

// signalsAgent prints each signal that it gets, and ends after SIGTERM.
func signalsAgent() int {
	received := make(chan os.Signal, 64)
	signal.Notify(received)
	signal.Reset(syscall.SIGURG)
	fmt.Println("ready")
	for s := range received {
		fmt.Println("signal", strconv.Itoa(int(s.(syscall.Signal))))
		if s == syscall.SIGTERM {
			return 0
		}
	}
	return 1
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, "agent:", err)
	return 99
}
