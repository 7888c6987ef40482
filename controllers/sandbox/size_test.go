// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
	"github.com/orca-agent-engine/orca-operator/controllers/sandbox"
	"github.com/orca-agent-engine/orca-operator/controllers/settings"
)

// padded returns the input of a session that says so many bytes more.
func padded(deployment settings.Effective, padding int) sandbox.Input {
	s := session()
	s.Name = strings.Repeat("n", 253)
	for padding > 0 {
		part := min(padding, 30_000)
		s.Spec.Args = append(s.Spec.Args, strings.Repeat("x", part))
		padding -= part
	}
	return input(s, deployment)
}

// largest returns the input of a session that says as much as it may.
func largest(t *testing.T) sandbox.Input {
	t.Helper()
	const most = 180_000
	deployment := effective(t, "")
	pod := build(t, padded(deployment, most))
	size := len(pod.Annotations[setupAnnotation]) + len(pod.Annotations[sandboxAnnotation])
	in := padded(deployment, most+manifest.MaxBytes-size-len(`,""`))
	pod = build(t, in)
	if got := len(pod.Annotations[setupAnnotation]) + len(pod.Annotations[sandboxAnnotation]); got != manifest.MaxBytes {
		t.Fatalf("the largest manifest has %d bytes, want %d", got, manifest.MaxBytes)
	}
	return in
}

// generous returns settings that add to a manifest as much as they may.
func generous(t *testing.T) settings.Effective {
	t.Helper()
	proxy := "http://" + strings.Repeat("p", 2048-len("http://"))
	deployment := effective(t, fmt.Sprintf("  podAnnotations: {a: %s}\nsetup:\n  proxy: {httpProxy: %q, httpsProxy: %q, noProxy: %q}\n",
		strings.Repeat("a", 16384-1), proxy, proxy, strings.Repeat("n", 4096)))
	// What is in a certificate doesn't matter here, only that its lines are as
	// those of PEM.
	line := strings.Repeat("A", 64) + "\n"
	deployment.Setup.ExtraCA = strings.Repeat(line, 32768/len(line))
	return deployment
}

func TestASessionMaySayJustAsMuchAsAPodCanCarry(t *testing.T) {
	in := largest(t)
	if err := sandbox.Check(in); err != nil {
		t.Errorf("the largest session is refused: %v", err)
	}
	in.Session.Spec.Args[0] += "x"
	if err := sandbox.Check(in); !errors.Is(err, sandbox.ErrTooLarge) {
		t.Errorf("one byte more: error = %v, want %v", err, sandbox.ErrTooLarge)
	}
	if _, err := sandbox.Build(in); !errors.Is(err, sandbox.ErrTooLarge) {
		t.Errorf("one byte more is built: error = %v, want %v", err, sandbox.ErrTooLarge)
	}
}

func TestWhatTheDeploymentAddsIsNoneOfTheSessionsBytes(t *testing.T) {
	in := largest(t)
	in.Settings = generous(t)
	pod := build(t, in)
	if got := len(pod.Annotations[setupAnnotation]); got < len(in.Settings.Setup.ExtraCA)+2*2048+4096 {
		t.Errorf("setup is told %d bytes, fewer than the deployment says", got)
	}
	if errs := apivalidation.ValidateAnnotations(pod.Annotations, field.NewPath("metadata", "annotations")); len(errs) > 0 {
		t.Errorf("the API server refuses the pod: %v", errs.ToAggregate())
	}
}

func TestCheckTellsOfASessionThatThePolicyRefuses(t *testing.T) {
	err := sandbox.Check(input(session(file("passwd", "/etc/passwd")), effective(t, "")))
	if err == nil || errors.Is(err, sandbox.ErrTooLarge) {
		t.Errorf("error = %v, want one about file \"passwd\"", err)
	}
}

// F24: a session at all of its limits fits, and leaves the API server room: it
// takes an object of 1.5 MiB and annotations of 256 KiB.
func TestASessionAtAllLimitsFits(t *testing.T) {
	in := input(session(atTheLimits()...), generous(t))
	if err := sandbox.Check(in); err != nil {
		t.Fatal(err)
	}
	pod := build(t, in)
	if errs := apivalidation.ValidateAnnotations(pod.Annotations, field.NewPath("metadata", "annotations")); len(errs) > 0 {
		t.Errorf("the API server refuses the pod: %v", errs.ToAggregate())
	}
	if size, limit := len(encode(t, pod)), 512<<10; size > limit {
		t.Errorf("the pod has %d bytes, want at most %d", size, limit)
	}
	document := decode[manifest.Setup](t, pod, setupAnnotation, pod.Spec.InitContainers[0])
	for _, repository := range document.Repositories {
		if len(repository.URL) < 1480 {
			t.Errorf("a URL of %d bytes is no test of the limits", len(repository.URL))
		}
	}
}
