// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
)

// withStore gives the session a store, whose claim is there.
func withStore(s *scene) {
	s.session.Spec.Resources = append(s.session.Spec.Resources, notes())
}

// loses takes the store's claim away, and returns gives it another one.
func loses(s *scene) {
	s.inputs = inputs{lost: []lostClaim{{"notes-claim", "does not exist"}}, versions: "without"}
}

func returns(s *scene) {
	s.inputs = inputs{versions: "second", newest: metav1.NewTime(s.now)}
}

func waitsForClaim(since time.Duration) outcome {
	return outcome{
		State: "Pending", Reason: "MemoryStoreUnavailable", Verdict: status.InProgressStatus,
		Prepared: "Preparing", After: setupTimeout - since,
	}
}

func TestWhenAClaimIsMissing(t *testing.T) {
	missing := func(s *scene) { withStore(s); loses(s); s.judge() }
	fails := func(s *scene) { missing(s); s.later(setupTimeout); s.judge() }
	resumed := starting(1)
	resumed.Error = "setup_failed MemoryStoreUnavailable"
	runPlays(t, map[string]play{
		"it isn't there":                       {func(s *scene) { withStore(s); loses(s) }, waitsForClaim(0)},
		"it isn't there for a minute":          {func(s *scene) { missing(s); s.later(time.Minute) }, waitsForClaim(time.Minute)},
		"it appears":                           {func(s *scene) { missing(s); s.later(time.Minute); returns(s) }, starting(1)},
		"it appears in the last second":        {func(s *scene) { missing(s); s.later(setupTimeout - time.Second); returns(s) }, starting(1)},
		"the time is over":                     {func(s *scene) { missing(s); s.later(setupTimeout) }, setupFails("MemoryStoreUnavailable")},
		"it isn't there after the failure":     {func(s *scene) { fails(s); s.later(time.Hour) }, setupFails("MemoryStoreUnavailable")},
		"it appears after the failure":         {func(s *scene) { fails(s); s.later(time.Hour); returns(s) }, resumed},
		"it appears as the session fails":      {func(s *scene) { fails(s); returns(s) }, resumed},
		"it appears and a ConfigMap went":      {func(s *scene) { fails(s); s.inputs = inputs{missing: []string{"inputs"}} }, fileLackedAfter(resumed)},
		"it appears and the session is edited": {func(s *scene) { fails(s); returns(s); s.settings.Limits.Files = 0 }, setupFails("MemoryStoreUnavailable")},
		"nobody asks for a sandbox": {
			func(s *scene) { missing(s); s.ask(idle) },
			outcome{State: "Idle", Reason: "Idle", Verdict: status.CurrentStatus, Prepared: "Pending"},
		},
		"the environment isn't there either": {
			func(s *scene) { withStore(s); loses(s); s.environment = nil },
			waiting("Pending", "EnvironmentNotFound"),
		},
		"it goes while the session is idle": {
			func(s *scene) {
				withStore(s)
				s.run()
				s.ask(idle)
				s.judge()
				s.terminated()
				s.judge()
				loses(s)
				s.ask(runs)
			},
			waitsForClaim(0),
		},
		"it went while the session was idle, and returns after the failure": {
			func(s *scene) {
				withStore(s)
				s.run()
				s.ask(idle)
				s.judge()
				s.terminated()
				s.judge()
				loses(s)
				s.ask(runs)
				s.judge()
				s.later(setupTimeout)
				s.judge()
				// The one that was there before, restored with its old age.
				s.inputs = inputs{versions: "first"}
			},
			func() outcome { o := starting(2); o.Error = resumed.Error; return o }(),
		},
	})
}

// fileLackedAfter is a session that goes on and lacks a file then.
func fileLackedAfter(resumed outcome) outcome {
	return outcome{
		State: "Pending", Reason: "FileUnavailable", Verdict: status.InProgressStatus,
		Prepared: "Preparing", Error: resumed.Error, After: recheckInputs,
	}
}

