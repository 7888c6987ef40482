// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// maxResult is how much of a termination message Kubernetes keeps.
const maxResult = 4096

// maxCause bounds the text of a result, so that the whole of it stays within
// maxResult however it is escaped.
const maxCause = 512

// SetupResult is what setup leaves behind.
type SetupResult struct {
	Code SetupCode `json:"code"`
	// Landlock says that the node's kernel has Landlock, as the launcher needs
	// it. It is set with SetupPrepared alone.
	Landlock bool `json:"landlock,omitempty"`
	// Commits are what was checked out, by the name of the resource. They are set
	// with SetupPrepared alone.
	Commits map[string]string `json:"commits,omitempty"`
	// Resource is the name of the resource that failed, if one did.
	Resource string `json:"resource,omitempty"`
	// Cause says what went wrong, for the session's status.
	Cause string `json:"cause,omitempty"`
}

// SetupCode is a closed list.
type SetupCode string

const (
	// SetupPrepared: the sandbox is assembled.
	SetupPrepared SetupCode = "Prepared"
	// SetupFileUnavailable: a file's source isn't there. It may appear later.
	SetupFileUnavailable SetupCode = "FileUnavailable"
	// SetupCredentialUnavailable: a repository's Secret, or a key of it, isn't
	// there. It may appear later.
	SetupCredentialUnavailable SetupCode = "CredentialUnavailable"
	// SetupRepositoryFailed: a repository could not be cloned.
	SetupRepositoryFailed SetupCode = "RepositoryFailed"
	// SetupMountConflict: two contents clash at one path of the sealed tree.
	SetupMountConflict SetupCode = "MountConflict"
	// SetupOverlappingRoots: a resource overlaps what the agent may write.
	SetupOverlappingRoots SetupCode = "OverlappingRoots"
	// SetupTimeout: setup took longer than it may.
	SetupTimeout SetupCode = "SetupTimeout"
	// SetupInternal: the platform failed, not the session.
	SetupInternal SetupCode = "Internal"
)

// RunResult is what the launcher leaves behind as its last act.
type RunResult struct {
	Code RunCode `json:"code"`
	// ExitCode is the agent's: 128 and the signal's number where a signal
	// ended it. It is set with RunAgentExited alone.
	ExitCode *int32 `json:"exitCode,omitempty"`
	// Path is what the code is about: a path or the agent's program.
	Path string `json:"path,omitempty"`
}

// RunCode is a closed list.
type RunCode string

const (
	// RunStarted: the write policy was verified, and the agent was about to be
	// executed. It stands until the agent's end is known, and after that if the
	// launcher could not say how.
	RunStarted RunCode = "Started"
	// RunAgentExited: the agent ran and ended by itself or by a signal.
	RunAgentExited RunCode = "AgentExited"
	// RunLifetimeExceeded: the agent ran until its lifetime was used up.
	RunLifetimeExceeded RunCode = "LifetimeExceeded"
	// RunStopped: the agent ran until it was asked to stop.
	RunStopped RunCode = "Stopped"
	// RunCommandNotFound: the agent's program isn't in the image.
	RunCommandNotFound RunCode = "CommandNotFound"
	// RunCommandNotExecutable: the agent's program is there and can't be
	// executed.
	RunCommandNotExecutable RunCode = "CommandNotExecutable"
	// RunStoreReadOnly: the memory store at Path should be writable and is not.
	RunStoreReadOnly RunCode = "StoreReadOnly"
	// RunPolicyUnverified: the write policy could not be established.
	RunPolicyUnverified RunCode = "PolicyUnverified"
)

// EncodeResult returns a result as a termination message. Texts are cut to
// what fits.
func EncodeResult[R SetupResult | RunResult](result R) ([]byte, error) {
	switch r := any(&result).(type) {
	case *SetupResult:
		r.Cause = Truncate(r.Cause, maxCause)
	case *RunResult:
		r.Path = Truncate(r.Path, maxCause)
	}
	encoded, err := json.Marshal(result)
	if err != nil {
		return nil, fmt.Errorf("encoding the result: %w", err)
	}
	return encoded, nil
}

// DecodeResult reads a termination message. Whoever owns the container may
// have written it: callers must not trust more than its form.
func DecodeResult[R SetupResult | RunResult](message string) (R, error) {
	var result R
	if len(message) > maxResult {
		return result, fmt.Errorf("the result has %d bytes, at most %d are allowed", len(message), maxResult)
	}
	if err := decodeStrict([]byte(message), &result); err != nil {
		return result, fmt.Errorf("decoding the result: %w", err)
	}
	return result, nil
}

// Truncate shortens a text to at most limit bytes, at a rune boundary.
func Truncate(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	end := limit
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}
