// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/sandbox"
)

// seeds is how many generated sessions each invariant is tried on.
const seeds = 100

// eachGenerated runs a test on generated inputs. What a seed gives is always
// the same.
func eachGenerated(t *testing.T, test func(t *testing.T, random *rand.Rand, in sandbox.Input)) {
	t.Helper()
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			test(t, random, generateInput(t, random))
		})
	}
}

// eachInput runs a test on the inputs of the expected pods, which have what
// chance may leave out, and on generated ones.
func eachInput(t *testing.T, test func(t *testing.T, random *rand.Rand, in sandbox.Input)) {
	t.Helper()
	for name, in := range goldenInputs(t) {
		t.Run(name, func(t *testing.T) { test(t, rand.New(rand.NewPCG(0, 0)), in) })
	}
	eachGenerated(t, test)
}

func generateInput(t *testing.T, random *rand.Rand) sandbox.Input {
	t.Helper()
	s := session(slices.Concat(generateFiles(random), generateRepositories(random), generateStores(random))...)
	s.Name = generateName(random, 1+random.IntN(253))
	s.UID = types.UID(fmt.Sprintf("%08x-0000-4000-8000-%012x", random.Uint32(), random.Uint64N(1<<48)))
	s.Spec.Command, s.Spec.Args = generateWords(random), generateWords(random)
	for i := range random.IntN(8) {
		s.Spec.Env = append(s.Spec.Env, orcav1alpha1.EnvVar{Name: fmt.Sprintf("NAME_%d", i), Value: new(pick(random, awkward))})
	}
	in := input(s, effective(t, generateSettings(random)))
	in.Attempt = 1 + random.Int32N(1000)
	in.Lifetime = time.Duration(1 + random.Int64N(int64(24*time.Hour)))
	return in
}

// awkward are values that a shell, the kubelet, JSON or YAML might change.
var awkward = []string{
	"", " ", "plain", "$(HOME)", "$$(HOME)", "${HOME}", "`id`", "a b", "<&>\u2028", "\"quoted\"", "back\\slash",
	"new\nline", "\ttab", "ünï", "🐋", "--flag=value", "#", "'",
}

func pick[T any](random *rand.Rand, from []T) T { return from[random.IntN(len(from))] }

func generateWords(random *rand.Rand) []string {
	words := []string{"program"}
	for range random.IntN(5) {
		words = append(words, pick(random, awkward))
	}
	return words
}

// generateName returns the name of an object, with dots and hyphens where they
// are allowed.
func generateName(random *rand.Rand, length int) string {
	name := make([]byte, length)
	for i := range name {
		name[i] = "abcxyz0189"[random.IntN(10)]
		inside := i > 0 && i < length-1 && name[i-1] != '.' && name[i-1] != '-'
		if inside && random.IntN(6) == 0 {
			name[i] = ".-"[random.IntN(2)]
		}
	}
	return string(name)
}

// generateFiles returns files of which no two have one path.
func generateFiles(random *rand.Rand) []orcav1alpha1.SessionResource {
	folders := []string{"", "", "/workspace", "/workspace/deep/er", "/mnt/session/uploads/other", "/mnt/memory/notes", "/data", "/opt/in/put", "/home/ünï 🐋", "/srv/..data"}
	count := random.IntN(30)
	if random.IntN(10) == 0 {
		count = 100
	}
	var out []orcav1alpha1.SessionResource
	for i := range count {
		resource := file(fmt.Sprintf("file-%02d", i), "")
		if folder := pick(random, folders); folder != "" {
			resource.File.MountPath = fmt.Sprintf("%s/name %d%s", folder, i, strings.Repeat("x", random.IntN(200)))
		}
		resource.File.Source.ConfigMapKeyRef.Name = pick(random, []string{"inputs", "more", "inputs.v2"})
		out = append(out, resource)
	}
	return out
}

// generateRepositories returns repositories of which no two overlap.
func generateRepositories(random *rand.Rand) []orcav1alpha1.SessionResource {
	var out []orcav1alpha1.SessionResource
	for i := range random.IntN(9) {
		name := fmt.Sprintf("repository-%d", i)
		path := pick(random, []string{"", "", "/workspace/deep/repositories/" + name, "/srv/" + name, "/srv/" + name + "/"})
		resource := repository(name, pick(random, accesses), path)
		resource.GitRepository.URL = pick(random, []string{"https://git.test/org/", "git@git.test:", "ssh://git@[::1]:22/~a/"}) + name
		resource.GitRepository.Credentials.SecretRef.Name = pick(random, []string{"", "git-cred", "git-cred.v2", strings.Repeat("s", 253)})
		out = append(out, resource)
	}
	return out
}

// generateStores returns stores of which those of one claim are all ReadOnly.
func generateStores(random *rand.Rand) []orcav1alpha1.SessionResource {
	var out []orcav1alpha1.SessionResource
	for i := range random.IntN(9) {
		name := fmt.Sprintf("store-%d", i)
		access := pick(random, accesses)
		claim := "claim." + name + strings.Repeat("c", random.IntN(230))
		if access != orcav1alpha1.AccessReadWrite {
			claim = pick(random, []string{claim, "shared"})
		}
		resource := store(name, access, claim)
		resource.MemoryStore.StoreName = pick(random, []string{"", "Notes " + name, "../" + name, "ünï 🐋 " + name})
		out = append(out, resource)
	}
	return out
}

var accesses = []orcav1alpha1.Access{"", orcav1alpha1.AccessReadOnly, orcav1alpha1.AccessReadWrite}

func generateSettings(random *rand.Rand) string {
	lines := []string{
		fmt.Sprintf("  runAsUser: %d", 1+random.IntN(70000)),
		fmt.Sprintf("  sharedMemory: %s", pick(random, []string{"0", "64Mi", "1Gi"})),
		pick(random, []string{"", "  runtimeClassName: gvisor"}),
		pick(random, []string{"", "  podLabels: {b: '1', a: '2', c: '3'}"}),
		pick(random, []string{"", "  podAnnotations: {b: '1', a: '2', c: '3'}"}),
		pick(random, []string{"", "  imagePullSecrets: [one, two]"}),
		pick(random, []string{"", "  nodeSelector: {b: '1', a: '2', c: '3'}"}),
		pick(random, []string{"", "  command: [deployment]"}),
		pick(random, []string{"", "  tolerations: [{key: b, operator: Exists}, {key: a, operator: Equal, value: '1', effect: NoExecute, tolerationSeconds: 60}]"}),
		pick(random, []string{"", "mode: Colocated", "mode: Separate"}),
	}
	return strings.Join(lines, "\n")
}
