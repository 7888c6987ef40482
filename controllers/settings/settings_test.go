// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// header begins every file of a case.
const header = "{apiVersion: config.orca.dev/v1alpha1, kind: OperatorConfig, "

// minimal is the shortest valid file.
const minimal = header + "sandbox: {image: agent, runtimeImage: runtime}}"

func mustParse(t *testing.T, content string) *Settings {
	t.Helper()
	settings, err := Parse("test.yaml", []byte(content))
	if err != nil {
		t.Fatal(err)
	}
	return settings
}

func TestParseNamesFileFieldAndReason(t *testing.T) {
	const images = "sandbox: {image: agent, runtimeImage: runtime}"
	tests := map[string]struct {
		content string
		want    string
	}{
		"an empty file":    {"", "settings file test.yaml: must not be empty"},
		"a file of blanks": {"\n# nothing\n", "settings file test.yaml: must not be empty"},
		"a list":           {"[]", "settings file test.yaml: must be a mapping of keys to values"},
		"no YAML":          {"a: [", "settings file test.yaml: yaml: line 1: did not find expected node content"},
		"two documents":    {minimal + "\n---\n" + minimal, "settings file test.yaml: must hold one YAML document"},
		"a second document that is no YAML": {
			minimal + "\n---\na: [", "settings file test.yaml: must hold one YAML document\nyaml: line 3: did not find expected node content",
		},
		"another version": {
			"{apiVersion: config.orca.dev/v2, kind: OperatorConfig, " + images + "}",
			`settings file test.yaml: apiVersion: Unsupported value: "config.orca.dev/v2": supported values: "config.orca.dev/v1alpha1"`,
		},
		"another kind": {
			"{apiVersion: config.orca.dev/v1alpha1, kind: OrcaSession, " + images + "}",
			`settings file test.yaml: kind: Unsupported value: "OrcaSession": supported values: "OperatorConfig"`,
		},
		"neither version nor kind": {
			"{" + images + "}",
			`settings file test.yaml: [apiVersion: Unsupported value: "": supported values: "config.orca.dev/v1alpha1", ` +
				`kind: Unsupported value: "": supported values: "OperatorConfig"]`,
		},
		"an unknown key": {
			header + images + ", sandbx: {}}",
			"settings file test.yaml: sandbx: Forbidden: unknown key; known are apiVersion, artifacts, collector, kind, limits, mode, packages, sandbox, setup, workspaces",
		},
		"a key in the wrong case": {
			header + images + ", limits: {Files: 1}}",
			"settings file test.yaml: limits.Files: Forbidden: unknown key; known are files",
		},
		"an unknown key in a toleration": {
			header + "sandbox: {image: agent, runtimeImage: runtime, tolerations: [{operator: Exists, seconds: 1}]}}",
			"settings file test.yaml: sandbox.tolerations[0].seconds: Forbidden: unknown key; known are effect, key, operator, tolerationSeconds, value",
		},
		"an unknown key in a workspace": {
			header + images + ", workspaces: [{namespaces: [a], setup: {}}]}",
			"settings file test.yaml: workspaces[0].setup: Forbidden: unknown key; known are limits, namespaces, sandbox",
		},
		"an unknown key in a workspace's sandbox": {
			header + images + ", workspaces: [{namespaces: [a], sandbox: {proxy: a}}]}",
			"settings file test.yaml: workspaces[0].sandbox.proxy: Forbidden: unknown key; known are agentGracePeriod, command, image, " +
				"imagePullSecrets, maxLifetime, nodeSelector, outputsSize, podAnnotations, podLabels, resources, runAsUser, " +
				"runtimeClassName, runtimeImage, scratchSize, sharedMemory, tolerations",
		},
		"a key that stands twice": {
			header + images + ",\nlimits: {files: 1,\nfiles: 2}}",
			"settings file test.yaml: limits.files: Forbidden: duplicate key, at lines 2 and 3",
		},
		"a section that stands twice": {
			header + images + ", limits: {files: 1}, limits: {files: 1}}",
			"settings file test.yaml: limits: Forbidden: duplicate key, at lines 1 and 1",
		},
		"a label that stands twice": {
			header + "sandbox: {image: agent, runtimeImage: runtime, podLabels: {a: b, a: c}}}",
			"settings file test.yaml: sandbox.podLabels[a]: Forbidden: duplicate key, at lines 1 and 1",
		},
		"a key that is no string": {
			header + "sandbox: {image: agent, runtimeImage: runtime, podLabels: {1: b}}}",
			"settings file test.yaml: sandbox.podLabels: Invalid value: must have strings as keys; put the key at line 1 in quotes",
		},
		"a merge key": {
			header + images + ", limits: {<<: {files: 1}}}",
			"settings file test.yaml: limits: Invalid value: must have strings as keys; put the key at line 1 in quotes",
		},
		"an alias": {
			header + "sandbox: {image: &a agent, runtimeImage: *a}}",
			"settings file test.yaml: sandbox.runtimeImage: Forbidden: must not be an alias; write the value out",
		},
		"a null": {
			header + images + ", limits: }",
			"settings file test.yaml: limits: Forbidden: must not be null; leave the key out to get the default",
		},
		"a null among labels": {
			header + "sandbox: {image: agent, runtimeImage: runtime, podLabels: {a: ~}}}",
			"settings file test.yaml: sandbox.podLabels[a]: Forbidden: must not be null; leave the key out to get the default",
		},
		"a section that is no mapping, without its value": {
			header + images + ", artifacts: s3://key:secret@bucket}",
			"settings file test.yaml: artifacts: Invalid value: must be a mapping of keys to values",
		},
		"a list that is none": {
			header + "sandbox: {image: agent, runtimeImage: runtime, command: bash}}",
			"settings file test.yaml: sandbox.command: Invalid value: must be a list",
		},
		"a string that is a number": {
			header + "sandbox: {image: 1, runtimeImage: runtime}}",
			`settings file test.yaml: sandbox.image: Invalid value: "1": must be a string; put it in quotes`,
		},
		"a label that is a boolean": {
			header + "sandbox: {image: agent, runtimeImage: runtime, podLabels: {a: true}}}",
			`settings file test.yaml: sandbox.podLabels[a]: Invalid value: "true": must be a string; put it in quotes`,
		},
		"a number that is a string": {
			header + images + ", limits: {files: '1'}}",
			`settings file test.yaml: limits.files: Invalid value: "1": must be a whole number of 32 bits`,
		},
		"a number that is a fraction": {
			header + images + ", limits: {files: 1.5}}",
			`settings file test.yaml: limits.files: Invalid value: "1.5": must be a whole number of 32 bits`,
		},
		"a number with too many bits": {
			header + images + ", limits: {files: 4294967297}}",
			`settings file test.yaml: limits.files: Invalid value: "4294967297": must be a whole number of 32 bits`,
		},
		"a boolean that is a word": {
			header + images + ", setup: {allowHTTP: sometimes}}",
			`settings file test.yaml: setup.allowHTTP: Invalid value: "sometimes": must be true or false`,
		},
		"a quantity that is none": {
			header + "sandbox: {image: agent, runtimeImage: runtime, scratchSize: 1 GB}}",
			`settings file test.yaml: sandbox.scratchSize: Invalid value: "1 GB": must be a quantity such as '500m', '64Mi' or '10Gi'`,
		},
		"a quantity in a map that is none": {
			header + "sandbox: {image: agent, runtimeImage: runtime, resources: {limits: {cpu: two}}}}",
			`settings file test.yaml: sandbox.resources.limits[cpu]: Invalid value: "two": must be a quantity such as '500m', '64Mi' or '10Gi'`,
		},
		"a quantity that is a mapping": {
			header + "sandbox: {image: agent, runtimeImage: runtime, scratchSize: {a: b}}}",
			"settings file test.yaml: sandbox.scratchSize: Invalid value: must be a quantity such as '500m', '64Mi' or '10Gi'",
		},
		"a duration without a unit": {
			header + images + ", setup: {timeout: 30}}",
			`settings file test.yaml: setup.timeout: Invalid value: "30": must be a duration such as '30s', '10m' or '24h'`,
		},
		"a duration in days": {
			header + images + ", artifacts: {retention: 30d}}",
			`settings file test.yaml: artifacts.retention: Invalid value: "30d": must be a duration such as '30s', '10m' or '24h'`,
		},
		"no images": {
			header + "}",
			"settings file test.yaml: [sandbox.image: Required value: has no default; set it in config/default/settings.yaml, " +
				"sandbox.runtimeImage: Required value: has no default; set it in config/default/settings.yaml]",
		},
		"several errors, at once and in order": {
			header + "mode: Both, sandbox: {runtimeImage: runtime, runAsUser: 0, colour: red, maxLifetime: soon}}",
			`settings file test.yaml: [mode: Unsupported value: "Both": supported values: "Colocated", "Separate", ` +
				"sandbox.colour: Forbidden: unknown key; known are agentGracePeriod, command, image, imagePullSecrets, maxLifetime, " +
				"nodeSelector, outputsSize, podAnnotations, podLabels, resources, runAsUser, runtimeClassName, runtimeImage, " +
				"scratchSize, sharedMemory, tolerations, " +
				"sandbox.image: Required value: has no default; set it in config/default/settings.yaml, " +
				`sandbox.maxLifetime: Invalid value: "soon": must be a duration such as '30s', '10m' or '24h', ` +
				"sandbox.runAsUser: Invalid value: 0: must be from 1 to 2147483647]",
		},
		"an error that a workspace inherits, once": {
			header + "sandbox: {image: agent, runtimeImage: runtime, runAsUser: 0}, workspaces: [{namespaces: [a], limits: {files: 0}}]}",
			"settings file test.yaml: [sandbox.runAsUser: Invalid value: 0: must be from 1 to 2147483647, " +
				"workspaces[0].limits.files: Invalid value: 0: must be from 1 to 999]",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			settings, err := Parse("test.yaml", []byte(tc.content))
			if err == nil {
				t.Fatalf("accepted: %+v", settings)
			}
			if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLoad(t *testing.T) {
	t.Run("the shipped settings", func(t *testing.T) {
		settings, err := Load(filepath.Join("..", "..", "config", "default", "settings.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		if settings.ForNamespace("").Sandbox.Image == "" {
			t.Error("no image")
		}
	})
	t.Run("a file that is not there is named", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "settings.yaml")
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("want an error with %s, got %v", path, err)
		}
	})
	t.Run("a file that is wrong is named", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "settings.yaml")
		if err := os.WriteFile(path, []byte(header+"}"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), path+": [sandbox.image: ") {
			t.Errorf("want an error with %s, got %v", path, err)
		}
	})
}
