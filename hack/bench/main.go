// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Command bench measures what a sandbox's enforcement costs. It runs the same
// work in one sandbox, on the same volumes, in turn with and without the
// launcher's layers, and prints a table of the medians and their ratio.
// Machines are noisy: the ratios within one run mean something, the times
// don't. KUBECONFIG names a cluster with the operator in it; kubectl must be on
// the PATH.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed session.yaml
var manifests string

// work is what is measured. Prepare runs once; Script runs in a new, empty
// directory each time, whose removal isn't measured.
type work struct {
	name, prepare, folder, script string
}

const createFiles = `python3 -c "
for i in range(20000):
    with open(str(i), 'w') as f: f.write('x' * 1024)"`

var works = []work{
	{"20,000 files of 1 KiB in /tmp", "", "/tmp/bench", createFiles},
	{"20,000 files of 1 KiB in the outputs", "", "/mnt/session/outputs/bench", createFiles},
	{
		"tar -x of 50,000 files into the outputs",
		`mkdir /tmp/many && cd /tmp/many && python3 -c "
import os
for i in range(50000):
    if i % 500 == 0: os.mkdir(str(i // 500))
    open(f'{i // 500}/{i}', 'w').write('x' * 200)" && tar -cf /tmp/many.tar . && cd / && rm -rf /tmp/many`,
		"/mnt/session/outputs/bench", `tar -xf /tmp/many.tar`,
	},
	{
		"git clone of 20,000 files into the outputs",
		`mkdir /tmp/repository && cd /tmp/repository && git init -q && python3 -c "
import os
for i in range(20000):
    if i % 500 == 0: os.mkdir(str(i // 500))
    open(f'{i // 500}/{i}', 'w').write(str(i) * 50)" && git add -A && git -c user.name=b -c user.email=b@b.test commit -qm all && git gc -q`,
		"/mnt/session/outputs/bench", `git clone -q file:///tmp/repository .`,
	},
	{
		"compiling Python's library", `cp -r /usr/lib/python3*/ /tmp/library`,
		"/tmp/bench", `PYTHONPYCACHEPREFIX=$PWD python3 -m compileall -q /tmp/library >/dev/null; true`,
	},
}

// layers are the two ways in which a program is executed in the sandbox.
var layers = map[string][]string{
	"mounts alone": {"bash", "-c"},
	"all layers":   {"/orca/bin/orca-sandbox", "exec", "--", "bash", "-c"},
}

func main() {
	rounds := flag.Int("rounds", 5, "how often each is measured")
	flag.Parse()
	if err := run(context.Background(), *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, rounds int) (err error) {
	if _, err := kubectl(ctx, manifests, "apply", "-f", "-"); err != nil {
		return err
	}
	defer func() {
		_, gone := kubectl(ctx, manifests, "delete", "-f", "-")
		err = errors.Join(err, gone)
	}()
	if _, err := kubectl(ctx, "", "wait", "orcasession/bench", "--for=jsonpath={.status.state}=Running", "--timeout=2m"); err != nil {
		return err
	}
	pod, err := kubectl(ctx, "", "get", "orcasession/bench", "-o", "jsonpath={.status.podName}")
	if err != nil {
		return err
	}
	fmt.Printf("| | mounts alone | all layers | ratio |\n|---|---:|---:|---:|\n")
	for _, w := range works {
		if err := measure(ctx, pod, w, rounds); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
	}
	return nil
}

// measure prints a row of the table.
func measure(ctx context.Context, pod string, w work, rounds int) error {
	if w.prepare != "" {
		if _, err := inSandbox(ctx, pod, layers["mounts alone"], w.prepare); err != nil {
			return err
		}
	}
	times := map[string][]time.Duration{}
	for range rounds {
		for name, layer := range layers {
			took, err := once(ctx, pod, w, layer)
			if err != nil {
				return err
			}
			times[name] = append(times[name], took)
		}
	}
	bare, all := median(times["mounts alone"]), median(times["all layers"])
	fmt.Printf("| %s | %s | %s | %.2f |\n", w.name, bare.Round(time.Millisecond), all.Round(time.Millisecond), float64(all)/float64(bare))
	return nil
}

// once runs a script under the given layers. The time is taken inside, so that
// the way there isn't measured.
func once(ctx context.Context, pod string, w work, layer []string) (time.Duration, error) {
	script := fmt.Sprintf(`set -e; mkdir %[1]s; cd %[1]s; start=$(date +%%s%%N); %[2]s
end=$(date +%%s%%N); cd /; echo $((end - start))`, w.folder, w.script)
	out, err := inSandbox(ctx, pod, layer, script)
	if err != nil {
		return 0, err
	}
	if _, err := inSandbox(ctx, pod, layers["mounts alone"], "rm -rf "+w.folder); err != nil {
		return 0, err
	}
	nanoseconds, err := strconv.ParseInt(strings.TrimSpace(out), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("reading the time: %w", err)
	}
	return time.Duration(nanoseconds), nil
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

func inSandbox(ctx context.Context, pod string, layer []string, script string) (string, error) {
	return kubectl(ctx, "", slices.Concat([]string{"exec", pod, "--container", "sandbox", "--"}, layer, []string{script})...)
}

func kubectl(ctx context.Context, input string, args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(ctx, "kubectl", args...)
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(input), &stdout, &stderr
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("kubectl %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}