func TestAClaimIsNamed(t *testing.T) {
	for why, want := range map[string]string{
		"does not exist":   `resource "notes": claim "notes-claim" does not exist`,
		"is being deleted": `resource "notes": claim "notes-claim" is being deleted`,
	} {
		s := newScene(t)
		withStore(s)
		s.inputs.lost = []lostClaim{{"notes-claim", why}}
		s.judge()
		if got := s.message(); got != want {
			t.Errorf("message = %q, want %q", got, want)
		}
	}
}

// F25: a volume that another node holds keeps the pod's containers from being
// started, without a word in the pod.
func TestWhenTheNodeDoesNotMountAVolume(t *testing.T) {
	held := func(after time.Duration) func(*scene) {
		return func(s *scene) { withStore(s); s.start(); scheduled(s.pod(), s.now); s.later(after) }
	}
	early := func(left time.Duration) outcome {
		return outcome{State: "Starting", Reason: "Starting", Verdict: status.InProgressStatus, Prepared: "Preparing", After: left}
	}
	late := func(since time.Duration) outcome {
		o := early(setupTimeout - since)
		o.Reason = "MemoryStoreUnavailable"
		return o
	}
	fails := func(s *scene) {
		held(setupTimeout)(s)
		s.judge()
		s.terminated()
	}
	resumed := starting(2)
	resumed.Error = "setup_failed MemoryStoreUnavailable"
	runPlays(t, map[string]play{
		"the pod is just on its node":   {held(0), early(volumePatience)},
		"a second before it is told":    {held(volumePatience - time.Second), early(time.Second)},
		"after a minute":                {held(volumePatience), late(volumePatience)},
		"until the time is over":        {held(setupTimeout), removed("MemoryStoreUnavailable")},
		"after the failure":             {func(s *scene) { fails(s); s.later(time.Hour) }, setupFails("MemoryStoreUnavailable")},
		"and the claim is made anew":    {func(s *scene) { fails(s); s.later(time.Hour); returns(s) }, resumed},
		"and the claim goes":            {func(s *scene) { fails(s); s.later(time.Hour); loses(s) }, setupFails("MemoryStoreUnavailable")},
		"and somebody resumes":          {func(s *scene) { fails(s); s.resume("1") }, resumed},
		"it mounts it after all":        {func(s *scene) { held(2 * volumePatience)(s); s.judge(); agentRuns(s.pod(), s.now) }, running()},
		"the session has no store":      {func(s *scene) { s.start(); scheduled(s.pod(), s.now); s.later(volumePatience) }, early(setupTimeout - volumePatience)},
		"the pod has no node":           {func(s *scene) { withStore(s); s.start(); s.later(volumePatience) }, early(setupTimeout - volumePatience)},
		"setup runs":                    {func(s *scene) { held(volumePatience)(s); setupRuns(s) }, early(setupTimeout - volumePatience)},
		"the pod is ready for its own":  {func(s *scene) { held(volumePatience)(s); s.pod().Status.Conditions[1].Status = "True" }, early(setupTimeout - volumePatience)},
		"an image can't be pulled":      {func(s *scene) { held(volumePatience)(s); pulls(s) }, func() outcome { o := late(volumePatience); o.Reason = "ImagePullFailed"; return o }()},
		"no node takes it for a volume": {func(s *scene) { held(volumePatience)(s); unbound(s) }, func() outcome { o := late(volumePatience); o.Reason = "Unschedulable"; return o }()},
	})
}

// setupRuns is news of a container from a kubelet that doesn't tell whether a
// pod is ready for them.
func setupRuns(s *scene) {
	s.pod().Status.Conditions = s.pod().Status.Conditions[:1]
	s.pod().Status.InitContainerStatuses[0].State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
}

func pulls(s *scene) {
	s.pod().Status.InitContainerStatuses[0].State = waits("ErrImagePull", "no such image")
}

func unbound(s *scene) {
	unschedulable(s.pod(), "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims")
}

