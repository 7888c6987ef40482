// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
)

// held is a sandbox that isn't there yet after some time.
func held(reason string, since time.Duration) outcome {
	return outcome{State: "Starting", Reason: reason, Verdict: status.InProgressStatus, Prepared: "Preparing", After: setupTimeout - since}
}

func running() outcome {
	return outcome{State: "Running", Reason: "Running", Verdict: status.CurrentStatus, Prepared: "Prepared"}
}

// removed is a sandbox that goes because it wasn't there in time.
func removed(reason string) outcome {
	out := setupFails(reason)
	out.Removes = 1
	return out
}

func TestWhileTheSandboxIsMade(t *testing.T) {
	const second = time.Second
	pulls := func(reason string) corev1.ContainerState { return waits(reason, "back-off pulling image") }
	runPlays(t, map[string]play{
		"nothing has happened to the pod yet": {
			before: func(s *scene) { s.start(); s.later(second) },
			want:   held("Starting", second),
		},
		"the pod is on a node": {
			before: func(s *scene) { s.start(); s.later(second); s.pod().Spec.NodeName = "node" },
			want:   held("Starting", second),
		},
		"no node takes the pod": {
			before: func(s *scene) { s.start(); s.later(second); unschedulable(s.pod(), "0/1 nodes are available") },
			want:   held("Unschedulable", second),
		},
		"no node takes the pod until the time is over": {
			before: func(s *scene) { s.start(); s.later(setupTimeout); unschedulable(s.pod(), "0/1 nodes are available") },
			want:   removed("Unschedulable"),
		},
		"the runtime image can't be pulled": {
			before: func(s *scene) { s.start(); s.later(second); setupIs(s.pod(), pulls("ImagePullBackOff")) },
			want:   held("ImagePullFailed", second),
		},
		"the runtime image's name is invalid": {
			before: func(s *scene) { s.start(); s.later(second); setupIs(s.pod(), pulls("InvalidImageName")) },
			want:   held("ImagePullFailed", second),
		},
		"the agent's image can't be pulled": {
			before: func(s *scene) { s.start(); s.later(second); agentIs(s.pod(), pulls("ErrImagePull"), false) },
			want:   held("ImagePullFailed", second),
		},
		"the agent's image can't be pulled until the time is over": {
			before: func(s *scene) { s.start(); s.later(setupTimeout); agentIs(s.pod(), pulls("ErrImagePull"), false) },
			want:   removed("ImagePullFailed"),
		},
		"setup runs": {
			before: func(s *scene) {
				s.start()
				s.later(second)
				setupIs(s.pod(), corev1.ContainerState{Running: &corev1.ContainerStateRunning{}})
			},
			want: held("Starting", second),
		},
		"the launcher runs, but the agent hasn't been executed": {
			before: func(s *scene) {
				s.start()
				s.later(second)
				agentIs(s.pod(), corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, false)
			},
			want: held("Starting", second),
		},
		"the pod is ready, which says nothing of the agent": {
			before: func(s *scene) {
				s.start()
				s.later(second)
				agentIs(s.pod(), corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, false)
				s.pod().Status.ContainerStatuses[0].Ready = true
				s.pod().Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
			},
			want: held("Starting", second),
		},
		"setup began later, and still has time to say what takes so long": {
			before: func(s *scene) {
				s.start()
				s.later(time.Second)
				setupIsRunning(s.pod(), s.now)
				s.later(setupTimeout)
			},
			want: held("Starting", setupTimeout-reportTime),
		},
		"setup doesn't say what takes so long": {
			before: func(s *scene) {
				s.start()
				s.later(time.Second)
				setupIsRunning(s.pod(), s.now)
				s.later(setupTimeout + reportTime)
			},
			want: removed("SetupTimeout"),
		},
		"the agent isn't executed until the time is over": {
			before: func(s *scene) { s.start(); s.later(setupTimeout) },
			want:   removed("SetupTimeout"),
		},
		"there is a second left": {
			before: func(s *scene) { s.start(); s.later(setupTimeout - second) },
			want:   held("Starting", setupTimeout-second),
		},
		"the agent was executed": {
			before: func(s *scene) { s.start(); s.later(second); agentRuns(s.pod(), s.now) },
			want:   running(),
		},
		"the agent was executed in time while nobody looked": {
			before: func(s *scene) { s.start(); s.later(24 * time.Hour); agentRuns(s.pod(), s.now) },
			want:   running(),
		},
	})
}

