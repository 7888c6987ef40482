// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
)

// The launcher's results.
const (
	agentExited     = `{"code":"AgentExited","exitCode":0}`
	started         = `{"code":"Started"}`
	policyFailed    = `{"code":"PolicyUnverified","path":"/opt"}`
	commandNotFound = `{"code":"CommandNotFound","path":"agent"}`
)

func completed() outcome {
	return outcome{State: "Ended", Reason: "Completed", Verdict: status.CurrentStatus, Prepared: "Prepared"}
}

func endsBadly(kind orcav1alpha1.SessionErrorType, reason string) outcome {
	return outcome{State: "Ended", Reason: reason, Verdict: status.FailedStatus, Prepared: "Prepared", Error: string(kind) + " " + reason}
}

func lost() outcome {
	return outcome{State: "Idle", Reason: "SandboxLost", Verdict: status.FailedStatus, Prepared: "Pending", Error: "sandbox_lost SandboxLost"}
}

func TestWhenARunningAgentEnds(t *testing.T) {
	ends := func(reason string, code int32, message string, ran time.Duration) func(*scene) {
		return func(s *scene) { s.run(); s.later(ran); s.agentEnds(reason, code, message, ran) }
	}
	const minute = time.Minute
	runPlays(t, map[string]play{
		"it exits with 0":              {ends("Completed", 0, agentExited, minute), completed()},
		"it exits with 3":              {ends("Error", 3, `{"code":"AgentExited","exitCode":3}`, minute), endsBadly("agent_failed", "AgentFailed")},
		"a signal ends it":             {ends("Error", 139, "", minute), endsBadly("agent_failed", "AgentFailed")},
		"it is out of memory":          {ends("OOMKilled", 137, "", minute), endsBadly("agent_failed", "OutOfMemory")},
		"only a child of it was":       {ends("OOMKilled", 0, agentExited, minute), completed()},
		"only a child of it, and then": {ends("OOMKilled", 1, agentExited, minute), endsBadly("agent_failed", "AgentFailed")},
		"its lifetime is used up":      {ends("Completed", 0, `{"code":"LifetimeExceeded"}`, maxLifetime), endsBadly("lifetime_exceeded", "LifetimeExceeded")},
		"and it had to be killed":      {ends("Error", 137, "", maxLifetime+30*time.Second), endsBadly("lifetime_exceeded", "LifetimeExceeded")},
		"a second was left":            {ends("Completed", 0, agentExited, maxLifetime-time.Second), completed()},

		"the agent forges a failed check":     {ends("Completed", 0, policyFailed, minute), completed()},
		"the agent forges a missing command":  {ends("Completed", 0, commandNotFound, minute), completed()},
		"the agent forges the end of its day": {ends("Completed", 0, `{"code":"LifetimeExceeded"}`, minute), completed()},
		"the agent forges a stop":             {ends("Completed", 0, `{"code":"Stopped"}`, minute), completed()},
		"the agent forges success":            {ends("Error", 3, agentExited, minute), endsBadly("agent_failed", "AgentFailed")},
		"the agent leaves nonsense":           {ends("Completed", 0, "}{", minute), completed()},
		"it ended while nobody looked": {
			before: func(s *scene) { ends("Completed", 0, agentExited, minute)(s); s.later(24 * time.Hour) },
			want:   completed(),
		},
	})
}

func TestWhenAnAgentEndsBeforeItWasSeenRunning(t *testing.T) {
	ends := func(reason string, code int32, message string) func(*scene) {
		return func(s *scene) { s.start(); s.later(time.Second); s.agentEnds(reason, code, message, time.Second) }
	}
	unverified, invalid := setupFails("WritePolicyUnverified"), setupFails("InvalidSpec")
	runPlays(t, map[string]play{
		"it exits with 0":                             {ends("Completed", 0, agentExited), completed()},
		"it exits with 3":                             {ends("Error", 3, `{"code":"AgentExited","exitCode":3}`), endsBadly("agent_failed", "AgentFailed")},
		"it is out of memory":                         {ends("OOMKilled", 137, started), endsBadly("agent_failed", "OutOfMemory")},
		"the launcher was, before it had verified":    {ends("OOMKilled", 137, ""), unverified},
		"the launcher can't say how":                  {ends("Error", 2, started), endsBadly("agent_failed", "AgentFailed")},
		"the launcher can't say how it succeeded":     {ends("Completed", 0, started), completed()},
		"only a child was, and nothing else is known": {ends("OOMKilled", 1, ""), unverified},
		"it was stopped":                              {ends("Error", 143, `{"code":"Stopped"}`), lost()},
		"it was stopped and then killed":              {ends("Error", 137, `{"code":"Stopped"}`), lost()},
		"it was stopped and said nothing":             {ends("Completed", 0, `{"code":"Stopped"}`), lost()},
		"it asks to be stopped and exits with 1":      {ends("Error", 1, `{"code":"Stopped"}`), endsBadly("agent_failed", "AgentFailed")},
		"its program is not there":                    {ends("Error", 127, commandNotFound), invalid},
		"its program is no program": {
			ends("Error", 126, `{"code":"CommandNotExecutable","path":"/etc/passwd"}`), invalid,
		},
		"the check failed":                       {ends("Error", 1, policyFailed), unverified},
		"the launcher left nothing":              {ends("Error", 1, ""), unverified},
		"the launcher left nothing and a 0":      {ends("Completed", 0, ""), unverified},
		"the launcher left what is no result":    {ends("Error", 2, "panic: runtime error"), unverified},
		"the launcher left a code nobody knows":  {ends("Completed", 0, `{"code":"Fine"}`), unverified},
		"the launcher left no code":              {ends("Completed", 0, `{}`), unverified},
		"the launcher left more than it may":     {ends("Completed", 0, agentExited+strings.Repeat(" ", 4096)), unverified},
		"the launcher left a field nobody knows": {ends("Completed", 0, `{"code":"AgentExited","more":1}`), unverified},
		"the launcher could not be started":      {ends("StartError", 128, "exec: no such file"), unverified},
		"the startup probe gave up": {
			ends("Error", 137, ""), unverified,
		},
	})
}

