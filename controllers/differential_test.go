// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/admission"
	orcatesting "github.com/orca-agent-engine/orca-operator/controllers/internal/testing"
)

// generated is how many sessions are compared.
const generated = 200

// What the webhook refuses, the controller refuses where there is no webhook,
// for the same reason first; what it lets, the controller starts, but for what
// it warned of.
func TestWebhookAndControllerAgree(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	judged, unjudged := newJudgedNamespace(t), newNamespace(t)
	create(t, newEnvironment(unjudged, "env"))
	serveWebhooks(t, "")
	start(t, unjudged, nil)

	webhookSays := make([]verdict, generated)
	sessions := make([]*orcav1alpha1.OrcaSession, generated)
	for i := range sessions {
		sessions[i] = newSession(unjudged, fmt.Sprintf("s-%d", i), "env")
		sessions[i].Spec.Resources = randomResources(random)
		trial := sessions[i].DeepCopy()
		trial.Namespace = judged
		webhookSays[i] = judgedByWebhook(t, trial)
		create(t, sessions[i])
	}
	seen := map[string]int{}
	for i, session := range sessions {
		says, want := judgedByController(t, session), webhookSays[i]
		if says.reason != want.reason && (says.reason != orcav1alpha1.ReasonMountConflict || !want.warned) {
			t.Errorf("session %d: the webhook says %+v, the controller %+v, of %+v", i, want, says, session.Spec.Resources)
		}
		seen[says.reason]++
	}
	t.Logf("reasons %v", seen)
	for _, reason := range []string{"", "InvalidSpec", "OverlappingRoots", "ReservedRoot", "DuplicateMountPath", "MountConflict"} {
		if seen[reason] == 0 {
			t.Errorf("no session of them all has the verdict %q", reason)
		}
	}
}

// verdict is what becomes of a session.
type verdict struct {
	// reason is that of the first broken rule; "" for a session that may start.
	reason string
	// warned tells whether its maker was told that it won't.
	warned bool
}

// newJudgedNamespace makes a namespace in which the webhooks are called.
func newJudgedNamespace(t *testing.T) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "judged-", Labels: map[string]string{labelJudged: "yes"},
	}}
	create(t, namespace)
	return namespace.Name
}

// serveWebhooks answers the webhooks until the test ends.
func serveWebhooks(t *testing.T, lines string) {
	t.Helper()
	mgr, err := ctrl.NewManager(restConfig, ctrl.Options{
		Scheme:  scheme,
		Metrics: metricsserver.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(webhook.Options{
			Host: served.LocalServingHost, Port: served.LocalServingPort, CertDir: served.LocalServingCertDir,
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	admission.Setup(mgr, orcatesting.Settings(t, lines))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the manager ended: %v", err)
		}
	})
	started := mgr.GetWebhookServer().StartedChecker()
	await(t, "the webhooks to be served", func() bool { return started(nil) == nil })
}

// warnings collects what the API server warns of.
type warnings struct {
	mu   sync.Mutex
	list []string
}

// HandleWarningHeader keeps a warning.
func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, text)
}

// reasonOf finds the reason in the text of a cause.
var reasonOf = regexp.MustCompile(`\((\w+)\)$`)

func judgedByWebhook(t *testing.T, session *orcav1alpha1.OrcaSession) verdict {
	t.Helper()
	heard := &warnings{}
	config := rest.CopyConfig(restConfig)
	config.WarningHandler = heard
	maker, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	err = maker.Create(t.Context(), session, client.DryRunAll)
	if err == nil {
		return verdict{warned: strings.Contains(strings.Join(heard.list, "\n"), orcav1alpha1.ReasonMountConflict)}
	}
	status, is := errors.AsType[*apierrors.StatusError](err)
	if !is || !apierrors.IsInvalid(err) {
		t.Fatalf("making %+v: %v", session.Spec.Resources, err)
	}
	cause := status.ErrStatus.Details.Causes[0].Message
	found := reasonOf.FindStringSubmatch(cause)
	if found == nil {
		t.Fatalf("the cause %q names no reason", cause)
	}
	return verdict{reason: found[1]}
}

func judgedByController(t *testing.T, session *orcav1alpha1.OrcaSession) verdict {
	t.Helper()
	await(t, "the session to be looked at", func() bool {
		get(t, session)
		return session.Status.ObservedGeneration == session.Generation
	})
	if session.Status.State != orcav1alpha1.SessionStateIdle {
		return verdict{}
	}
	return verdict{reason: session.Status.Error.Reason}
}

// randomResources returns resources of all kinds whose paths often meet.
func randomResources(random *rand.Rand) []orcav1alpha1.SessionResource {
	var out []orcav1alpha1.SessionResource
	for i := range 1 + random.IntN(6) {
		name := fmt.Sprintf("r-%d", i)
		switch random.IntN(3) {
		case 0:
			out = append(out, randomFile(random, name))
		case 1:
			out = append(out, randomRepository(random, name))
		default:
			out = append(out, randomStore(random, name))
		}
	}
	return out
}

func pick[T any](random *rand.Rand, values ...T) T { return values[random.IntN(len(values))] }

// oddly returns an odd value now and then: one that breaks the rules of values
// keeps those of paths from being met.
func oddly(random *rand.Rand, odd string, values ...string) string {
	if random.IntN(20) == 0 {
		return odd
	}
	return pick(random, values...)
}

func randomPath(random *rand.Rand) string {
	odd := pick(random, "/etc/x", "/data/../x", "/tmp/x", "/workspace/skills", "data", "/mnt/session/outputs")
	root := oddly(random, "", "/data", "/workspace", "/workspace/app", "/workspace/skills", "/mnt/memory/Notes", "/opt")
	if root == "" {
		return odd
	}
	return oddly(random, "", root+"/a", root+"/b", root+"/a/b", root+"/a b")
}

func randomAccess(random *rand.Rand) orcav1alpha1.Access {
	return pick(random, orcav1alpha1.AccessReadOnly, orcav1alpha1.AccessReadOnly, orcav1alpha1.AccessReadWrite)
}

func randomFile(random *rand.Rand, name string) orcav1alpha1.SessionResource {
	file := newFile(name, "inputs")
	file.File.FileID = pick(random, "file_1", "file_2", "file_3")
	file.File.Filename = oddly(random, "-a.txt", "", "a.txt")
	file.File.MountPath = randomPath(random)
	return file
}

func randomRepository(random *rand.Rand, name string) orcav1alpha1.SessionResource {
	return orcav1alpha1.SessionResource{Name: name, GitRepository: orcav1alpha1.GitRepositoryResource{
		URL: oddly(random, pick(random, "http://git.test/app", "https://u:p@git.test/app", "ext::sh -c id", "https://git.test/org/skills"),
			"https://git.test/org/app.git", "https://git.test/org/lib", "git@git.test:org/app.git"),
		Access:    randomAccess(random),
		MountPath: randomPath(random),
	}}
}

func randomStore(random *rand.Rand, name string) orcav1alpha1.SessionResource {
	store := orcav1alpha1.MemoryStoreResource{
		StoreID:   pick(random, "mem_1", "mem_2", "mem_3"),
		StoreName: pick(random, "", "Notes", "a/b", "mem_1"),
		Access:    randomAccess(random),
	}
	store.Source.PersistentVolumeClaim.ClaimName = pick(random, "notes", "more", "most")
	return orcav1alpha1.SessionResource{Name: name, MemoryStore: store}
}
