// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
)

var update = flag.Bool("update", false, "write the pods that are built to testdata")

const everySetting = `
  command: [agent, --deployment]
  runAsUser: 4711
  resources: {requests: {cpu: 250m}, limits: {memory: 3Gi}}
  maxLifetime: 2h
  agentGracePeriod: 45s
  scratchSize: 2Gi
  outputsSize: 20Gi
  sharedMemory: 128Mi
  runtimeClassName: gvisor
  nodeSelector: {pool: agents, arch: amd64}
  tolerations: [{key: agents, operator: Exists, effect: NoSchedule}]
  imagePullSecrets: [registry, mirror]
  podLabels: {team: research, app.kubernetes.io/name: ours}
  podAnnotations: {team.test/owner: research, kubectl.kubernetes.io/default-container: setup}
setup:
  timeout: 90s
  proxy: {httpProxy: "http://proxy.test:3128", httpsProxy: "http://proxy.test:3129", noProxy: "git.test,.svc"}
  resources: {requests: {memory: 64Mi}, limits: {cpu: "1", memory: 256Mi}}
artifacts:
  collectTimeout: 5m
`

func TestBuildMakesTheExpectedPod(t *testing.T) {
	everyField := session(file("table", "/data/in/table.csv"))
	everyField.Spec.Command, everyField.Spec.Args = nil, []string{"--session", "$(HOME) <a&b>"}
	everyField.Spec.Env = []orcav1alpha1.EnvVar{{Name: "LANG", Value: new("C.UTF-8")}, {Name: "EMPTY"}}
	cases := map[string]struct {
		session  *orcav1alpha1.OrcaSession
		settings string
	}{
		"empty":              {session: session()},
		"two-files":          {session: session(file("run", "/data/in/run.csv"), file("table", ""))},
		"one-of-each":        {session: session(oneOfEach()...)},
		"as-many-as-allowed": {session: session(asManyAsAllowed()...)},
		"custom-paths": {session: session(file("run", "/data/in/run.csv"), file("deep", "/workspace/app/data/deep.csv"),
			repository("app", orcav1alpha1.AccessReadOnly, "/srv/app/"), repository("lib", orcav1alpha1.AccessReadWrite, "/srv/lib"))},
		"separate":         {session: session(file("table", "")), settings: "mode: Separate"},
		"hundred-files":    {session: session(files(100)...)},
		"every-setting":    {session: everyField, settings: everySetting},
		"no-shared-memory": {session: session(), settings: "  sharedMemory: 0"},
		"runtime-class":    {session: session(), settings: "  runtimeClassName: kata"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := yaml.Marshal(build(t, input(tc.session, effective(t, tc.settings))))
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", name+".yaml")
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatalf("%v; go test ./controllers/sandbox -update writes it", err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("pod (-want +got; go test ./controllers/sandbox -update accepts it):\n%s", diff)
			}
		})
	}
}
