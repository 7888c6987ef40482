// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Access says whether the agent may write to a resource.
// +kubebuilder:validation:Enum=ReadOnly;ReadWrite
type Access string

const (
	// AccessReadOnly lets the agent read.
	AccessReadOnly Access = "ReadOnly"
	// AccessReadWrite lets the agent read and write.
	AccessReadWrite Access = "ReadWrite"
)

// SubmodulePolicy says what to do about a repository's submodules.
// +kubebuilder:validation:Enum=None;Recursive
type SubmodulePolicy string

const (
	// SubmodulesNone leaves submodules alone.
	SubmodulesNone SubmodulePolicy = "None"
	// SubmodulesRecursive clones submodules, and theirs.
	SubmodulesRecursive SubmodulePolicy = "Recursive"
)

// LFSPolicy says what to do about files that Git LFS keeps elsewhere.
// +kubebuilder:validation:Enum=Skip;Fetch
type LFSPolicy string

const (
	// LFSSkip leaves the pointer files as they are.
	LFSSkip LFSPolicy = "Skip"
	// LFSFetch replaces the pointer files by what they point to.
	LFSFetch LFSPolicy = "Fetch"
)

// ResourceKind is the JSON name of the member of SessionResource that is set.
type ResourceKind string

const (
	// ResourceKindFile is a file.
	ResourceKindFile ResourceKind = "file"
	// ResourceKindMemoryStore is a memory store.
	ResourceKindMemoryStore ResourceKind = "memoryStore"
	// ResourceKindGitRepository is a repository.
	ResourceKindGitRepository ResourceKind = "gitRepository"
)

// SessionResource is one thing that the sandbox is given: exactly one of file,
// memoryStore and gitRepository.
// +kubebuilder:validation:ExactlyOneOf=file;memoryStore;gitRepository
type SessionResource struct {
	// name tells the resource from the others of the session, in messages and in
	// the status.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name,omitempty"`

	// file is a read-only file.
	// +optional
	File FileResource `json:"file,omitzero"`

	// memoryStore is a directory that outlives the session.
	// +optional
	MemoryStore MemoryStoreResource `json:"memoryStore,omitzero"`

	// gitRepository is a clone of a repository.
	// +optional
	GitRepository GitRepositoryResource `json:"gitRepository,omitzero"`
}

// Kind says which member of r is set. It is empty only for an r that the schema
// would refuse.
func (r *SessionResource) Kind() ResourceKind {
	switch {
	case r.File != FileResource{}:
		return ResourceKindFile
	case r.MemoryStore != MemoryStoreResource{}:
		return ResourceKindMemoryStore
	case r.GitRepository != GitRepositoryResource{}:
		return ResourceKindGitRepository
	default:
		return ""
	}
}

// FileResource is a read-only file.
type FileResource struct {
	// fileID is the file's id: a letter or digit, then letters, digits, '.', '_'
	// and '-'.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`
	FileID string `json:"fileID,omitempty"`

	// source is where the content comes from.
	// +required
	Source FileSource `json:"source,omitzero"`

	// filename is the name of the file in the sandbox; absent: the ConfigMap's
	// key, or the name that the artifact store holds.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	Filename string `json:"filename,omitempty"`

	// mountPath is the absolute path of the file itself; absent:
	// /mnt/session/uploads/<fileID>/<filename>.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	MountPath string `json:"mountPath,omitempty"`
}

// FileSource is where a file's content comes from: exactly one of
// configMapKeyRef and artifact.
// +kubebuilder:validation:ExactlyOneOf=configMapKeyRef;artifact
type FileSource struct {
	// configMapKeyRef is a key of a ConfigMap in the session's namespace.
	// +optional
	ConfigMapKeyRef ConfigMapKeyReference `json:"configMapKeyRef,omitzero"`

	// artifact says that the artifact store holds the file under its id.
	// +optional
	Artifact *ArtifactSource `json:"artifact,omitempty"` //nolint:kubeapilinter // the empty object is the value
}

