// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// SessionState is where a session is.
// +kubebuilder:validation:Enum=Pending;Starting;Running;Ending;Idle;Ended
type SessionState string

const (
	// SessionStatePending has no sandbox yet and waits for something.
	SessionStatePending SessionState = "Pending"
	// SessionStateStarting has a sandbox that is being made.
	SessionStateStarting SessionState = "Starting"
	// SessionStateRunning has its write policy verified and its agent executed.
	SessionStateRunning SessionState = "Running"
	// SessionStateEnding is stopping, until the outputs are stored.
	SessionStateEnding SessionState = "Ending"
	// SessionStateIdle has no sandbox and can be resumed.
	SessionStateIdle SessionState = "Idle"
	// SessionStateEnded is over.
	SessionStateEnded SessionState = "Ended"
)

// SessionErrorType is the type of a session.error. The names are those of the
// sandbox reference, which is why they are snake_case.
// +kubebuilder:validation:Enum=setup_failed;agent_failed;sandbox_lost;lifetime_exceeded;outputs_incomplete
type SessionErrorType string

const (
	// ErrorSetupFailed stopped the session before its agent ran. The session is
	// idle and can be resumed.
	ErrorSetupFailed SessionErrorType = "setup_failed"
	// ErrorAgentFailed is an agent that exited with another code than 0, or that
	// ran out of memory.
	ErrorAgentFailed SessionErrorType = "agent_failed"
	// ErrorSandboxLost is a sandbox that went away by itself. The session is idle
	// and can be resumed.
	ErrorSandboxLost SessionErrorType = "sandbox_lost"
	// ErrorLifetimeExceeded is an agent that ran for as long as the deployment
	// lets it.
	ErrorLifetimeExceeded SessionErrorType = "lifetime_exceeded"
	// ErrorOutputsIncomplete is a session whose outputs were not all stored.
	ErrorOutputsIncomplete SessionErrorType = "outputs_incomplete"
)

// OrcaSessionStatus is how far the operator is with a session.
// +kubebuilder:validation:MinProperties=1
type OrcaSessionStatus struct {
	// conditions are Ready, Prepared, WritePolicyEstablished and
	// OutputsCollected, and while they are true Reconciling or Stalled.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the metadata.generation that this status is about;
	// -1 before the first look.
	// +optional
	// +kubebuilder:validation:Minimum=-1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"` //nolint:kubeapilinter // no generation is 0

	// state is where the session is.
	// +optional
	State SessionState `json:"state,omitempty"`

	// error is the last session.error. It is history: it stays when the session
	// is resumed.
	// +optional
	Error SessionError `json:"error,omitzero"`

	// attempt is how many sandboxes were started so far; absent before the first.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Attempt int32 `json:"attempt,omitempty"`

	// podName is the name of this attempt's pod.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	PodName string `json:"podName,omitempty"`

	// podUID is the UID of this attempt's pod.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	PodUID types.UID `json:"podUID,omitempty"`

	// startTime is when this attempt began: when its sandbox was made.
	// +optional
	StartTime metav1.Time `json:"startTime,omitzero"` //nolint:kubeapilinter // a zero time is left out

	// endTime is when this attempt ended, once the session is Idle or Ended.
	// +optional
	EndTime metav1.Time `json:"endTime,omitzero"` //nolint:kubeapilinter // a zero time is left out

	// runSeconds is for how many seconds the agent ran, over all attempts. It is
	// updated at each stop; absent until the first whole second.
	// +optional
	// +kubebuilder:validation:Minimum=1
	RunSeconds int32 `json:"runSeconds,omitempty"`

	// exitCode is the agent's exit code, once this attempt's agent ended.
	// +optional
	ExitCode *int32 `json:"exitCode,omitempty"`

	// lastHandledResume is the value of the annotation orca.dev/resume when this
	// attempt began. A value of more than 1,024 bytes is recorded by its SHA-256:
	// 'sha256:' and 64 hexadecimal digits.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	LastHandledResume string `json:"lastHandledResume,omitempty"`

	// resources are where the session's resources are in the sandbox.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1024
	Resources []ResourceStatus `json:"resources,omitempty"`

	// outputs are what was stored of /mnt/session/outputs at the last collection.
	// +optional
	Outputs *SessionOutputs `json:"outputs,omitempty"`
}

// SessionError is a session.error.
type SessionError struct {
	// type is the kind of error.
	// +required
	Type SessionErrorType `json:"type,omitempty"`

	// reason is the cause in one CamelCase word.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[A-Z][A-Za-z0-9]*$`
	Reason string `json:"reason,omitempty"`

	// message names what failed and why, in at most 896 bytes.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=896
	Message string `json:"message,omitempty"`

	// time is when it happened.
	// +required
	Time metav1.Time `json:"time,omitzero"` //nolint:kubeapilinter // a zero time is left out, which the schema refuses

	// attempt is the attempt that failed; absent if no sandbox was started yet.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Attempt int32 `json:"attempt,omitempty"`

	// observedGeneration is the metadata.generation that failed. A newer one may
	// be tried again.
	// +required
	// +kubebuilder:validation:Minimum=1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// ResourceStatus is where one of the session's resources is in the sandbox.
type ResourceStatus struct {
	// name is the resource's name in the spec.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// mountPath is the resource's absolute path.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	MountPath string `json:"mountPath,omitempty"`

	// access is what the agent may do with it.
	// +required
	Access Access `json:"access,omitempty"`

	// commit is the full id of the commit that was checked out, for a repository.
	// +optional
	// +kubebuilder:validation:MinLength=40
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^([0-9a-f]{40}|[0-9a-f]{64})$`
	Commit string `json:"commit,omitempty"`
}

// SessionOutputs are what was stored of a session's outputs. Every number is
// written, also when it is 0.
//
//nolint:kubeapilinter // zero is a value, and complete is the name that users know
type SessionOutputs struct {
	// files is how many files were stored.
	// +required
	// +kubebuilder:validation:Minimum=0
	Files int64 `json:"files"`

	// bytes is how large they are together, in bytes.
	// +required
	// +kubebuilder:validation:Minimum=0
	Bytes int64 `json:"bytes"`

	// skipped is how many entries can't be stored: links, pipes, sockets, devices
	// and unreadable files.
	// +required
	// +kubebuilder:validation:Minimum=0
	Skipped int64 `json:"skipped"`

	// complete says whether everything that can be stored was.
	// +required
	Complete bool `json:"complete"`

	// manifest is the list of the stored files; absent if it was not stored.
	// +optional
	Manifest OutputsManifest `json:"manifest,omitzero"`

	// collectTime is when the collection ended.
	// +required
	CollectTime metav1.Time `json:"collectTime,omitzero"`
}

// OutputsManifest says where the list of the stored files is.
type OutputsManifest struct {
	// key is its key in the artifact store.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Key string `json:"key,omitempty"`

	// digest is the SHA-256 of its bytes: 'sha256:' and 64 hexadecimal digits.
	// +required
	// +kubebuilder:validation:MinLength=71
	// +kubebuilder:validation:MaxLength=71
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	Digest string `json:"digest,omitempty"`
}
