// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/orca-agent-engine/orca-operator/controllers"
	orcatesting "github.com/orca-agent-engine/orca-operator/controllers/internal/testing"
)

// manager is a running operator that looks after one namespace.
type manager struct {
	t      *testing.T
	cancel context.CancelFunc
	done   chan error
	// client reads from the operator's cache.
	client client.Client
	// writes are the operator's requests that change something.
	writes *writes
}

// start runs an operator until the test ends or stop is called. Its requests
// fail as the given function says.
func start(t *testing.T, namespace string, fail func(write int, r *http.Request) bool) *manager {
	t.Helper()
	return startWith(t, namespace, "", fail)
}

// startWith is start with lines of a settings file.
func startWith(t *testing.T, namespace, lines string, fail func(write int, r *http.Request) bool) *manager {
	t.Helper()
	m := &manager{t: t, done: make(chan error, 1), writes: &writes{fail: fail}}
	mgr := m.newManager(namespace)
	ctx, cancel := context.WithCancel(t.Context())
	m.cancel, m.client = cancel, mgr.GetClient()
	if err := controllers.Setup(ctx, mgr, orcatesting.Settings(t, lines), 4); err != nil {
		t.Fatal(err)
	}
	go func() { m.done <- mgr.Start(ctx) }()
	t.Cleanup(m.stop)
	return m
}

func (m *manager) newManager(namespace string) ctrl.Manager {
	m.t.Helper()
	options, err := controllers.CacheOptions()
	if err != nil {
		m.t.Fatal(err)
	}
	options.DefaultNamespaces = map[string]cache.Config{namespace: {}}
	counted := asManager()
	counted.Wrap(func(next http.RoundTripper) http.RoundTripper { m.writes.next = next; return m.writes })
	mgr, err := ctrl.NewManager(counted, ctrl.Options{
		Scheme:  scheme,
		Cache:   options,
		Client:  client.Options{FieldOwner: "orca-manager", FieldValidation: "Strict"},
		Metrics: metricsserver.Options{BindAddress: "0"},
		// Nothing calls it: what the webhooks refuse, these tests get past them.
		WebhookServer: webhook.NewServer(webhook.Options{Port: -1}),
		// One process runs many managers, one after the other.
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return mgr
}

// stop ends the operator, if it hasn't ended. One whose cache never filled
// doesn't end.
func (m *manager) stop() {
	m.cancel()
	select {
	case err, running := <-m.done:
		if !running {
			return
		}
		close(m.done)
		if err != nil {
			m.t.Errorf("the manager ended: %v", err)
		}
	case <-time.After(patience):
		m.t.Errorf("the manager didn't end within %s", patience)
	}
}

// writes counts the requests that change something, and fails some.
type writes struct {
	next http.RoundTripper
	fail func(write int, r *http.Request) bool

	mu   sync.Mutex
	list []string
}

var errBroken = errors.New("the connection is broken on purpose")

func (w *writes) RoundTrip(r *http.Request) (*http.Response, error) {
	if w.fail != nil && w.fail(w.record(r), r) {
		return nil, errBroken
	}
	if w.fail == nil {
		w.record(r)
	}
	return w.next.RoundTrip(r)
}

// record returns how many writes there were before this request.
func (w *writes) record(r *http.Request) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := len(w.list)
	if r.Method != http.MethodGet {
		w.list = append(w.list, r.Method+" "+kind(r.URL.Path))
	}
	return before
}

// kind returns the resource of a path below a namespace, with its subresource.
func kind(path string) string {
	_, rest, _ := strings.Cut(path, "/namespaces/")
	parts := strings.Split(rest, "/") // namespace, resource, name, subresource
	if len(parts) > 3 {
		return parts[1] + "/" + parts[3]
	}
	return strings.Join(parts[min(1, len(parts)-1):min(2, len(parts))], "")
}

// seen returns the writes so far but the given number of first ones.
func (w *writes) seen(but int) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.list[but:])
}

// reconciles returns how many times a controller of this process has finished a
// piece of work.
func reconciles(t *testing.T, controller string) float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	total := 0.0
	for _, family := range families {
		if family.GetName() != "controller_runtime_reconcile_total" {
			continue
		}
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if label.GetName() == "controller" && label.GetValue() == controller {
					total += metric.GetCounter().GetValue()
				}
			}
		}
	}
	return total
}

// awaitReconcile changes something and waits until a controller has looked at
// it.
func awaitReconcile(t *testing.T, controller string, change func()) {
	t.Helper()
	before := reconciles(t, controller)
	change()
	await(t, fmt.Sprintf("the %s controller to look", controller), func() bool { return reconciles(t, controller) > before })
}

// quiet waits until a controller has had nothing to do for a while, and returns
// how many times it has finished a piece of work.
func quiet(t *testing.T, controller string) float64 {
	t.Helper()
	const while = 50
	last, same := reconciles(t, controller), 0
	await(t, fmt.Sprintf("the %s controller to be quiet", controller), func() bool {
		now := reconciles(t, controller)
		same++
		if now != last {
			last, same = now, 0
		}
		return same > while
	})
	return last
}