func TestAHoldupIsNamed(t *testing.T) {
	cases := map[string]struct {
		state corev1.ContainerState
		want  string
	}{
		"an image":               {waits("ErrImagePull", "no such image"), `container "setup": ErrImagePull: no such image`},
		"a container's settings": {waits("CreateContainerError", "bad mount"), `container "setup": CreateContainerError: bad mount`},
		"nothing unusual":        {waits("ContainerCreating", ""), messageStarting},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.start()
			setupIs(s.pod(), tc.state)
			s.judge()
			if got := s.message(); got != tc.want {
				t.Errorf("message = %q, want %q", got, tc.want)
			}
			s.later(setupTimeout)
			s.judge()
			if got := s.message(); !strings.Contains(got, tc.want) {
				t.Errorf("message once the time is over = %q, want one with %q", got, tc.want)
			}
		})
	}
}

func TestWhatTheSandboxConsistsOfIsTold(t *testing.T) {
	s := newScene(t)
	s.start()
	is := s.session.Status
	if is.Attempt != 1 || is.PodName != s.pods[0].Name || !is.StartTime.Equal(new(metav1.NewTime(s.now))) {
		t.Errorf("attempt %d, pod %q, start %v", is.Attempt, is.PodName, is.StartTime)
	}
	if len(is.Resources) != 1 || is.Resources[0].MountPath != "/mnt/session/uploads/file_table/table" {
		t.Errorf("resources = %+v", is.Resources)
	}
}

func TestNoStatusIsWrittenForTheStepsOfAStart(t *testing.T) {
	s := newScene(t)
	s.start()
	want := s.session.Status
	steps := map[string]func(){
		"scheduled":        func() { s.pod().Spec.NodeName = "node" },
		"creating setup":   func() { setupIs(s.pod(), waits("PodInitializing", "")) },
		"setup running":    func() { setupIs(s.pod(), corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}) },
		"setup done":       func() { setupEnds(s.pod(), "Completed", 0, "") },
		"launcher running": func() { agentIs(s.pod(), corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, false) },
	}
	for name, step := range steps {
		s.later(time.Second)
		step()
		if s.judge(); !equalStatus(want, s.session.Status) {
			t.Errorf("%s: status became %+v", name, s.session.Status)
		}
	}
}

func TestARunningSession(t *testing.T) {
	runPlays(t, map[string]play{
		"it runs on": {
			before: func(s *scene) { s.run(); s.later(time.Minute) },
			want:   running(),
		},
		"the kubelet starts again and forgets that the startup probe succeeded": {
			before: func(s *scene) {
				s.run()
				s.later(setupTimeout + time.Minute)
				agentIs(s.pod(), corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, false)
			},
			want: running(),
		},
		"its environment goes": {
			before: func(s *scene) { s.run(); s.environment = nil },
			want:   running(),
		},
		"its environment gets packages": {
			before: func(s *scene) { s.run(); s.environment.Spec.Config.Packages = []string{"numpy"} },
			want:   running(),
		},
		"its lifetime is edited in no way, but its ttl is": {
			before: func(s *scene) { s.run(); s.ask(orcav1alpha1.DesiredStateRunning) },
			want:   running(),
		},
		"somebody asks for a resume": {
			before: func(s *scene) { s.run(); s.resume("now") },
			want:   running(),
		},
	})
}
