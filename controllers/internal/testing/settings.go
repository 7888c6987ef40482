// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package testing

import (
	"testing"

	"github.com/orca-agent-engine/orca-operator/controllers/settings"
)

const settingsFile = `
apiVersion: config.orca.dev/v1alpha1
kind: OperatorConfig
sandbox:
  image: registry.test/agent:v1
  runtimeImage: registry.test/runtime:v1
`

// Settings returns the settings of a deployment that has a command for its
// agents, with the given lines of a settings file.
func Settings(t testing.TB, lines string) *settings.Settings {
	t.Helper()
	return SettingsWithoutCommand(t, "  command: [agent]\n"+lines)
}

// SettingsWithoutCommand returns a deployment's settings: those that have no
// default, and the given lines of a settings file.
func SettingsWithoutCommand(t testing.TB, lines string) *settings.Settings {
	t.Helper()
	parsed, err := settings.Parse("settings.yaml", []byte(settingsFile+lines))
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}
