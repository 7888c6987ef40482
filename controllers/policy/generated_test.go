// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/policy"
	"github.com/orca-agent-engine/orca-operator/controllers/settings"
)

// address is what the oracle knows of a URL: whether it is sound, or would be if
// http:// were allowed, and the directory's name that comes of it.
type address struct {
	sound, http bool
	name        string
}

var addresses = map[string]address{
	"https://git.test/org/app.git":     {sound: true, name: "app"},
	"https://git.test/other/app/":      {sound: true, name: "app"},
	"git@git.test:App":                 {sound: true, name: "App"},
	"ssh://git@[::1]:22/~a/lib.git":    {sound: true, name: "lib"},
	"https://git.test/org/app.git.git": {sound: true, name: "app.git"},
	"https://git.test/skills":          {sound: true, name: "skills"},
	"http://git.test/org/app":          {http: true, name: "app"},
	"https://git.test/org/..":          {sound: true},
	"git@git.test:22:app":              {sound: true},
	"https://git.test/-app":            {sound: true},
	"https://token@git.test/app":       {},
	"https://git.test/app?x":           {},
	"file:///srv/app":                  {},
	"ext::sh":                          {},
	"-app":                             {},
	"git.test:app":                     {},
}

var badRefs = map[string]bool{
	"-x": true, "a..b": true, "a.lock": true, "v1 ": true, "@": true, "a@{1}": true, "/a": true, "a~1": true, "HEAD": true, "abc def": true,
	"main": false, "feature/#12-x": false, "v1": false, "": false,
}

// keys returns the keys of a map in a fixed order.
func keys[V any](m map[string]V) []string {
	var out []string
	for key := range m {
		out = append(out, key)
	}
	return set(out)
}

func pick[T any](random *rand.Rand, from ...T) T { return from[random.IntN(len(from))] }

// generatePath returns a path that often meets another one, and is often wrong.
func generatePath(random *rand.Rand) string {
	base := pick(random, "", "/workspace", "/workspace", "/mnt/memory", "/mnt/memory/notes", "/mnt/memory/a", "/mnt/session", "/mnt/session/uploads", "/srv", "/srv", "/data", "/tmp", "/etc", "/var/run", "/dev/shm", "srv", "/opt", "/opt", "/home", "/mnt/session/uploads/file_0")
	var path strings.Builder
	path.WriteString(base)
	for range random.IntN(4) {
		path.WriteString("/" + pick(random, "a", "a", "b", "a-b", "a b", "A", "app", "skills", "skills-x", "file_0", "outputs", "notes"))
	}
	if random.IntN(20) == 0 {
		path.WriteString(pick(random, "/", "//", "/.", "/..", ":", "\n", "\u200b", "/"+strings.Repeat("x", 256), strings.Repeat("/x", 500), "\xff"))
	}
	return path.String()
}

func generateAccess(random *rand.Rand) orcav1alpha1.Access {
	return pick(random, "", readOnly, readOnly, readOnly, readWrite)
}

func generateFile(random *rand.Rand) orcav1alpha1.FileResource {
	out := orcav1alpha1.FileResource{FileID: pick(random, "file_0", "file_1", "a.b")}
	out.Source.ConfigMapKeyRef = orcav1alpha1.ConfigMapKeyReference{Name: "inputs", Key: pick(random, "key", "key", "key", "key", "key", "-rf", ".hidden")}
	if random.IntN(20) == 0 {
		out.Source = orcav1alpha1.FileSource{Artifact: &orcav1alpha1.ArtifactSource{}}
	}
	if random.IntN(2) == 0 {
		out.MountPath = generatePath(random)
	}
	if random.IntN(5) == 0 {
		out.Filename = pick(random, "a", "b", "key", "a b", "..", ".git", "a/b", " a", "a:b", "-a")
	}
	return out
}

func generateStore(random *rand.Rand) orcav1alpha1.MemoryStoreResource {
	return orcav1alpha1.MemoryStoreResource{
		StoreID: fmt.Sprintf("mem_%d", random.IntN(6)), Access: generateAccess(random), Source: onClaim(fmt.Sprintf("claim-%d", random.IntN(8))),
		StoreName: pick(random, "", "", "notes", "a", "mem_1", "../a", ".git", "n\u200b", "Notes", strings.Repeat("é", 128)),
	}
}

func generateRepository(random *rand.Rand) orcav1alpha1.GitRepositoryResource {
	urls := keys(addresses)
	out := orcav1alpha1.GitRepositoryResource{URL: pick(random, urls...), Access: generateAccess(random)}
	if addresses[out.URL].name == "" && random.IntN(3) > 0 {
		out.URL = "https://git.test/org/app.git"
	}
	if random.IntN(3) > 0 {
		out.MountPath = generatePath(random)
	}
	if random.IntN(6) == 0 {
		out.Ref = new(pick(random, orcav1alpha1.GitReference{Branch: pick(random, keys(badRefs)...)}, orcav1alpha1.GitReference{Tag: pick(random, "v1", "-x", "a@{1}")},
			orcav1alpha1.GitReference{Commit: "abc def"}))
	}
	return out
}

