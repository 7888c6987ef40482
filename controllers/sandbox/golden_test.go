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
	"github.com/orca-agent-engine/orca-operator/controllers/sandbox"
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

// goldenInputs returns, by the name of the file in testdata, what each pod there
// is built from.
func goldenInputs(t *testing.T) map[string]sandbox.Input {
	t.Helper()
	everyField := session(file("table", "/data/in/table.csv"))
	everyField.Spec.Command, everyField.Spec.Args = nil, []string{"--session", "$(HOME) <a&b>"}
	everyField.Spec.Env = []orcav1alpha1.EnvVar{{Name: "LANG", Value: new("C.UTF-8")}, {Name: "EMPTY"}}
	plain := effective(t, "")
	return map[string]sandbox.Input{
		"empty":              input(session(), plain),
		"two-files":          input(session(file("run", "/data/in/run.csv"), file("table", "")), plain),
		"one-of-each":        input(session(oneOfEach()...), plain),
		"as-many-as-allowed": input(session(asManyAsAllowed()...), plain),
		"shared-claim":       input(session(sharedClaim()...), plain),
		"custom-paths": input(session(file("run", "/data/in/run.csv"), file("deep", "/workspace/app/data/deep.csv"),
			repository("app", orcav1alpha1.AccessReadOnly, "/srv/app/"), repository("lib", orcav1alpha1.AccessReadWrite, "/srv/lib")), plain),
		"separate":         input(session(file("table", "")), effective(t, "mode: Separate")),
		"hundred-files":    input(session(files(100)...), plain),
		"every-setting":    input(everyField, effective(t, everySetting)),
		"no-shared-memory": input(session(), effective(t, "  sharedMemory: 0")),
		"runtime-class":    input(session(), effective(t, "  runtimeClassName: kata")),
	}
}

func TestBuildMakesTheExpectedPod(t *testing.T) {
	for name, in := range goldenInputs(t) {
		t.Run(name, func(t *testing.T) {
			got, err := yaml.Marshal(build(t, in))
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
