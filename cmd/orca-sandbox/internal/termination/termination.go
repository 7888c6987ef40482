// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package termination leaves a container's result for the operator in the file
// that Kubernetes reads when the container has ended.
package termination

import (
	"fmt"
	"os"

	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

// DefaultPath is where Kubernetes mounts the file.
const DefaultPath = "/dev/termination-log"

// Message is the open file.
type Message struct{ file *os.File }

// Open opens the file, which must exist, and changes nothing in it. Other
// programs can't inherit it.
func Open(path string) (*Message, error) {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("opening the termination message: %w", err)
	}
	return &Message{file}, nil
}

// Write replaces whatever the file holds by the result. What it held before
// stays if that fails.
func Write[R manifest.SetupResult | manifest.RunResult](message *Message, result R) error {
	encoded, err := manifest.EncodeResult(result)
	if err != nil {
		return err
	}
	if _, err := message.file.WriteAt(encoded, 0); err != nil {
		return fmt.Errorf("writing the termination message: %w", err)
	}
	if err := message.file.Truncate(int64(len(encoded))); err != nil {
		return fmt.Errorf("cutting off the earlier termination message: %w", err)
	}
	return nil
}
