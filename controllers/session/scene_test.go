// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"slices"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	orcatesting "github.com/orca-agent-engine/orca-operator/controllers/internal/testing"
	"github.com/orca-agent-engine/orca-operator/controllers/sandbox"
)

// setupTimeout and maxLifetime are those of every scene's deployment.
const (
	setupTimeout = 10 * time.Minute
	maxLifetime  = time.Hour
)

// scene is one session and what is around it. What a judgement asks for happens
// in it, as the reconciler would do it.
type scene struct {
	t *testing.T
	observation
	// alter changes each pod on its way; nil if nobody does.
	alter func(*corev1.Pod)
	// removed counts the pods that the last judgement deleted.
	removed int
}

// newScene has a session that nobody looked at yet, and its environment.
func newScene(t *testing.T) *scene {
	t.Helper()
	deployment := orcatesting.Settings(t, "  maxLifetime: 1h\n  agentGracePeriod: 30s\nsetup: {timeout: 10m}\n")
	return &scene{t: t, observation: observation{
		settings: deployment.ForNamespace("team"),
		now:      time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		session: &orcav1alpha1.OrcaSession{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "report", UID: "uid", Generation: 1},
			Spec: orcav1alpha1.OrcaSessionSpec{
				EnvironmentRef: orcav1alpha1.EnvironmentReference{Name: "env"},
				DesiredState:   orcav1alpha1.DesiredStateRunning,
				Resources:      []orcav1alpha1.SessionResource{file("table", "")},
			},
			Status: orcav1alpha1.OrcaSessionStatus{ObservedGeneration: -1},
		},
		environment: &orcav1alpha1.OrcaEnvironment{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "env"}},
		inputs:      inputs{versions: "first"},
	}}
}

func file(name, mountPath string) orcav1alpha1.SessionResource {
	return orcav1alpha1.SessionResource{Name: name, File: orcav1alpha1.FileResource{
		FileID:    "file_" + name,
		Source:    orcav1alpha1.FileSource{ConfigMapKeyRef: orcav1alpha1.ConfigMapKeyReference{Name: "inputs", Key: name}},
		MountPath: mountPath,
	}}
}

// app is a repository, and notes a memory store that the agent may write.
func app() orcav1alpha1.SessionResource {
	return orcav1alpha1.SessionResource{Name: "app", GitRepository: orcav1alpha1.GitRepositoryResource{URL: "https://git.test/org/app.git"}}
}

func notes() orcav1alpha1.SessionResource {
	return orcav1alpha1.SessionResource{Name: "notes", MemoryStore: orcav1alpha1.MemoryStoreResource{
		StoreID: "mem_notes", Access: orcav1alpha1.AccessReadWrite,
		Source: orcav1alpha1.MemoryStoreSource{PersistentVolumeClaim: orcav1alpha1.ClaimReference{ClaimName: "notes-claim"}},
	}}
}

// judge judges the session and lets happen what follows. Whatever it says must
// read well, and must be said once: the next look at the same things may change
// nothing.
func (s *scene) judge() *judgement {
	s.t.Helper()
	s.unrecorded = find(s.pods, sandbox.PodName(s.session, s.session.Status.Attempt+1))
	j := judge(s.observation)
	s.carryOut(j)
	s.checkStatus()

	again := judge(s.observation)
	if diff := cmp.Diff(s.session.Status, again.status); diff != "" {
		s.t.Errorf("status at a second look (-first +second):\n%s", diff)
	}
	if again.warning != nil || again.start != 0 {
		s.t.Errorf("a second look warns of %+v and starts attempt %d", again.warning, again.start)
	}
	return j
}

func (s *scene) carryOut(j *judgement) {
	s.t.Helper()
	s.removed = 0
	if j.start > 0 {
		pod, err := sandbox.Build(sandbox.Input{
			Session: s.session, Settings: s.settings, Attempt: j.start,
			Lifetime: j.remaining(), InputVersions: s.inputs.versions,
		})
		if err != nil {
			s.t.Fatal(err)
		}
		made := pod.DeepCopy()
		if s.alter != nil {
			s.alter(made)
		}
		s.pods = append(s.pods, *made)
		j.beginWith(pod, made)
	}
	for _, pod := range j.remove {
		s.delete(pod.Name)
	}
	s.session = s.session.DeepCopy()
	s.session.Status = j.status
}

func (s *scene) checkStatus() {
	s.t.Helper()
	is := s.session.Status
	orcatesting.CheckConditions(s.t, is.Conditions, s.session.Generation)
	if is.ObservedGeneration != s.session.Generation {
		s.t.Errorf("status is about generation %d, want %d", is.ObservedGeneration, s.session.Generation)
	}
	for _, condition := range is.Conditions {
		checkText(s.t, condition.Message)
	}
	checkText(s.t, is.Error.Message)
	if is.Error.Type != "" && is.Error.Message == "" {
		s.t.Error("the error has no message")
	}
	if is.RunSeconds < 0 {
		s.t.Errorf("runSeconds = %d", is.RunSeconds)
	}
	s.checkEndTime()
	s.checkWritePolicy()
}

