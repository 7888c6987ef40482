// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package layout_test

import (
	"strings"
	"testing"

	"github.com/orca-agent-engine/orca-operator/controllers/layout"
)

// hostile returns inputs of 512 KB, of which one that is judged in more than
// linear time would be felt, and ones that are just short enough to be read to
// their end.
func hostile() map[string]string {
	const size = 512 << 10
	return map[string]string{
		"letters of 512 KB":       strings.Repeat("x", size),
		"slashes of 512 KB":       strings.Repeat("/", size),
		"segments of 512 KB":      strings.Repeat("/a", size/2),
		"dots of 512 KB":          strings.Repeat("/..", size/3),
		"colons of 512 KB":        "git@" + strings.Repeat("a:", size/2),
		"brackets of 512 KB":      "git@" + strings.Repeat("[", size),
		"spaces of 512 KB":        strings.Repeat(" ", size),
		"broken UTF-8 of 512 KB":  strings.Repeat("\xff", size),
		"a path of 1,024 bytes":   strings.Repeat("/abcdefg", 128),
		"a URL of 2,048 bytes":    "https://git.test" + strings.Repeat("/abcdefg", 254),
		"a name of 255 bytes":     strings.Repeat("x", 255),
		"format chars at the end": strings.Repeat("x", 250) + "\u202e",
	}
}

// benchmark runs a function on each hostile input. What a kilobyte takes is
// 1 over the MB/s that it prints, in milliseconds.
func benchmark(b *testing.B, judge func(input string)) {
	b.Helper()
	for name, input := range hostile() {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(input)))
			for b.Loop() {
				judge(input)
			}
		})
	}
}

func BenchmarkParseRemote(b *testing.B) {
	benchmark(b, func(input string) { _, _ = layout.ParseRemote(input, false) })
}

func BenchmarkMountFile(b *testing.B) {
	benchmark(b, func(input string) { _, _ = layout.MountFile(input) })
}

func BenchmarkSafeSegment(b *testing.B) {
	benchmark(b, func(input string) { _ = layout.SafeSegment(input) })
}

func BenchmarkOverlap(b *testing.B) {
	for name, input := range hostile() {
		below := input + "/x" // Made before the clock runs.
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(input)))
			for b.Loop() {
				_ = layout.Overlap(input, below)
			}
		})
	}
}