func TestAVolumeThatIsNotMountedIsNamed(t *testing.T) {
	s := newScene(t)
	withStore(s)
	s.start()
	scheduled(s.pod(), s.now)
	s.later(volumePatience)
	s.judge()
	want := "the node has not mounted the pod's volumes; 'kubectl describe pod " + s.session.Status.PodName +
		`' shows the cause; the memory stores' claims are "notes-claim"`
	if got := s.message(); got != want {
		t.Errorf("message = %q, want %q", got, want)
	}
}

// F21: what the launcher found of a store.
func TestWhenAStoreCannotBeWritten(t *testing.T) {
	ends := func(message string) func(*scene) {
		return func(s *scene) { withStore(s); s.start(); s.agentEnds("Error", 125, message, 0) }
	}
	const (
		readOnly  = `{"code":"StoreReadOnly","path":"/mnt/memory/mem_notes"}`
		forbidden = `{"code":"StoreForbidden","path":"/mnt/memory/mem_notes"}`
	)
	cases := map[string]struct {
		before                  func(*scene)
		reason, policy, message string
	}{
		"the volume is read-only": {
			ends(readOnly), "MemoryStoreUnavailable", "False WritePolicyUnverified",
			`resource "notes": claim "notes-claim": the volume is read-only, and the store is ReadWrite`,
		},
		"the volume is another user's": {
			ends(forbidden), "MemoryStoreUnavailable", "False WritePolicyUnverified",
			`resource "notes": claim "notes-claim": user and group 1000 may not write at the volume's root; its driver may not heed fsGroup`,
		},
		"a path that no store has": {
			ends(`{"code":"StoreReadOnly","path":"/mnt/memory/other"}`), "WritePolicyUnverified", "False WritePolicyUnverified",
			`the write policy could not be established: "/mnt/memory/other"`,
		},
		"a repository beside the stores": {
			func(s *scene) {
				repository := app()
				repository.GitRepository.MountPath = "/mnt/memory/app"
				s.session.Spec.Resources = append(s.session.Spec.Resources, repository)
				ends(`{"code":"StoreReadOnly","path":"/mnt/memory/app"}`)(s)
			},
			"WritePolicyUnverified", "False WritePolicyUnverified",
			`the write policy could not be established: "/mnt/memory/app"`,
		},
		"the agent ran, and says so": {
			func(s *scene) { withStore(s); s.run(); s.agentEnds("Error", 125, readOnly, time.Minute) }, "AgentFailed", "True VerifiedMountsOnly",
			"the agent exited with code 125",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			tc.before(s)
			s.judge()
			ready := meta.FindStatusCondition(s.session.Status.Conditions, orcav1alpha1.ConditionReady)
			policy := meta.FindStatusCondition(s.session.Status.Conditions, orcav1alpha1.ConditionWritePolicyEstablished)
			if ready.Reason != tc.reason || ready.Message != tc.message {
				t.Errorf("Ready is %s %q, want %s %q", ready.Reason, ready.Message, tc.reason, tc.message)
			}
			if got := string(policy.Status) + " " + policy.Reason; got != tc.policy {
				t.Errorf("WritePolicyEstablished is %q, want %q", got, tc.policy)
			}
		})
	}
	failed := setupFails("MemoryStoreUnavailable")
	resumed := waiting("Pending", "WaitingForTermination")
	resumed.Prepared, resumed.Error, resumed.Removes = "MemoryStoreUnavailable", failed.Error, 1
	runPlays(t, map[string]play{
		"and nothing changes":               {func(s *scene) { ends(readOnly)(s); s.judge(); s.later(time.Hour) }, failed},
		"and the claim is as old as before": {func(s *scene) { ends(readOnly)(s); s.judge(); s.inputs.newest.Time = s.now.Add(time.Hour) }, failed},
		"and the claim is another":          {func(s *scene) { ends(readOnly)(s); s.judge(); returns(s) }, resumed},
	})
}
