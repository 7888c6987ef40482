// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	orcatesting "github.com/orca-agent-engine/orca-operator/controllers/internal/testing"
)

var update = flag.Bool("update", false, "write what kubectl prints about config/samples/refused to testdata")

const refusedSamples = "../../config/samples/refused"

// Each sample in config/samples/refused breaks a rule that new users meet. What
// kubectl prints must tell them what to change: read testdata after an update.
func TestWhatKubectlPrintsAboutRefusedSamples(t *testing.T) {
	serve(t, orcatesting.SettingsWithoutCommand(t, ""))
	apply := applier(t)
	samples, err := filepath.Glob(filepath.Join(refusedSamples, "*.yaml"))
	if err != nil || len(samples) == 0 {
		t.Fatalf("samples %v, %v", samples, err)
	}
	for _, sample := range samples {
		name := strings.TrimSuffix(filepath.Base(sample), ".yaml")
		t.Run(name, func(t *testing.T) {
			got := apply(t, sample)
			golden := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("kubectl apply prints (-want +got):\n%s", diff)
			}
			// F05: no answer repeats a password.
			if strings.Contains(got, "secret-token") {
				t.Error("the answer has the password in it")
			}
		})
	}
}

func TestEveryAnswerBelongsToASample(t *testing.T) {
	answers, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, answer := range answers {
		name := strings.TrimSuffix(filepath.Base(answer), ".txt")
		if _, err := os.Stat(filepath.Join(refusedSamples, name+".yaml")); err != nil {
			t.Errorf("%s: %v", answer, err)
		}
	}
}

// The samples that are no refused ones are let.
func TestTheSamplesAreLet(t *testing.T) {
	serve(t, orcatesting.SettingsWithoutCommand(t, ""))
	kubectl := newKubectl(t)
	if out, err := kubectl("apply", "--dry-run=server", "-k", "../../config/samples").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// server is what differs from run to run.
var address = regexp.MustCompile(`https://[0-9.:]+`)

// applier returns what applies a file, which must be refused, and returns what
// kubectl prints.
func applier(t *testing.T) func(t *testing.T, path string) string {
	kubectl := newKubectl(t)
	return func(t *testing.T, path string) string {
		t.Helper()
		var out bytes.Buffer
		command := kubectl("apply", "-f", path)
		command.Stdout, command.Stderr = &out, &out
		if err := command.Run(); err == nil {
			t.Fatalf("it was let: %s", out.String())
		}
		return address.ReplaceAllString(strings.ReplaceAll(out.String(), path, filepath.Base(path)), "https://SERVER")
	}
}

// newKubectl returns what makes commands of kubectl as a user who may do
// anything.
func newKubectl(t *testing.T) func(args ...string) *exec.Cmd {
	t.Helper()
	admin, err := server.AddUser(envtest.User{Name: "admin-" + strings.ToLower(t.Name()), Groups: []string{"system:masters"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	kubectl, err := admin.Kubectl()
	if err != nil {
		t.Fatal(err)
	}
	return func(args ...string) *exec.Cmd {
		command := exec.CommandContext(t.Context(), kubectl.Path, append(kubectl.Opts, args...)...)
		command.Env = append(os.Environ(), "KUBECACHEDIR="+t.TempDir())
		return command
	}
}