func TestWhenTheSandboxIsLost(t *testing.T) {
	runPlays(t, map[string]play{
		"its pod is deleted": {
			before: func(s *scene) { s.run(); s.delete(s.pod().Name) },
			want:   outcome{State: "Ending", Reason: "Ending", Verdict: status.InProgressStatus, Prepared: "Prepared"},
		},
		"its pod was deleted and the agent still stops": {
			before: func(s *scene) {
				s.run()
				s.delete(s.pod().Name)
				s.judge()
				s.agentEnds("Completed", 0, agentExited, time.Minute)
			},
			want: outcome{State: "Ending", Reason: "Ending", Verdict: status.InProgressStatus, Prepared: "Prepared"},
		},
		"its pod was deleted and is gone": {
			before: func(s *scene) { s.run(); s.delete(s.pod().Name); s.judge(); s.terminated() },
			want:   lost(),
		},
		"its pod was deleted while it started and is gone": {
			before: func(s *scene) { s.start(); s.delete(s.pod().Name); s.judge(); s.terminated() },
			want:   lost(),
		},
		"its pod is gone at once": {
			before: func(s *scene) { s.run(); s.delete(s.pod().Name); s.terminated() },
			want:   lost(),
		},
		"its pod is gone at once while it starts": {
			before: func(s *scene) { s.start(); s.delete(s.pod().Name); s.terminated() },
			want:   lost(),
		},
		"another pod has its name": {
			before: func(s *scene) { s.run(); s.pod().UID = "another" },
			want:   func() outcome { o := lost(); o.Removes = 1; return o }(),
		},
		"its node evicts it": {
			before: func(s *scene) {
				s.run()
				s.agentEnds("Error", 137, "", time.Minute)
				disrupts(s.pod(), "TerminationByKubelet")
			},
			want: lost(),
		},
		"its node evicts it and the agent exits with 0": {
			before: func(s *scene) {
				s.run()
				s.agentEnds("Completed", 0, agentExited, time.Minute)
				disrupts(s.pod(), "TerminationByKubelet")
			},
			want: lost(),
		},
		"its node evicts it before the agent ran": {
			before: func(s *scene) {
				s.start()
				setupIs(s.pod(), waits("PodInitializing", ""))
				disrupts(s.pod(), "TerminationByKubelet")
			},
			want: lost(),
		},
		"its node shuts down and says so in the pod's reason alone": {
			before: func(s *scene) {
				s.run()
				s.agentEnds("Completed", 0, agentExited, time.Minute)
				s.pod().Status.Phase, s.pod().Status.Reason = corev1.PodFailed, "Terminated"
			},
			want: lost(),
		},
		"its node starts again and doesn't know the container any more": {
			before: func(s *scene) { s.run(); s.agentEnds("ContainerStatusUnknown", 137, "", 0) },
			want:   lost(),
		},
		"its node starts again while setup runs": {
			before: func(s *scene) { s.start(); setupEnds(s.pod(), "ContainerStatusUnknown", 137, "") },
			want:   lost(),
		},
		"a disruption is announced, which is not its end": {
			before: func(s *scene) {
				s.run()
				disrupts(s.pod(), "PreemptionByScheduler")
				s.pod().Status.Phase = corev1.PodRunning
			},
			want: running(),
		},
		"its pod has failed and nothing says why": {
			before: func(s *scene) { s.run(); s.pod().Status.Phase = corev1.PodFailed },
			want:   lost(),
		},
		"the node refuses its pod": {
			before: func(s *scene) {
				s.start()
				s.pod().Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: "OutOfcpu", Message: "Pod was rejected: no room"}
			},
			want: setupFails("PodRejected"),
		},
	})
}

func TestWhatIsEndedStaysEnded(t *testing.T) {
	ended := func(s *scene) { s.run(); s.agentEnds("Error", 3, "", time.Minute); s.judge() }
	want := endsBadly("agent_failed", "AgentFailed")
	runPlays(t, map[string]play{
		"nothing happens":          {ended, want},
		"its pod is deleted":       {func(s *scene) { ended(s); s.delete(s.pod().Name); s.terminated() }, want},
		"it is asked to be idle":   {func(s *scene) { ended(s); s.ask(orcav1alpha1.DesiredStateIdle) }, want},
		"it is asked to end":       {func(s *scene) { ended(s); s.ask(orcav1alpha1.DesiredStateEnded) }, want},
		"it is asked to run":       {func(s *scene) { ended(s); s.ask(orcav1alpha1.DesiredStateRunning) }, want},
		"somebody asks to resume":  {func(s *scene) { ended(s); s.resume("please") }, want},
		"its environment goes":     {func(s *scene) { ended(s); s.environment = nil }, want},
		"its pod is said to run":   {func(s *scene) { ended(s); agentRuns(s.pod(), s.now) }, want},
		"its pod is said to be ok": {func(s *scene) { ended(s); s.agentEnds("Completed", 0, agentExited, time.Minute) }, want},
	})
}
