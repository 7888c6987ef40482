// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// ResumeAnnotation on a session whose setup failed or whose sandbox was lost
// starts it again each time its value changes. The value means nothing else.
const ResumeAnnotation = GroupName + "/resume"

// OutputsFinalizer keeps a deleted session until its outputs are stored, or
// until there is nothing left to wait for.
const OutputsFinalizer = GroupName + "/outputs"

// ConditionReady of a session says whether what desiredState asks for has been
// reached; of an environment, whether sessions can start on it.
const (
	ConditionReady = "Ready"

	// ReasonEnvironmentNotFound surfaces while the session's environment does not
	// exist.
	ReasonEnvironmentNotFound = "EnvironmentNotFound"
	// ReasonWaitingForTermination surfaces while an earlier sandbox of the session
	// is not gone yet.
	ReasonWaitingForTermination = "WaitingForTermination"
	// ReasonSandboxConflict surfaces when a pod of somebody else has the sandbox's
	// name, or when one attempt has two pods.
	ReasonSandboxConflict = "SandboxConflict"
	// ReasonStarting surfaces while the sandbox is being made.
	ReasonStarting = "Starting"
	// ReasonRunning surfaces once the write policy was verified and the agent
	// executed; in Separate mode, once tool calls can be made.
	ReasonRunning = "Running"
	// ReasonEnding surfaces while the sandbox stops, until the outputs are stored.
	ReasonEnding = "Ending"
	// ReasonDeleting surfaces while a deleted session's outputs are stored.
	ReasonDeleting = "Deleting"
	// ReasonSandboxLost surfaces when the sandbox went away by itself.
	ReasonSandboxLost = "SandboxLost"
	// ReasonIdle surfaces when Idle was asked for and reached.
	ReasonIdle = "Idle"
	// ReasonEnded surfaces when Ended was asked for and reached.
	ReasonEnded = "Ended"
	// ReasonCompleted surfaces when the agent exited with code 0.
	ReasonCompleted = "Completed"
	// ReasonAgentFailed surfaces when the agent exited with another code.
	ReasonAgentFailed = "AgentFailed"
	// ReasonOutOfMemory surfaces when the sandbox was killed for its use of memory.
	ReasonOutOfMemory = "OutOfMemory"
	// ReasonLifetimeExceeded surfaces when the agent ran for as long as the
	// deployment lets it.
	ReasonLifetimeExceeded = "LifetimeExceeded"
	// ReasonAvailable surfaces on an environment that sessions can start on.
	ReasonAvailable = "Available"
)

// Ready, Stalled and Prepared have these reasons when a session can't get as far
// as its agent, and they are the reasons of a setup_failed error.
const (
	// ReasonPackagesUnsupported surfaces when the environment's packages are not
	// empty, on the environment too.
	ReasonPackagesUnsupported = "PackagesUnsupported"
	// ReasonImageRejected surfaces in Colocated mode when the environment names an
	// image, on the environment too.
	ReasonImageRejected = "ImageRejected"
	// ReasonLimitExceeded surfaces when the session has too many resources of a
	// kind, or when what its sandbox is told is too long.
	ReasonLimitExceeded = "LimitExceeded"
	// ReasonReservedRoot surfaces when a resource's path overlaps
	// /workspace/skills.
	ReasonReservedRoot = "ReservedRoot"
	// ReasonOverlappingRoots surfaces when two writable roots overlap, or a
	// writable one and something read-only.
	ReasonOverlappingRoots = "OverlappingRoots"
	// ReasonDuplicateMountPath surfaces when two memory stores have one path.
	ReasonDuplicateMountPath = "DuplicateMountPath"
	// ReasonInvalidSpec surfaces when a value has a form that is not allowed.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonRepositoryFailed surfaces when a repository can't be cloned.
	ReasonRepositoryFailed = "RepositoryFailed"
	// ReasonFileUnavailable surfaces when a file's content can't be had.
	ReasonFileUnavailable = "FileUnavailable"
	// ReasonMemoryStoreUnavailable surfaces when a memory store's claim can't be
	// had.
	ReasonMemoryStoreUnavailable = "MemoryStoreUnavailable"
	// ReasonMountConflict surfaces when two resources put different things at one
	// path.
	ReasonMountConflict = "MountConflict"
	// ReasonUnschedulable surfaces when no node takes the sandbox.
	ReasonUnschedulable = "Unschedulable"
	// ReasonImagePullFailed surfaces when a node can't pull an image of the sandbox.
	ReasonImagePullFailed = "ImagePullFailed"
	// ReasonPodRejected surfaces when the API server or the node refuses the
	// sandbox's pod.
	ReasonPodRejected = "PodRejected"
	// ReasonQuotaExceeded surfaces when the namespace's quota has no room for the
	// sandbox.
	ReasonQuotaExceeded = "QuotaExceeded"
	// ReasonSetupTimeout surfaces when the setup takes longer than the deployment
	// lets it.
	ReasonSetupTimeout = "SetupTimeout"
	// ReasonSetupOutOfMemory surfaces when the setup was killed for its use of
	// memory.
	ReasonSetupOutOfMemory = "SetupOutOfMemory"
)