func generateSession(random *rand.Rand) *orcav1alpha1.OrcaSession {
	count := pick(random, 0, 1, 2, 2, 3, 3, 4, 5, 8, 20)
	var resources []resource
	for _, i := range random.Perm(count) {
		r := resource{Name: fmt.Sprintf("r%02d", i)}
		switch random.IntN(3) {
		case 0:
			r.File = generateFile(random)
		case 1:
			r.MemoryStore = generateStore(random)
		default:
			r.GitRepository = generateRepository(random)
		}
		resources = append(resources, r)
	}
	out := session(resources...)
	out.Spec.Command = pick(random, nil, []string{"agent"}, []string{"agent"}, []string{"agent"})
	out.Spec.Args = pick(random, nil, nil, nil, nil, nil, []string{"x"})
	out.Spec.Env = pick(random, nil, nil, nil, nil, nil, []orcav1alpha1.EnvVar{{Name: "LANG"}})
	if random.IntN(4) == 0 {
		out.Spec.Command, out.Spec.Args, out.Spec.Env = nil, nil, nil // As Separate mode wants it.
	}
	return out
}

func deployments(t *testing.T) []settings.Effective {
	var out []settings.Effective
	for _, lines := range []string{
		"", "  command: [agent]", "  sharedMemory: 0", "mode: Separate", "setup: {allowHTTP: true}", "limits: {files: 1}",
		"  command: [agent]\nsetup: {allowHTTP: true}\nlimits: {files: 5}", "mode: Separate\nlimits: {files: 2}",
	} {
		out = append(out, effective(t, lines))
	}
	return out
}

// thinks returns what the package thinks of a session.
func thinks(session *orcav1alpha1.OrcaSession, deployment settings.Effective) opinion {
	refused, warnings := policy.SessionAdmission(session, deployment)
	var about []string
	for _, warning := range warnings {
		for _, what := range []string{aboutDirectory, aboutFiles, aboutRepositories, aboutStores, aboutReadOnly, aboutClaims, aboutIdle} {
			if strings.Contains(warning, what) {
				about = append(about, what)
			}
		}
	}
	return opinion{reasons(refused), reasons(policy.Session(session, deployment)), set(about)}
}

// eachGenerated runs a test on generated sessions, other ones each time.
func eachGenerated(t *testing.T, test func(t *testing.T, session *orcav1alpha1.OrcaSession, deployment settings.Effective)) {
	t.Helper()
	base := uint64(time.Now().UnixNano())
	available := deployments(t)
	for seed := base; seed < base+5000 && !t.Failed(); seed++ {
		random := rand.New(rand.NewPCG(seed, 0))
		session, deployment := generateSession(random), pick(random, available...)
		if test(t, session, deployment); t.Failed() {
			text, _ := yaml.Marshal(session.Spec)
			t.Fatalf("seed %d, mode %s, %d files, allowHTTP %t:\n%s", seed, deployment.Mode, deployment.Limits.Files, deployment.Setup.AllowHTTP, text)
		}
	}
}

func TestThePackageAndTheOracleAgree(t *testing.T) {
	seen := map[string]int{}
	eachGenerated(t, func(t *testing.T, session *orcav1alpha1.OrcaSession, deployment settings.Effective) {
		want, got := ask(session, deployment), thinks(session, deployment)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the oracle's opinion (-) and the package's (+):\n%s", diff)
		}
		for _, what := range append(want.Start, want.Warnings...) {
			seen[what]++
		}
		if len(want.Start) == 0 {
			seen["nothing"]++
		}
	})
	for _, what := range []string{
		"LimitExceeded", "InvalidSpec", "FileUnavailable", "ReservedRoot", "DuplicateMountPath", "OverlappingRoots", "MountConflict", "nothing",
		aboutDirectory, aboutFiles, aboutRepositories, aboutStores, aboutReadOnly, aboutClaims, aboutIdle,
	} {
		if seen[what] < 5 {
			t.Errorf("%q was seen %d times: the sessions show too little", what, seen[what])
		}
	}
	t.Log(seen)
}

func TestWhatIsRefusedDoesNotDependOnTheOrderOfTheList(t *testing.T) {
	eachGenerated(t, func(t *testing.T, session *orcav1alpha1.OrcaSession, deployment settings.Effective) {
		want := verdicts(policy.Session(session, deployment))
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(session.Spec.Resources), func(i, j int) {
			session.Spec.Resources[i], session.Spec.Resources[j] = session.Spec.Resources[j], session.Spec.Resources[i]
		})
		if diff := cmp.Diff(want, verdicts(policy.Session(session, deployment))); diff != "" {
			t.Errorf("violations (-want +got):\n%s", diff)
		}
	})
}

// verdicts returns what is said of each resource, whatever its place in the list.
func verdicts(violations policy.Violations) []string {
	var out []string
	for _, v := range violations {
		out = append(out, fmt.Sprintf("%s %s %v %s", v.Reason, v.Resource, v.Cause.BadValue, v.Cause.Detail))
	}
	return set(out)
}

func TestWhatAdmissionRefusesStartsNothing(t *testing.T) {
	eachGenerated(t, func(t *testing.T, session *orcav1alpha1.OrcaSession, deployment settings.Effective) {
		starts := policy.Session(session, deployment)
		refused, warnings := policy.SessionAdmission(session, deployment)
		if !containsAll(starts, refused) {
			t.Errorf("admission refuses %+v, start only %+v", summaries(refused), summaries(starts))
		}
		if len(starts) > len(refused) && len(warnings) == 0 {
			t.Errorf("nobody is warned of %+v", summaries(starts))
		}
	})
}

func containsAll(all, some policy.Violations) bool {
	have := map[string]bool{}
	for _, v := range all {
		have[v.Reason+v.Resource+v.Cause.Error()] = true
	}
	for _, v := range some {
		if !have[v.Reason+v.Resource+v.Cause.Error()] {
			return false
		}
	}
	return true
}
