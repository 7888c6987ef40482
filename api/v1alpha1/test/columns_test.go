// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
)

func TestPrintedColumns(t *testing.T) {
	tests := map[string]struct{ narrow, wide []string }{
		"orcaenvironments": {
			narrow: []string{"Name", "Ready", "Reason", "Age"},
			wide:   []string{"Message"},
		},
		"orcasessions": {
			narrow: []string{"Name", "State", "Ready", "Reason", "Environment", "Outputs", "Age"},
			wide:   []string{"Pod", "Message"},
		},
	}
	for plural, want := range tests {
		t.Run(plural, func(t *testing.T) {
			var narrow, wide []string
			for _, column := range table(t, plural).ColumnDefinitions {
				if column.Priority == 0 {
					narrow = append(narrow, column.Name)
				} else {
					wide = append(wide, column.Name)
				}
			}
			if diff := cmp.Diff([][]string{want.narrow, want.wide}, [][]string{narrow, wide}); diff != "" {
				t.Errorf("columns (-want +got):\n%s", diff)
			}
		})
	}
}

// table asks for a list as kubectl prints it.
func table(t *testing.T, plural string) *metav1.Table {
	t.Helper()
	config := rest.CopyConfig(server)
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	config.GroupVersion = &orcav1alpha1.SchemeGroupVersion
	config.APIPath = "/apis"
	caller, err := rest.RESTClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	body, err := caller.Get().Resource(plural).SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(t.Context())
	if err != nil {
		t.Fatalf("listing %s: %v", plural, err)
	}
	table := &metav1.Table{}
	if err := json.Unmarshal(body, table); err != nil {
		t.Fatal(err)
	}
	return table
}
