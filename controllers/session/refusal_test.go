// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

func forbidden(text string) error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "report-1", errors.New(text))
}

// refuse lets the API server refuse the pod that a judgement asks for.
func (s *scene) refuse(err error) outcome {
	s.t.Helper()
	j := judge(s.observation)
	if j.start == 0 {
		s.t.Fatalf("no sandbox is started: %+v", j.status)
	}
	j.refused(err)
	j.start = 0
	s.carryOut(j)
	s.checkStatus()
	return s.outcome(j)
}

func TestAPodThatTheAPIServerRefuses(t *testing.T) {
	const (
		quota = "exceeded quota: small, requested: limits.cpu=2, used: limits.cpu=0, limited: limits.cpu=1"
		psa   = `violates PodSecurity "restricted:latest"`
	)
	refused := func(reason string, after time.Duration) outcome {
		return outcome{State: "Starting", Reason: reason, Verdict: status.InProgressStatus, Prepared: "Preparing", After: after}
	}
	cases := map[string]struct {
		text  string
		after time.Duration
		want  outcome
	}{
		"a rule of the namespace forbids it":         {psa, 0, refused("PodRejected", retryRefused)},
		"a quota has no room":                        {quota, 0, refused("QuotaExceeded", retryRefused)},
		"the next try comes at the deadline at most": {quota, setupTimeout - 3*time.Second, refused("QuotaExceeded", 3*time.Second)},
		"a quota has no room until the time is over": {quota, setupTimeout, setupFails("QuotaExceeded")},
		"it is forbidden until the time is over":     {psa, setupTimeout, setupFails("PodRejected")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.refuse(forbidden(tc.text))
			s.later(tc.after)
			if diff := cmp.Diff(tc.want, s.refuse(forbidden(tc.text))); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
			if got := s.message(); strings.Contains(got, "cpu") {
				t.Errorf("message %q tells what the deployment gives a sandbox", got)
			}
		})
	}
}

func TestARefusalClearsByItself(t *testing.T) {
	s := newScene(t)
	s.refuse(forbidden("exceeded quota: small"))
	s.later(retryRefused)
	if diff := cmp.Diff(starting(1), s.outcome(s.judge())); diff != "" {
		t.Errorf("outcome (-want +got):\n%s", diff)
	}
}

func TestARefusalIsNoSandbox(t *testing.T) {
	s := newScene(t)
	s.loses()
	s.resume("now")
	s.refuse(forbidden("exceeded quota: small"))
	if got := s.session.Status; got.Attempt != 1 || got.PodName != "" || got.PodUID != "" {
		t.Errorf("attempt %d, pod %q %q; want the first attempt and no pod", got.Attempt, got.PodName, got.PodUID)
	}
	s.ask(idle)
	want := reached("Idle")
	want.Error = lost().Error
	if diff := cmp.Diff(want, s.outcome(s.judge())); diff != "" {
		t.Errorf("outcome once it is asked to be idle (-want +got):\n%s", diff)
	}
}

func TestWithoutAmounts(t *testing.T) {
	cases := map[string]struct{ message, want string }{
		"a quota": {
			`pods "p" is forbidden: exceeded quota: small, requested: limits.cpu=2,pods=1, used: limits.cpu=0, limited: limits.cpu=1`,
			`pods "p" is forbidden: exceeded quota: small`,
		},
		"a range of limits": {
			`pods "p" is forbidden: [maximum cpu usage per Container is 1, but limit is 2, minimum memory usage per Container is 1Gi, but request is 256Mi]`,
			`pods "p" is forbidden: [maximum cpu usage per Container is 1, minimum memory usage per Container is 1Gi]`,
		},
		"a node": {
			"OutOfcpu: Pod was rejected: Node didn't have enough resource: cpu, requested: 2000, used: 100, capacity: 1000",
			"OutOfcpu: Pod was rejected: Node didn't have enough resource: cpu",
		},
		"nothing of the kind": {
			`pods "p" is forbidden: violates PodSecurity "restricted:latest", but nothing else`,
			`pods "p" is forbidden: violates PodSecurity "restricted:latest", but nothing else`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := withoutAmounts(tc.message); got != tc.want {
				t.Errorf("message = %q, want %q", got, tc.want)
			}
		})
	}
}