// ReasonPending surfaces on Prepared, WritePolicyEstablished and OutputsCollected
// until there is anything to say.
const ReasonPending = "Pending"

// ConditionPrepared says whether everything the session asks for is in its
// sandbox. When it never will be, it has the reason of the setup_failed error.
const (
	ConditionPrepared = "Prepared"

	// ReasonPreparing surfaces while the setup runs.
	ReasonPreparing = "Preparing"
	// ReasonPrepared surfaces once the setup succeeded.
	ReasonPrepared = "Prepared"
)

// ConditionWritePolicyEstablished says whether the sandbox was seen to refuse
// what it must refuse. The agent never runs before that.
const (
	ConditionWritePolicyEstablished = "WritePolicyEstablished"

	// ReasonVerified surfaces when all layers of the policy hold.
	ReasonVerified = "Verified"
	// ReasonVerifiedMountsOnly surfaces when the policy holds on a kernel without
	// Landlock.
	ReasonVerifiedMountsOnly = "VerifiedMountsOnly"
	// ReasonWritePolicyUnverified surfaces when the policy does not hold. It is a
	// reason of setup_failed as well.
	ReasonWritePolicyUnverified = "WritePolicyUnverified"
)

// ConditionOutputsCollected says whether the outputs are stored.
const (
	ConditionOutputsCollected = "OutputsCollected"

	// ReasonCollected surfaces when all outputs are stored.
	ReasonCollected = "Collected"
	// ReasonNothingToCollect surfaces when there never was an agent to make any.
	ReasonNothingToCollect = "NothingToCollect"
	// ReasonOutputsIncomplete surfaces when some outputs are not stored, on Ready
	// too.
	ReasonOutputsIncomplete = "OutputsIncomplete"
)

// ConditionReconciling and ConditionStalled repeat the reason of a Ready that is
// False. They exist only while they are True, and never both.
const (
	// ConditionReconciling is True while waiting helps.
	ConditionReconciling = "Reconciling"
	// ConditionStalled is True when somebody has to change something.
	ConditionStalled = "Stalled"
)

// ConditionImageIgnored exists on an environment only while it is True.
const (
	ConditionImageIgnored = "ImageIgnored"

	// ReasonSeparateMode surfaces in Separate mode while the environment names an
	// image.
	ReasonSeparateMode = "SeparateMode"
)

// ConditionNetworkingEnforced exists on an environment only while networking is
// set. It is always False.
const (
	ConditionNetworkingEnforced = "NetworkingEnforced"

	// ReasonNotEnforced surfaces while the environment has networking.
	ReasonNotEnforced = "NotEnforced"
)
