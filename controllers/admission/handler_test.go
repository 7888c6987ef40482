// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestQuestionsThatCantBeAnswered(t *testing.T) {
	const head = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":`
	for name, tc := range map[string]struct {
		question string
		status   int
		answer   string
	}{
		"nothing":                   {"", http.StatusBadRequest, "decoding the AdmissionReview"},
		"half a question":           {head, http.StatusBadRequest, "decoding the AdmissionReview"},
		"another version":           {strings.Replace(head, "/v1", "/v1beta1", 1) + `{}}`, http.StatusBadRequest, "admission.k8s.io/v1"},
		"no request":                {head + `null}`, http.StatusBadRequest, "with a request"},
		"an object of another form": {head + `{"uid":"1","operation":"CREATE","object":{"spec":[]}}}`, http.StatusBadRequest, "decoding the AdmissionReview"},
		"too much":                  {head + strings.Repeat(" ", 7<<20) + `{}}`, http.StatusBadRequest, "too large"},
		"a creation of nothing":     {head + `{"uid":"1","operation":"CREATE"}}`, http.StatusOK, `"allowed":false`},
		"an unknown operation":      {head + `{"uid":"1","operation":"CONNECT","object":{}}}`, http.StatusOK, `"allowed":false`},
		"a deletion":                {head + `{"uid":"1","operation":"DELETE","oldObject":{}}}`, http.StatusOK, `"allowed":true`},
	} {
		t.Run(name, func(t *testing.T) {
			web := serveSessions(t)
			response, err := web.Client().Post(web.URL, "application/json", strings.NewReader(tc.question))
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			if err != nil {
				t.Fatal(err)
			}
			if response.StatusCode != tc.status || !strings.Contains(string(body), tc.answer) {
				t.Errorf("status %d, answer %s", response.StatusCode, body)
			}
		})
	}
}
