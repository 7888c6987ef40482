// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package component

import (
	"io"
	"os"
	"strings"
)

// tailBytes bounds how much of a log is read to find its last lines.
const tailBytes = 16 << 10

// tail gives the last lines of a file, or says why it can't.
func tail(path string, lines int) string {
	f, err := os.Open(path)
	if err != nil {
		return "(" + err.Error() + ")"
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && st.Size() > tailBytes {
		if _, err := f.Seek(-tailBytes, io.SeekEnd); err != nil {
			return "(" + err.Error() + ")"
		}
	}
	b, err := io.ReadAll(f)
	if err != nil {
		return "(" + err.Error() + ")"
	}
	return lastLines(string(b), lines)
}

func lastLines(text string, n int) string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return "  " + strings.Join(all[max(0, len(all)-n):], "\n  ")
}
