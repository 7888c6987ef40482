// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	orcatesting "github.com/orca-agent-engine/orca-operator/controllers/internal/testing"
)

func withPackages(packages ...string) orcav1alpha1.OrcaEnvironmentSpec {
	return orcav1alpha1.OrcaEnvironmentSpec{Config: orcav1alpha1.EnvironmentConfig{Packages: packages}}
}

func withNetworking() orcav1alpha1.OrcaEnvironmentSpec {
	return orcav1alpha1.OrcaEnvironmentSpec{Config: orcav1alpha1.EnvironmentConfig{
		Networking: orcav1alpha1.EnvironmentNetworking{Type: orcav1alpha1.NetworkingLimited, AllowedHosts: []string{"api.test"}},
	}}
}

func TestAnEnvironmentIsJudgedWhenItIsMade(t *testing.T) {
	u := newUser(t)
	image := orcav1alpha1.OrcaEnvironmentSpec{Image: "python:3"}
	cases := map[string]struct {
		settings string
		spec     orcav1alpha1.OrcaEnvironmentSpec
		// wantField is the field of the refusal, wantWarning a word of the only
		// warning; "" for none.
		wantField, wantWarning string
	}{
		"an empty one":                       {},
		"packages":                           {spec: withPackages("numpy"), wantField: "spec.config.packages"},
		"a package without a name":           {spec: withPackages(""), wantField: "spec.config.packages"},
		"packages, stored":                   {settings: "packages: Store\n", spec: withPackages("numpy"), wantWarning: "packages"},
		"packages in Separate mode":          {settings: "mode: Separate\n", spec: withPackages("numpy"), wantField: "spec.config.packages"},
		"packages in Separate mode, stored":  {settings: "mode: Separate\npackages: Store\n", spec: withPackages("numpy"), wantWarning: "packages"},
		"an image":                           {spec: image, wantField: "spec.image"},
		"an image where packages are stored": {settings: "packages: Store\n", spec: image, wantField: "spec.image"},
		"an image in Separate mode":          {settings: "mode: Separate\n", spec: image, wantWarning: "image"},
		"networking":                         {spec: withNetworking(), wantWarning: "not enforced"},
		"networking in Separate mode":        {settings: "mode: Separate\n", spec: withNetworking(), wantWarning: "not enforced"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			defer serve(t, orcatesting.Settings(t, tc.settings))()
			environment := newEnvironment(u.newNamespace(t), "env", tc.spec)
			u.warned()
			err := u.Create(t.Context(), environment)
			checkWarning(t, u.warned(), tc.wantWarning)
			if tc.wantField == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			status := refused(t, err)
			if len(status.Details.Causes) != 1 || status.Details.Causes[0].Field != tc.wantField {
				t.Errorf("causes %+v, want one at %s", status.Details.Causes, tc.wantField)
			}
		})
	}
}

func checkWarning(t *testing.T, warnings []string, want string) {
	t.Helper()
	if want == "" {
		if len(warnings) > 0 {
			t.Errorf("warnings %q, want none", warnings)
		}
		return
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], want) {
		t.Errorf("warnings %q, want one that says %q", warnings, want)
	}
}

// An environment from the days of other settings can be changed, as long as
// the change itself breaks no rule.
func TestOnlyTheChangedFieldsOfAnEnvironmentAreJudged(t *testing.T) {
	u := newUser(t)
	namespace := u.newNamespace(t)
	stop := serve(t, orcatesting.Settings(t, "mode: Separate\npackages: Store\n"))
	old := withNetworking()
	old.Config.Packages, old.Image = []string{"numpy"}, "python:3"
	environment := newEnvironment(namespace, "env", old)
	if err := u.Create(t.Context(), environment); err != nil {
		t.Fatal(err)
	}
	stop()
	serve(t, orcatesting.Settings(t, ""))

	steps := []struct {
		name                   string
		edit                   func(*orcav1alpha1.OrcaEnvironmentSpec)
		wantField, wantWarning string
	}{
		{"a new list of hosts", func(s *orcav1alpha1.OrcaEnvironmentSpec) { s.Config.Networking.AllowedHosts = nil }, "", "not enforced"},
		{"another image", func(s *orcav1alpha1.OrcaEnvironmentSpec) { s.Image = "python:4" }, "spec.image", ""},
		{"another package", func(s *orcav1alpha1.OrcaEnvironmentSpec) { s.Config.Packages = []string{"scipy"} }, "spec.config.packages", ""},
		{"no image", func(s *orcav1alpha1.OrcaEnvironmentSpec) { s.Image = "" }, "", ""},
		{"no packages", func(s *orcav1alpha1.OrcaEnvironmentSpec) { s.Config.Packages = nil }, "", ""},
		{"the image again", func(s *orcav1alpha1.OrcaEnvironmentSpec) { s.Image = "python:3" }, "spec.image", ""},
		{"the packages again", func(s *orcav1alpha1.OrcaEnvironmentSpec) { s.Config.Packages = []string{"numpy"} }, "spec.config.packages", ""},
		{"no networking", func(s *orcav1alpha1.OrcaEnvironmentSpec) { s.Config.Networking = orcav1alpha1.EnvironmentNetworking{} }, "", ""},
	}
	for _, step := range steps {
		t.Run(step.name, func(t *testing.T) {
			if err := u.Get(t.Context(), client.ObjectKeyFromObject(environment), environment); err != nil {
				t.Fatal(err)
			}
			u.warned()
			step.edit(&environment.Spec)
			err := u.Update(t.Context(), environment)
			checkWarning(t, u.warned(), step.wantWarning)
			if step.wantField == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if status := refused(t, err); status.Details.Causes[0].Field != step.wantField {
				t.Errorf("causes %+v, want one at %s", status.Details.Causes, step.wantField)
			}
		})
	}
}
