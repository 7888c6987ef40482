// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	orcatesting "github.com/orca-agent-engine/orca-operator/controllers/internal/testing"
	"github.com/orca-agent-engine/orca-operator/controllers/sandbox"
	"github.com/orca-agent-engine/orca-operator/controllers/session"
)

func TestAnOperatorThatDiesIsReplacedAtAnyPoint(t *testing.T) {
	for deaths := range 4 {
		t.Run(fmt.Sprintf("after %d writes", deaths), func(t *testing.T) {
			namespace := newNamespace(t)
			report := newSession(namespace, "report", "env")
			create(t, newEnvironment(namespace, "env"), report)
			reached := make(chan struct{})
			var once sync.Once
			// What it writes from then on doesn't arrive.
			first := start(t, namespace, func(write int, r *http.Request) bool {
				dead := write >= deaths && r.Method != http.MethodGet
				if dead {
					once.Do(func() { close(reached) })
				}
				return dead
			})
			runWhatIsThere(t, namespace, reached)
			first.stop()

			start(t, namespace, nil)
			await(t, "the sandbox", func() bool { get(t, report); return report.Status.PodName != "" })
			runAgent(t, podOf(t, report))
			awaitState(t, report, "Running", orcav1alpha1.ReasonRunning)
			if podOf(t, report); report.Status.Attempt != 1 {
				t.Errorf("attempt = %d, want the first", report.Status.Attempt)
			}
		})
	}
}

// runWhatIsThere lets agents start in whatever pods there are, until something
// happens.
func runWhatIsThere(t *testing.T, namespace string, until <-chan struct{}) {
	t.Helper()
	await(t, "the operator to die", func() bool {
		for _, pod := range pods(t, namespace) {
			if pod.Status.Phase != corev1.PodRunning {
				runAgent(t, &pod)
			}
		}
		select {
		case <-until:
			return true
		default:
			return false
		}
	})
}

func TestASessionGoesOnAsTheOperatorIsReplaced(t *testing.T) {
	namespace := newNamespace(t)
	report := newSession(namespace, "report", "env")
	create(t, newEnvironment(namespace, "env"), report)
	steps := []struct {
		away   func()
		state  orcav1alpha1.SessionState
		reason string
	}{
		{func() {}, "Starting", orcav1alpha1.ReasonStarting},
		{func() { runAgent(t, podOf(t, report)) }, "Running", orcav1alpha1.ReasonRunning},
		{func() {}, "Running", orcav1alpha1.ReasonRunning},
		{func() { endAgent(t, podOf(t, report), 3) }, "Ended", orcav1alpha1.ReasonAgentFailed},
	}
	for _, step := range steps {
		step.away()
		m := start(t, namespace, nil)
		awaitState(t, report, step.state, step.reason)
		m.stop()
	}
	podOf(t, report)
}

func TestAnAPIServerThatFailsNowAndThen(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	create(t, newEnvironment(namespace, "env"), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "inputs"}})
	var reports []*orcav1alpha1.OrcaSession
	for i := range 10 {
		report := newSession(namespace, fmt.Sprintf("report-%d", i), "env")
		report.Spec.Resources = []orcav1alpha1.SessionResource{newFile("table", "inputs")}
		reports = append(reports, report)
		create(t, report)
	}
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(1, 2))
	start(t, namespace, func(_ int, r *http.Request) bool {
		if strings.Contains(r.URL.RawQuery, "watch=true") {
			return false
		}
		mu.Lock()
		defer mu.Unlock()
		return random.IntN(5) == 0
	})
	for _, report := range reports {
		awaitState(t, report, "Starting", orcav1alpha1.ReasonStarting)
		runAgent(t, podOf(t, report))
		awaitState(t, report, "Running", orcav1alpha1.ReasonRunning)
		if podOf(t, report); report.Status.Attempt != 1 || report.Status.Error.Type != "" {
			t.Errorf("attempt %d, error %+v", report.Status.Attempt, report.Status.Error)
		}
	}
}

// staleReconciler sees no pod in its cache, however many there are.
func staleReconciler(t *testing.T) *session.Reconciler {
	t.Helper()
	base, err := client.NewWithWatch(asManager(), client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	stale := interceptor.NewClient(base, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if _, ok := list.(*corev1.PodList); ok {
				return nil
			}
			return c.List(ctx, list, options...)
		},
	})
	return &session.Reconciler{
		Client: stale, Reader: base, Settings: orcatesting.Settings(t, ""),
		Recorder: &events.FakeRecorder{}, Clock: clock.RealClock{},
	}
}

