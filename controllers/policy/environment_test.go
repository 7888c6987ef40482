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

func TestNetworkingIsNeverRefused(t *testing.T) {
	for _, kind := range []orcav1alpha1.NetworkingType{orcav1alpha1.NetworkingUnrestricted, orcav1alpha1.NetworkingLimited} {
		environment := &orcav1alpha1.OrcaEnvironment{}
		environment.Spec.Config.Networking = orcav1alpha1.EnvironmentNetworking{Type: kind, AllowedHosts: []string{"api.test"}}
		if got := policy.Environment(environment, effective(t, "")); len(got) > 0 {
			t.Errorf("%s is refused: %s", kind, got.Message(statusLimit))
		}
	}
}
