// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/admission"
	orcatesting "github.com/orca-agent-engine/orca-operator/controllers/internal/testing"
)

// serveSessions serves the webhook of sessions alone, over HTTP.
func serveSessions(t testing.TB) *httptest.Server {
	t.Helper()
	validator := &admission.SessionValidator{Settings: orcatesting.Settings(t, "")}
	web := httptest.NewServer(admission.Handler(validator))
	t.Cleanup(web.Close)
	return web
}

// review returns what the API server asks about a new session.
func review(t testing.TB, session *orcav1alpha1.OrcaSession) []byte {
	t.Helper()
	object, err := json.Marshal(session)
	if err != nil {
		t.Fatal(err)
	}
	question := admissionv1.AdmissionReview{Request: &admissionv1.AdmissionRequest{
		UID: "1", Operation: admissionv1.Create, Namespace: session.Namespace, Object: runtime.RawExtension{Raw: object},
	}}
	question.SetGroupVersionKind(admissionv1.SchemeGroupVersion.WithKind("AdmissionReview"))
	body, err := json.Marshal(question)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// ask returns the answer to a question, and how long it took.
func ask(t testing.TB, web *httptest.Server, question []byte) (*admissionv1.AdmissionResponse, time.Duration) {
	t.Helper()
	start := time.Now()
	response, err := web.Client().Post(web.URL, "application/json", bytes.NewReader(question))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	took := time.Since(start)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("status %d, %v", response.StatusCode, err)
	}
	var answer admissionv1.AdmissionReview
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatal(err)
	}
	return answer.Response, took
}

// largest returns a session with as many resources of each kind as it may
// have, with long names, paths and URLs.
func largest() *orcav1alpha1.OrcaSession {
	long := func(i int) string { return fmt.Sprintf("%03d", i) + strings.Repeat("x", 250) }
	deep := func(root string, i int) string { return root + strings.Repeat("/"+long(i)[:100], 7) }
	session := newSession("team", "report")
	for i := range 100 {
		session.Spec.Resources = append(session.Spec.Resources, newFile(fmt.Sprintf("f-%d", i), deep("/data", i)))
	}
	for i := range 8 {
		repository := orcav1alpha1.GitRepositoryResource{
			URL: "https://git.test/" + long(i), Access: orcav1alpha1.AccessReadWrite, MountPath: deep("/src", i),
			Ref: &orcav1alpha1.GitReference{Branch: long(i)},
		}
		store := orcav1alpha1.MemoryStoreResource{StoreID: fmt.Sprintf("mem_%d", i), StoreName: long(i), Access: orcav1alpha1.AccessReadWrite}
		store.Source.PersistentVolumeClaim.ClaimName = fmt.Sprintf("claim-%d", i)
		session.Spec.Resources = append(session.Spec.Resources,
			orcav1alpha1.SessionResource{Name: fmt.Sprintf("r-%d", i), GitRepository: repository},
			orcav1alpha1.SessionResource{Name: fmt.Sprintf("m-%d", i), MemoryStore: store})
	}
	return session
}

// BenchmarkTheLargestSession measures one answer about 116 resources as the API
// server gets it, HTTP and JSON included.
func BenchmarkTheLargestSession(b *testing.B) {
	web, question := serveSessions(b), review(b, largest())
	var times []time.Duration
	b.SetBytes(int64(len(question)))
	for b.Loop() {
		_, took := ask(b, web, question)
		times = append(times, took)
	}
	slices.Sort(times)
	for _, percent := range []int{50, 99} {
		at := times[min(len(times)*percent/100, len(times)-1)]
		b.ReportMetric(float64(at)/float64(time.Millisecond), fmt.Sprintf("p%d-ms", percent))
	}
}

// F04: the API server's schema keeps such values out; the answer about one
// comes at once even so.
func TestHostileValuesAreAnsweredAtOnce(t *testing.T) {
	const size, limit = 512 << 10, 2500 * time.Millisecond // half the webhook's timeout
	web := serveSessions(t)
	for _, piece := range []string{"a:", "/", "../", "a@", "[", "\x00", "\u202e", "%2e/", "//x"} {
		hostile := strings.Repeat(piece, size/len(piece))
		for field, resource := range map[string]orcav1alpha1.SessionResource{
			"a path":        newFile("path", hostile),
			"a rooted path": newFile("rooted", "/"+hostile),
			"a URL":         {Name: "url", GitRepository: orcav1alpha1.GitRepositoryResource{URL: hostile}},
			"a branch": {Name: "branch", GitRepository: orcav1alpha1.GitRepositoryResource{
				URL: "https://git.test/org/app", Ref: &orcav1alpha1.GitReference{Branch: hostile},
			}},
		} {
			answer, took := ask(t, web, review(t, newSession("team", "report", resource)))
			if answer.Allowed {
				t.Errorf("%s of %q, many times: it is let", field, piece)
			}
			if took > limit {
				t.Errorf("%s of %q, many times: the answer took %s", field, piece, took)
			}
			if length := len(answer.Result.Message); length > 16<<10 {
				t.Errorf("%s of %q, many times: the refusal has %d bytes", field, piece, length)
			}
		}
	}
}
