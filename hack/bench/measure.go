// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// layers are how a program is executed in the sandbox.
type layers []string

var (
	// bare leaves it with the container's mounts alone.
	bare = layers{"bash", "-c"}
	// full puts it under all that a session's agent is under.
	full = layers{"/orca/bin/orca-sandbox", "exec", "--", "bash", "-c"}
)

// measureAll returns the table, with a line about where it was made.
func measureAll(ctx context.Context, s sandbox, rounds int) (string, error) {
	machine, err := s.execute(ctx, bare, describe)
	if err != nil {
		return "", fmt.Errorf("asking about the machine: %w", err)
	}
	if err := s.installGo(ctx); err != nil {
		return "", err
	}
	var table strings.Builder
	table.WriteString("| | bare container | all layers | ratio | added to a file |\n|---|---:|---:|---:|---:|\n")
	for _, w := range works {
		measured, err := s.measure(ctx, w, rounds)
		if err != nil {
			return "", fmt.Errorf("%s: %w", w.name, err)
		}
		written := row(w, measured)
		fmt.Fprint(os.Stderr, written) // It takes minutes.
		table.WriteString(written)
	}
	fmt.Fprintf(&table, "\nThe fastest of %d runs of each, in turn. %s\n", rounds, strings.TrimSpace(machine))
	return table.String(), nil
}

// describe is the script that says where it runs.
const describe = `
model=$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)
echo "Linux $(uname -r), $(nproc) cores${model:+ ($model)}; the outputs are on $(findmnt -no FSTYPE -T ` + disk + `)."`

// measured are the times of a work's runs.
type measured struct{ bare, full []time.Duration }

// measure runs a work in turn under both, and each of them first half the time.
func (s sandbox) measure(ctx context.Context, w work, rounds int) (measured, error) {
	if _, err := s.execute(ctx, bare, "set -e; "+w.prepare); err != nil {
		return measured{}, err
	}
	var times measured
	runs := []struct {
		layers layers
		times  *[]time.Duration
	}{{bare, &times.bare}, {full, &times.full}}
	for range rounds {
		for _, r := range runs {
			took, err := s.once(ctx, w, r.layers)
			if err != nil {
				return measured{}, err
			}
			*r.times = append(*r.times, took)
		}
		slices.Reverse(runs)
	}
	return times, nil
}

// once runs a work's script. The time is taken inside, so that the way there
// isn't measured, and when nothing is left to be written to the disk. A
// directory on disk is left there: ext4 takes longer to make files for minutes
// after it has removed some.
func (s sandbox) once(ctx context.Context, w work, under layers) (time.Duration, error) {
	out, err := s.execute(ctx, under, fmt.Sprintf(`set -e
folder=$(mktemp -d %[1]s/bench.XXXXXX); cd $folder; sync -f %[2]s
start=$(date +%%s%%N)
%[3]s
end=$(date +%%s%%N)
echo $((end - start))
if [ %[1]s = %[4]s ]; then cd /; rm -rf $folder; fi`, w.in, disk, w.script, memory))
	if err != nil {
		return 0, err
	}
	nanoseconds, err := strconv.ParseInt(strings.TrimSpace(out), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("reading the time: %w", err)
	}
	return time.Duration(nanoseconds), nil
}

// row returns a work's row of the table.
func row(w work, times measured) string {
	bare, full := slices.Min(times.bare), slices.Min(times.full)
	added := "–"
	if w.files > 0 {
		added = fmt.Sprintf("%.0f µs", float64((full-bare).Nanoseconds())/1000/float64(w.files))
	}
	const unit = 10 * time.Millisecond
	return fmt.Sprintf("| %s | %.2f s | %.2f s | %.2f | %s |\n",
		w.name, bare.Round(unit).Seconds(), full.Round(unit).Seconds(), float64(full)/float64(bare), added)
}