func TestWorkersThatSeeNoPodsMakeOnePodASession(t *testing.T) {
	namespace := newNamespace(t)
	create(t, newEnvironment(namespace, "env"))
	reconciler := staleReconciler(t)
	var reports []*orcav1alpha1.OrcaSession
	var workers sync.WaitGroup
	for i := range 10 {
		report := newSession(namespace, fmt.Sprintf("report-%d", i), "env")
		create(t, report)
		reports = append(reports, report)
		for range 4 {
			workers.Go(func() {
				if _, err := reconciler.Reconcile(t.Context(), report.DeepCopy()); err != nil {
					t.Errorf("session %s: %v", report.Name, err)
				}
			})
		}
	}
	workers.Wait()
	for _, report := range reports {
		get(t, report)
		if podOf(t, report); report.Status.State != orcav1alpha1.SessionStateStarting || report.Status.Attempt != 1 {
			t.Errorf("state %s, attempt %d", report.Status.State, report.Status.Attempt)
		}
	}
}

func TestAPodThatTheCacheLacksIsNotTakenForLost(t *testing.T) {
	namespace := newNamespace(t)
	report := newSession(namespace, "report", "env")
	create(t, newEnvironment(namespace, "env"), report)
	reconciler := staleReconciler(t)
	for range 3 {
		get(t, report)
		if _, err := reconciler.Reconcile(t.Context(), report.DeepCopy()); err != nil {
			t.Fatal(err)
		}
	}
	get(t, report)
	if podOf(t, report); report.Status.State != orcav1alpha1.SessionStateStarting || report.Status.Attempt != 1 {
		t.Errorf("state %s, attempt %d", report.Status.State, report.Status.Attempt)
	}
}

func TestASessionThatIsGoneIsNoError(t *testing.T) {
	namespace := newNamespace(t)
	report := newSession(namespace, "report", "env")
	create(t, report)
	remove(t, report)
	result, err := staleReconciler(t).Reconcile(t.Context(), report)
	if err != nil || result.RequeueAfter != 0 {
		t.Errorf("result %+v, error %v", result, err)
	}
}

func TestAStrangersPodIsLeftAlone(t *testing.T) {
	for name, owner := range map[string]func(*orcav1alpha1.OrcaSession) []metav1.OwnerReference{
		"that has no owner": func(*orcav1alpha1.OrcaSession) []metav1.OwnerReference { return nil },
		"of an earlier session of that name": func(s *orcav1alpha1.OrcaSession) []metav1.OwnerReference {
			earlier := s.DeepCopy()
			earlier.UID = "earlier"
			return []metav1.OwnerReference{*metav1.NewControllerRef(earlier, orcav1alpha1.SchemeGroupVersion.WithKind("OrcaSession"))}
		},
	} {
		t.Run(name, func(t *testing.T) {
			namespace := newNamespace(t)
			report := newSession(namespace, "report", "env")
			create(t, newEnvironment(namespace, "env"), report)
			stranger := restrictedPod(namespace, sandbox.PodName(report, 1))
			stranger.OwnerReferences = owner(report)
			stranger.Labels = map[string]string{sandbox.LabelSessionUID: string(report.UID), sandbox.LabelAttempt: "1"}
			create(t, stranger)
			start(t, namespace, nil)
			awaitState(t, report, "Pending", orcav1alpha1.ReasonSandboxConflict)
			if report.Status.PodName != "" || report.Status.PodUID != "" || report.Status.Attempt != 0 {
				t.Errorf("the stranger's pod is in the status: %+v", report.Status)
			}
			poke := func() {
				change(t, report, func(s *orcav1alpha1.OrcaSession) {
					metav1.SetMetaDataAnnotation(&s.ObjectMeta, "poked", s.ResourceVersion)
				})
			}
			awaitReconcile(t, "session", poke)
			want := stranger.ResourceVersion
			if get(t, stranger); stranger.ResourceVersion != want || stranger.DeletionTimestamp != nil {
				t.Error("the stranger's pod was changed")
			}
			await(t, "an event", func() bool { return len(eventsOf(t, report)) > 0 })
			if events := eventsOf(t, report); len(events) != 1 || events[0].Reason != orcav1alpha1.ReasonSandboxConflict {
				t.Errorf("events = %v, want one", events)
			}
			remove(t, stranger)
			poke()
			awaitState(t, report, "Starting", orcav1alpha1.ReasonStarting)
			podOf(t, report)
		})
	}
}
