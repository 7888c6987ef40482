// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	orcav1alpha1 "github.com/orca-agent-engine/orca-operator/api/v1alpha1"
	"github.com/orca-agent-engine/orca-operator/controllers/policy"
)

func TestEnvironment(t *testing.T) {
	packages := summary{"PackagesUnsupported", "", "spec.config.packages"}
	image := summary{"ImageRejected", "", "spec.image"}
	cases := map[string]struct {
		settings string
		image    string
		packages []string
		want     []summary
	}{
		"an empty environment":                   {},
		"an empty list of packages":              {packages: []string{}},
		"a package":                              {packages: []string{"numpy"}, want: []summary{packages}},
		"a package with an empty name":           {packages: []string{""}, want: []summary{packages}},
		"a package that admission would store":   {settings: "packages: Store", packages: []string{"numpy"}, want: []summary{packages}},
		"a package in Separate mode":             {settings: "mode: Separate", packages: []string{"numpy"}, want: []summary{packages}},
		"an image":                               {image: "python:3", want: []summary{image}},
		"an image in Separate mode":              {settings: "mode: Separate", image: "python:3"},
		"both, of which packages are told first": {image: "python:3", packages: []string{"numpy"}, want: []summary{packages, image}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			environment := &orcav1alpha1.OrcaEnvironment{Spec: orcav1alpha1.OrcaEnvironmentSpec{
				Image: tc.image, Config: orcav1alpha1.EnvironmentConfig{Packages: tc.packages},
			}}
			got := policy.Environment(environment, effective(t, tc.settings))
			if diff := cmp.Diff(tc.want, summaries(got)); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEnvironmentAdmission(t *testing.T) {
	type spec = orcav1alpha1.OrcaEnvironmentSpec
	packages := func(names ...string) spec {
		return spec{Config: orcav1alpha1.EnvironmentConfig{Packages: names}}
	}
	networking := func(hosts ...string) spec {
		return spec{Config: orcav1alpha1.EnvironmentConfig{Networking: orcav1alpha1.EnvironmentNetworking{
			Type: orcav1alpha1.NetworkingLimited, AllowedHosts: hosts,
		}}}
	}
	all := networking("api.test")
	all.Image, all.Config.Packages = "python:3", []string{"numpy"}
	const (
		stored   = "packages are stored and never installed: no session starts on this environment (PackagesUnsupported)"
		enforced = "networking is stored, not enforced: treat whatever a sandbox can reach as reachable"
		ignored  = "image is ignored: sessions run in the operator's image"
	)
	cases := map[string]struct {
		settings string
		old      *spec
		spec     spec
		refused  []string
		warnings []string
	}{
		"an empty environment":                     {},
		"packages":                                 {spec: packages("numpy"), refused: []string{"PackagesUnsupported"}},
		"an empty name is a package":               {spec: packages(""), refused: []string{"PackagesUnsupported"}},
		"packages that are stored":                 {settings: "packages: Store", spec: packages("numpy"), warnings: []string{stored}},
		"packages in Separate mode":                {settings: "mode: Separate", spec: packages("numpy"), refused: []string{"PackagesUnsupported"}},
		"an image":                                 {spec: spec{Image: "python:3"}, refused: []string{"ImageRejected"}},
		"P31 an image in Separate mode":            {settings: "mode: Separate", spec: spec{Image: "python:3"}, warnings: []string{ignored}},
		"networking":                               {spec: networking(), warnings: []string{enforced}},
		"all of it":                                {spec: all, refused: []string{"ImageRejected", "PackagesUnsupported"}, warnings: []string{enforced}},
		"all of it where it is stored":             {settings: "packages: Store\nmode: Separate", spec: all, warnings: []string{stored, ignored, enforced}},
		"all of it, as it was":                     {old: &all, spec: all},
		"packages that are added":                  {old: new(spec{}), spec: packages("numpy"), refused: []string{"PackagesUnsupported"}},
		"packages of which one is removed":         {old: new(packages("a", "b")), spec: packages("a"), refused: []string{"PackagesUnsupported"}},
		"packages that are all removed":            {old: new(packages("a", "b")), spec: packages()},
		"another image":                            {old: new(spec{Image: "python:2"}), spec: spec{Image: "python:3"}, refused: []string{"ImageRejected"}},
		"an image that is removed":                 {old: &all, spec: networking("api.test")},
		"another host beside packages of before":   {old: &all, spec: withHosts(all, "b.test"), warnings: []string{enforced}},
		"an image beside packages of before":       {old: new(packages("a")), spec: spec{Image: "python:3", Config: packages("a").Config}, refused: []string{"ImageRejected"}},
		"packages of before that are now rejected": {old: new(packages("a")), spec: withHosts(packages("a")), warnings: []string{enforced}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var old *orcav1alpha1.OrcaEnvironment
			if tc.old != nil {
				old = &orcav1alpha1.OrcaEnvironment{Spec: *tc.old}
			}
			environment := &orcav1alpha1.OrcaEnvironment{Spec: tc.spec}
			given := environment.DeepCopy()
			refused, warnings := policy.EnvironmentAdmission(old, environment, effective(t, tc.settings))
			if diff := cmp.Diff(tc.refused, reasons(refused)); diff != "" {
				t.Errorf("refused (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.warnings, warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(given, environment); diff != "" {
				t.Errorf("the environment was changed (-want +got):\n%s", diff)
			}
		})
	}
}

func withHosts(spec orcav1alpha1.OrcaEnvironmentSpec, hosts ...string) orcav1alpha1.OrcaEnvironmentSpec {
	spec.Config.Networking = orcav1alpha1.EnvironmentNetworking{Type: orcav1alpha1.NetworkingLimited, AllowedHosts: hosts}
	return spec
}

func TestNetworkingIsNeverRefused(t *testing.T) {
	for _, kind := range []orcav1alpha1.NetworkingType{orcav1alpha1.NetworkingUnrestricted, orcav1alpha1.NetworkingLimited} {
		environment := &orcav1alpha1.OrcaEnvironment{}
		environment.Spec.Config.Networking = orcav1alpha1.EnvironmentNetworking{Type: kind, AllowedHosts: []string{"api.test"}}
		if got := policy.Environment(environment, effective(t, "")); len(got) > 0 {
			t.Errorf("%s is refused: %s", kind, got.Message(statusLimit))
		}
	}
}