// ConfigMapKeyReference names a key of a ConfigMap in the session's namespace.
type ConfigMapKeyReference struct {
	// name is the name of the ConfigMap.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name,omitempty"`

	// key is the key, in data or binaryData.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^\.?[-_a-zA-Z0-9][-._a-zA-Z0-9]*$`
	Key string `json:"key,omitempty"`
}

// ArtifactSource says that the artifact store holds the file under its id.
type ArtifactSource struct{}

// MemoryStoreResource is a directory that outlives the session, mounted under
// /mnt/memory.
type MemoryStoreResource struct {
	// storeID is the store's id: a letter or digit, then letters, digits, '_'
	// and '-'.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$`
	StoreID string `json:"storeID,omitempty"`

	// storeName is the directory's name under /mnt/memory. Where it is absent or
	// not a safe path segment, storeID is.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	StoreName string `json:"storeName,omitempty"`

	// access is ReadOnly or ReadWrite.
	// +optional
	// +kubebuilder:default:=ReadOnly
	Access Access `json:"access,omitempty"`

	// source is what holds the store.
	// +required
	Source MemoryStoreSource `json:"source,omitzero"`
}

// MemoryStoreSource is what holds a memory store: exactly one of its members.
// +kubebuilder:validation:ExactlyOneOf=persistentVolumeClaim
type MemoryStoreSource struct {
	// persistentVolumeClaim is a claim in the session's namespace.
	// +optional
	PersistentVolumeClaim ClaimReference `json:"persistentVolumeClaim,omitzero"`
}

// ClaimReference names a PersistentVolumeClaim in the session's namespace.
type ClaimReference struct {
	// claimName is the name of the PersistentVolumeClaim.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	ClaimName string `json:"claimName,omitempty"`
}

// GitRepositoryResource is a clone of a repository.
type GitRepositoryResource struct {
	// url is where to clone from: https://, ssh://, user@host:path, and http://
	// if the deployment allows it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	URL string `json:"url,omitempty"`

	// ref is what to check out; absent: the remote's default branch.
	// +optional
	Ref *GitReference `json:"ref,omitempty"` //nolint:kubeapilinter // the empty object is the default branch

	// access is ReadOnly or ReadWrite.
	// +optional
	// +kubebuilder:default:=ReadOnly
	Access Access `json:"access,omitempty"`

	// mountPath is the absolute path of the working tree; absent: /workspace/ and
	// the last segment of the URL without .git.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	MountPath string `json:"mountPath,omitempty"`

	// credentials are what to log in with. They never enter the agent's container.
	// +optional
	Credentials GitCredentials `json:"credentials,omitzero"`

	// depth is how many commits of history to fetch; absent: all.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Depth int32 `json:"depth,omitempty"`

	// submodules is None or Recursive; absent is the same as None.
	// +optional
	Submodules SubmodulePolicy `json:"submodules,omitempty"`

	// lfs is Skip or Fetch; absent is the same as Skip.
	// +optional
	LFS LFSPolicy `json:"lfs,omitempty"`
}

// GitReference is what to check out: at most one of branch, tag and commit.
// Without any it is the remote's default branch.
// +kubebuilder:validation:AtMostOneOf=branch;tag;commit
type GitReference struct {
	// branch is the name of a branch.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	Branch string `json:"branch,omitempty"`

	// tag is the name of a tag.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	Tag string `json:"tag,omitempty"`

	// commit is the full id of a commit.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	Commit string `json:"commit,omitempty"`
}

// GitCredentials are what to log in to a repository's server with.
type GitCredentials struct {
	// secretRef names a Secret of type kubernetes.io/basic-auth or
	// kubernetes.io/ssh-auth (with a key known_hosts) in the session's namespace.
	// An optional key hosts limits where it is offered.
	// +required
	SecretRef SecretReference `json:"secretRef,omitzero"`
}

// SecretReference names a Secret in the session's namespace.
type SecretReference struct {
	// name is the name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name,omitempty"`
}
