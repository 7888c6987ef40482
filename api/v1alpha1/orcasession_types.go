// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DesiredState is what a user asks of a session.
// +kubebuilder:validation:Enum=Running;Idle;Ended
type DesiredState string

const (
	// DesiredStateRunning asks for a sandbox with the agent in it.
	DesiredStateRunning DesiredState = "Running"
	// DesiredStateIdle asks for no sandbox: the outputs are collected and the
	// session can be resumed.
	DesiredStateIdle DesiredState = "Idle"
	// DesiredStateEnded asks for the end of the session. It is final.
	DesiredStateEnded DesiredState = "Ended"
)

// OrcaSession is one agent's run in a sandbox.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:categories=orca,shortName=orcasess
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.state`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Environment",type=string,JSONPath=`.spec.environmentRef.name`
// +kubebuilder:printcolumn:name="Outputs",type=integer,JSONPath=`.status.outputs.files`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Pod",type=string,priority=1,JSONPath=`.status.podName`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
type OrcaSession struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is what the user asks for. Only desiredState and
	// ttlSecondsAfterEnded can change after creation.
	// +required
	Spec OrcaSessionSpec `json:"spec,omitzero"`

	// status is how far the operator is with it.
	// +optional
	// +kubebuilder:default:={"observedGeneration":-1}
	Status OrcaSessionStatus `json:"status,omitzero"` //nolint:kubeapilinter // a zero status is left out
}

// OrcaSessionList is a list of sessions.
// +kubebuilder:object:root=true
type OrcaSessionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []OrcaSession `json:"items"`
}

// OrcaSessionSpec is what the user asks for. The immutability rules sit here
// and not on the fields: a rule on an optional field is not asked when the
// field is set for the first time or removed.
//
// A sandbox's manifest has at most 196,608 bytes, so the rules on bytes refuse
// only what could not run; they keep a session and its whole status within what
// etcd stores. CEL's size() of a string counts characters, so a string that need
// not be ASCII is converted to bytes first. To convert all of command, args and
// env costs more than one rule may: the rule on env counts the characters of the
// other two. The resources have more room, since fileID and filename need not be
// in the manifest, and count what can be large in more than 8 of them.
//
// +kubebuilder:validation:XValidation:rule="(has(self.resources) && self.resources.size() > 0) == (has(oldSelf.resources) && oldSelf.resources.size() > 0) && (!has(self.resources) || !has(oldSelf.resources) || self.resources == oldSelf.resources)",message="may not be changed; create a new session",fieldPath=".resources",reason="FieldValueForbidden"
// +kubebuilder:validation:XValidation:rule="(has(self.command) && self.command.size() > 0) == (has(oldSelf.command) && oldSelf.command.size() > 0) && (!has(self.command) || !has(oldSelf.command) || self.command == oldSelf.command)",message="may not be changed; create a new session",fieldPath=".command",reason="FieldValueForbidden"
// +kubebuilder:validation:XValidation:rule="(has(self.args) && self.args.size() > 0) == (has(oldSelf.args) && oldSelf.args.size() > 0) && (!has(self.args) || !has(oldSelf.args) || self.args == oldSelf.args)",message="may not be changed; create a new session",fieldPath=".args",reason="FieldValueForbidden"
// +kubebuilder:validation:XValidation:rule="(has(self.env) && self.env.size() > 0) == (has(oldSelf.env) && oldSelf.env.size() > 0) && (!has(self.env) || !has(oldSelf.env) || self.env == oldSelf.env)",message="may not be changed; create a new session",fieldPath=".env",reason="FieldValueForbidden"
// +kubebuilder:validation:XValidation:rule="oldSelf.desiredState != 'Ended' || self.desiredState == 'Ended'",message="may not be changed from 'Ended'; create a new session",fieldPath=".desiredState",reason="FieldValueForbidden"
// +kubebuilder:validation:XValidation:rule="!has(self.resources) || self.resources.filter(r, has(r.memoryStore)).size() <= 8",message="must have at most 8 memory stores",fieldPath=".resources"
// +kubebuilder:validation:XValidation:rule="!has(self.resources) || self.resources.filter(r, has(r.gitRepository)).size() <= 8",message="must have at most 8 repositories",fieldPath=".resources"
// +kubebuilder:validation:XValidation:rule="(has(self.command) ? self.command.map(s, bytes(s).size()).sum() : 0) + (has(self.args) ? self.args.map(s, bytes(s).size()).sum() : 0) <= 196608",message="must have at most 196,608 bytes in command, args and env together",fieldPath=".args"
// +kubebuilder:validation:XValidation:rule="!has(self.env) || (has(self.command) ? self.command.map(s, s.size()).sum() : 0) + (has(self.args) ? self.args.map(s, s.size()).sum() : 0) + self.env.map(e, e.name.size() + (has(e.value) ? bytes(e.value).size() : 0)).sum() <= 196608",message="must have at most 196,608 bytes in command, args and env together",fieldPath=".env"
// +kubebuilder:validation:XValidation:rule="!has(self.resources) || self.resources.map(r, r.name.size() + (has(r.file) ? r.file.fileID.size() + (has(r.file.filename) ? bytes(r.file.filename).size() : 0) + (has(r.file.mountPath) ? bytes(r.file.mountPath).size() : 0) + (has(r.file.source.configMapKeyRef) ? r.file.source.configMapKeyRef.name.size() + r.file.source.configMapKeyRef.key.size() : 0) : 0) + (has(r.memoryStore) && has(r.memoryStore.storeName) ? bytes(r.memoryStore.storeName).size() : 0) + (has(r.gitRepository) ? bytes(r.gitRepository.url).size() + (has(r.gitRepository.mountPath) ? bytes(r.gitRepository.mountPath).size() : 0) : 0)).sum() <= 256000",message="must have at most 256,000 bytes in names, ids, paths and URLs together",fieldPath=".resources"
type OrcaSessionSpec struct {
	// environmentRef names the environment, in the session's namespace.
	// +required
	EnvironmentRef EnvironmentReference `json:"environmentRef,omitzero"`

	// desiredState is what is asked of the session: Running, Idle or Ended.
	// Ended is final.
	// +optional
	// +kubebuilder:default:=Running
	DesiredState DesiredState `json:"desiredState,omitempty"`

	// command is the program of the agent process and its first arguments, in
	// Colocated mode only. It is executed as it stands: no shell, no expansion.
	// If it is empty, the deployment's command is used.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=32768
	// +kubebuilder:validation:items:Pattern=`^[^\x00]*$`
	Command []string `json:"command,omitempty"` //nolint:kubeapilinter // an argument can be empty

	// args follow command, or the deployment's command.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=32768
	// +kubebuilder:validation:items:Pattern=`^[^\x00]*$`
	Args []string `json:"args,omitempty"` //nolint:kubeapilinter // an argument can be empty

	// env are environment variables of the agent process.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=256
	Env []EnvVar `json:"env,omitempty"` //nolint:kubeapilinter // empty is the same as absent

	// ttlSecondsAfterEnded is for how many seconds the object is kept after the
	// session ended; absent: until somebody deletes it.
	// +optional
	// +kubebuilder:validation:Minimum=0
	TTLSecondsAfterEnded *int32 `json:"ttlSecondsAfterEnded,omitempty"`

	// resources are the files, memory stores and repositories that the sandbox
	// is given. Their order means nothing.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=1024
	Resources []SessionResource `json:"resources,omitempty"` //nolint:kubeapilinter // empty is the same as absent
}

// EnvironmentReference names an environment in the session's namespace.
// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="may not be changed; create a new session",reason="FieldValueForbidden"
type EnvironmentReference struct {
	// name is the name of the OrcaEnvironment.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name,omitempty"`
}

// EnvVar is an environment variable with a plain value.
type EnvVar struct {
	// name is any printable ASCII but '='. HOME and TMPDIR belong to the
	// platform.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern=`^[ -<>-~]+$`
	// +kubebuilder:validation:XValidation:rule="!(self in ['HOME','TMPDIR'])",message="must not be 'HOME' or 'TMPDIR'"
	Name string `json:"name,omitempty"`

	// value is taken as it stands; absent is the same as empty.
	// +optional
	// +kubebuilder:validation:MaxLength=32768
	// +kubebuilder:validation:Pattern=`^[^\x00]*$`
	Value *string `json:"value,omitempty"` //nolint:kubeapilinter // a variable can be empty
}
