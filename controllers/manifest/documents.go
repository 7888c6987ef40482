// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

// Sandbox tells the launcher in the agent's container what holds there.
type Sandbox struct {
	// WritableRoots are the paths at or below which the agent may write,
	// sorted. Everything else is read-only.
	WritableRoots []string `json:"writableRoots"`
	// Command and Args are the agent's argument vector, byte for byte. Both
	// empty: no agent process, the sandbox waits for calls.
	Command []string `json:"command,omitempty"`
	Args    []string `json:"args,omitempty"`
	// Env is added to the environment that the launcher gives the agent.
	Env []EnvVar `json:"env,omitempty"`
	// LifetimeSeconds is how long the agent may still run.
	LifetimeSeconds int64 `json:"lifetimeSeconds"`
	// GracePeriodSeconds is how long the agent has between SIGTERM and SIGKILL.
	GracePeriodSeconds int64 `json:"gracePeriodSeconds"`
}

// EnvVar is one variable of the agent's environment.
type EnvVar struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Setup tells the setup container what to put into the sealed tree.
type Setup struct {
	// Directories are made in the sealed tree, named by the absolute paths
	// that they have in the sandbox.
	Directories []string `json:"directories"`
	// Files are copied into the sealed tree.
	Files []File `json:"files,omitempty"`
	// Repositories are cloned.
	Repositories []Repository `json:"repositories,omitempty"`
	// ExtraCA holds certificates of authorities to trust, in PEM.
	ExtraCA string `json:"extraCA,omitempty"`
	// Proxy is how to reach repositories.
	Proxy *Proxy `json:"proxy,omitempty"`
	// TimeoutSeconds bounds the whole of setup.
	TimeoutSeconds int64 `json:"timeoutSeconds"`
}

// File is one file resource.
type File struct {
	// Resource is its name in the session.
	Resource string `json:"resource"`
	// Path is where the file appears in the sandbox.
	Path string `json:"path"`
	// ConfigMap and Key name its source, for messages.
	ConfigMap string `json:"configMap"`
	Key       string `json:"key"`
	// Source is the file with the content, relative to the folder at which
	// the setup container has its inputs.
	Source string `json:"source"`
}

// VolumeTree is the folder in a repository's own volume that holds its working
// tree. The root of a volume belongs to root, and git refuses a tree of another
// owner.
const VolumeTree = "tree"

// Repository is one repository resource.
type Repository struct {
	// Resource is its name in the session.
	Resource string `json:"resource"`
	// URL is where to clone from.
	URL string `json:"url"`
	// At most one of Branch, Tag and Commit says what to check out; none: the
	// remote's default branch.
	Branch string `json:"branch,omitempty"`
	Tag    string `json:"tag,omitempty"`
	Commit string `json:"commit,omitempty"`
	// Path is where the working tree appears in the sandbox.
	Path string `json:"path"`
	// Volume is the folder of the setup container that holds the repository's
	// own volume, for its VolumeTree; empty: it lies in the sealed tree.
	Volume string `json:"volume,omitempty"`
	// Depth is how many commits of history to fetch; 0 for all.
	Depth int32 `json:"depth,omitempty"`
	// Submodules says to clone submodules, and theirs.
	Submodules bool `json:"submodules,omitempty"`
	// LFS says to fetch the files that Git LFS keeps elsewhere.
	LFS bool `json:"lfs,omitempty"`
	// Secret names the credential, for messages; empty: there is none.
	Secret string `json:"secret,omitempty"`
	// Credential is the folder of the setup container that holds it.
	Credential string `json:"credential,omitempty"`
}

// Proxy is how to reach repositories.
type Proxy struct {
	HTTP    string `json:"http,omitempty"`
	HTTPS   string `json:"https,omitempty"`
	NoProxy string `json:"noProxy,omitempty"`
}