// checkWritePolicy: whoever sees an agent running, or that it ran to its end,
// sees that its write policy was verified; whoever doesn't see it prepared
// doesn't see that.
func (s *scene) checkWritePolicy() {
	s.t.Helper()
	is := s.session.Status
	verified := meta.IsStatusConditionTrue(is.Conditions, orcav1alpha1.ConditionWritePolicyEstablished)
	if prepared := meta.IsStatusConditionTrue(is.Conditions, orcav1alpha1.ConditionPrepared); verified != prepared {
		s.t.Errorf("prepared: %v, write policy verified: %v", prepared, verified)
	}
	ready := meta.FindStatusCondition(is.Conditions, orcav1alpha1.ConditionReady)
	if ready.Reason == orcav1alpha1.ReasonRunning && !verified {
		s.t.Error("the agent is seen running without a verified write policy")
	}
}

// checkEndTime: an attempt that is over has an end, one that isn't has none.
func (s *scene) checkEndTime() {
	s.t.Helper()
	is := s.session.Status
	switch is.State {
	case orcav1alpha1.SessionStateIdle, orcav1alpha1.SessionStateEnded:
		if is.Attempt > 0 && is.EndTime.IsZero() {
			s.t.Errorf("attempt %d has no endTime in state %s", is.Attempt, is.State)
		}
	case orcav1alpha1.SessionStateStarting, orcav1alpha1.SessionStateRunning:
		if is.PodName != "" && !is.EndTime.IsZero() {
			s.t.Errorf("attempt %d has an endTime in state %s", is.Attempt, is.State)
		}
	default:
	}
}

func checkText(t *testing.T, text string) {
	t.Helper()
	if len(text) > maxMessage || !utf8.ValidString(text) {
		t.Errorf("a text of %d bytes, valid UTF-8 %v", len(text), utf8.ValidString(text))
	}
}

// ask is the user's edit of desiredState.
func (s *scene) ask(desired orcav1alpha1.DesiredState) {
	s.session = s.session.DeepCopy()
	s.session.Spec.DesiredState = desired
	s.session.Generation++
}

// resume is the user's new value of the annotation.
func (s *scene) resume(value string) {
	s.session = s.session.DeepCopy()
	metav1.SetMetaDataAnnotation(&s.session.ObjectMeta, orcav1alpha1.ResumeAnnotation, value)
}

func (s *scene) later(d time.Duration) { s.now = s.now.Add(d) }

// pod returns the pod of the session's attempt, to be changed as the kubelet
// would.
func (s *scene) pod() *corev1.Pod {
	s.t.Helper()
	pod := find(s.pods, s.session.Status.PodName)
	if pod == nil {
		s.t.Fatalf("there is no pod %q", s.session.Status.PodName)
	}
	return pod
}

// delete asks for a pod's deletion; terminated is its end.
func (s *scene) delete(name string) {
	if pod := find(s.pods, name); pod != nil && pod.DeletionTimestamp == nil {
		pod.DeletionTimestamp = new(metav1.NewTime(s.now))
		s.removed++
	}
}

func (s *scene) terminated() {
	s.pods = slices.DeleteFunc(s.pods, func(pod corev1.Pod) bool { return pod.DeletionTimestamp != nil })
}

// start brings the session to Starting.
func (s *scene) start() {
	s.t.Helper()
	if j := s.judge(); j.start == 0 {
		s.t.Fatalf("no sandbox is started: %+v", s.session.Status)
	}
}

// run brings the session to Running.
func (s *scene) run() {
	s.t.Helper()
	s.start()
	agentRuns(s.pod(), s.now)
	s.judge()
	if s.session.Status.State != orcav1alpha1.SessionStateRunning {
		s.t.Fatalf("the session isn't running: %+v", s.session.Status)
	}
}

// outcome is what a judgement comes to, as a table shows it.
type outcome struct {
	State orcav1alpha1.SessionState
	// Reason and Verdict are Ready's reason and what kstatus makes of the whole.
	Reason   string
	Verdict  status.Status
	Prepared string
	// Error is the type and the reason of the session.error.
	Error string
	// Start is the attempt that is started, Removes how many pods are removed.
	Start   int32
	Removes int
	After   time.Duration
}

func (s *scene) outcome(j *judgement) outcome {
	s.t.Helper()
	is := s.session.Status
	out := outcome{
		State:    is.State,
		Reason:   meta.FindStatusCondition(is.Conditions, orcav1alpha1.ConditionReady).Reason,
		Verdict:  orcatesting.Verdict(s.t, s.session),
		Prepared: meta.FindStatusCondition(is.Conditions, orcav1alpha1.ConditionPrepared).Reason,
		Start:    j.start, Removes: s.removed, After: j.after,
	}
	if is.Error.Type != "" {
		out.Error = string(is.Error.Type) + " " + is.Error.Reason
	}
	return out
}

// play is a case of a table: what happens before the judgement, and what that
// comes to.
type play struct {
	before func(*scene)
	want   outcome
}

func runPlays(t *testing.T, plays map[string]play) {
	t.Helper()
	for name, p := range plays {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			p.before(s)
			if diff := cmp.Diff(p.want, s.outcome(s.judge())); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
		})
	}
}

// message returns Ready's message.
func (s *scene) message() string {
	return meta.FindStatusCondition(s.session.Status.Conditions, orcav1alpha1.ConditionReady).Message
}

func equalStatus(a, b orcav1alpha1.OrcaSessionStatus) bool {
	return equality.Semantic.DeepEqual(a, b)
}
