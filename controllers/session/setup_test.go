// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
)

const lacksKey = `{"code":"FileUnavailable","resource":"table","cause":"ConfigMap \"inputs\" has no key \"table\""}`

func TestWhenSetupFails(t *testing.T) {
	fails := func(reason string, code int32, message string) func(*scene) {
		return func(s *scene) { s.start(); s.later(time.Second); setupEnds(s.pod(), reason, code, message) }
	}
	unverified := setupFails("WritePolicyUnverified")
	runPlays(t, map[string]play{
		"two contents clash":                       {fails("Error", 1, `{"code":"MountConflict","resource":"table","cause":"it is a directory"}`), setupFails("MountConflict")},
		"the agent could write what is sealed":     {fails("Error", 1, `{"code":"OverlappingRoots","resource":"table","cause":"x"}`), setupFails("OverlappingRoots")},
		"it took too long":                         {fails("Error", 1, `{"code":"SetupTimeout","cause":"after 10m"}`), setupFails("SetupTimeout")},
		"it ran out of memory":                     {fails("OOMKilled", 137, ""), setupFails("SetupOutOfMemory")},
		"the platform failed":                      {fails("Error", 1, `{"code":"Internal","cause":"no space left on device"}`), unverified},
		"it left nothing":                          {fails("Error", 2, ""), unverified},
		"it left what is no result":                {fails("Error", 2, "panic: runtime error"), unverified},
		"it left a result with an unknown code":    {fails("Error", 1, `{"code":"Fine","cause":"all is well"}`), unverified},
		"it left a result without a code":          {fails("Error", 1, `{"cause":"all is well"}`), unverified},
		"it left a result with an unknown field":   {fails("Error", 1, `{"code":"MountConflict","cause":"x","more":1}`), unverified},
		"it left two results":                      {fails("Error", 1, `{"code":"MountConflict","cause":"x"}{}`), unverified},
		"it left more than a message can hold":     {fails("Error", 1, `{"code":"MountConflict","cause":"`+strings.Repeat("x", 5000)+`"}`), unverified},
		"it left a result that gives no cause":     {fails("Error", 1, `{"code":"MountConflict"}`), setupFails("MountConflict")},
		"it could not be started at all":           {fails("StartError", 128, "exec: no such file"), unverified},
		"it says that it failed and exits with 0":  {fails("Completed", 0, lacksKey), held("Starting", time.Second)},
		"it could not be started and nobody waits": {func(s *scene) { fails("StartError", 128, "")(s); s.later(setupTimeout) }, unverified},
	})
}

func TestWhenAKeyOfAConfigMapIsMissing(t *testing.T) {
	lacks := func(s *scene) { s.start(); s.later(time.Second); setupEnds(s.pod(), "Error", 1, lacksKey); s.judge() }
	wait := outcome{State: "Starting", Reason: "FileUnavailable", Verdict: status.InProgressStatus, Prepared: "Preparing", After: recheckInputs}
	terminating := outcome{State: "Pending", Reason: "WaitingForTermination", Verdict: status.InProgressStatus, Prepared: "Preparing"}
	last := wait
	last.After = time.Second
	failed := setupFails("FileUnavailable")
	recheck := failed
	recheck.After = recheckFailed
	retry := func(o outcome) outcome { o.Removes = 1; return o }
	resumed := waiting("Pending", "WaitingForTermination")
	resumed.Prepared, resumed.Error, resumed.Removes = "FileUnavailable", failed.Error, 1
	edited := func(s *scene) { s.inputs.versions = "second"; s.later(minBackOff) }
	runPlays(t, map[string]play{
		"nothing changes": {
			before: lacks,
			want:   wait,
		},
		"there is a second left": {
			before: func(s *scene) { lacks(s); s.later(setupTimeout - 2*time.Second) },
			want:   last,
		},
		"the time is over": {
			before: func(s *scene) { lacks(s); s.later(setupTimeout) },
			want:   recheck,
		},
		"the ConfigMap is edited at once, and again and again": {
			before: func(s *scene) { lacks(s); s.inputs.versions = "second" },
			want:   wait,
		},
		"the ConfigMap is edited": {
			before: func(s *scene) { lacks(s); edited(s) },
			want:   retry(terminating),
		},
		"the ConfigMap was edited, and the sandbox that lacked the key goes": {
			before: func(s *scene) { lacks(s); edited(s); s.judge() },
			want:   terminating,
		},
		"the ConfigMap was edited, and the sandbox that lacked the key is gone": {
			before: func(s *scene) { lacks(s); edited(s); s.judge(); s.terminated() },
			want:   starting(2),
		},
		"nothing changes after the failure": {
			before: func(s *scene) { lacks(s); s.later(setupTimeout); s.judge(); s.later(time.Hour) },
			want:   recheck,
		},
		"the ConfigMap is edited after the failure": {
			before: func(s *scene) { lacks(s); s.later(setupTimeout); s.judge(); s.later(time.Hour); edited(s) },
			want:   resumed,
		},
		"the ConfigMap goes after the failure": {
			before: func(s *scene) {
				lacks(s)
				s.later(setupTimeout)
				s.judge()
				s.inputs = inputs{missing: []string{"inputs"}, versions: "none"}
			},
			want: recheck,
		},
		"the session is asked to be idle meanwhile": {
			before: func(s *scene) { lacks(s); s.ask(orcav1alpha1.DesiredStateIdle) },
			want:   retry(waiting("Ending", "Ending")),
		},
		"the second sandbox lacks the key too, and the time for both is over": {
			before: func(s *scene) {
				lacks(s)
				edited(s)
				s.judge()
				s.terminated()
				s.judge()
				setupEnds(s.pod(), "Error", 1, lacksKey)
				s.later(setupTimeout - time.Second)
			},
			want: recheck,
		},
	})
}

func TestAFailedSetupSaysWhatItLacked(t *testing.T) {
	s := newScene(t)
	s.start()
	setupEnds(s.pod(), "Error", 1, lacksKey)
	s.judge()
	const want = `resource "table": ConfigMap "inputs" has no key "table"`
	if got := s.message(); got != want {
		t.Errorf("message = %q, want %q", got, want)
	}
}

func TestAnEditThatComesTooLateIsANewTry(t *testing.T) {
	s := newScene(t)
	s.start()
	setupEnds(s.pod(), "Error", 1, lacksKey)
	s.judge()
	s.later(setupTimeout)
	s.inputs.versions = "second"
	j := judge(s.observation)
	if j.status.State != orcav1alpha1.SessionStateIdle || j.status.Error.Reason != orcav1alpha1.ReasonFileUnavailable {
		t.Errorf("status = %+v, want a failure first", j.status)
	}
	s.carryOut(j)
	s.judge()
	s.terminated()
	j = s.judge()
	if left := j.deadline().Sub(s.now); j.start != 2 || left != setupTimeout {
		t.Errorf("attempt %d with %s left, want the second with all of its time", j.start, left)
	}
}
