// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"fmt"
	"strings"
	"testing"
)

// Values of one field at a time, in YAML: those just inside of its range, and
// those just outside of it with the reason.
func TestRanges(t *testing.T) {
	const (
		size      = "must be from 1 to 1Pi"
		noSecrets = "Forbidden: must not contain a user name or password"
		reserved  = "Forbidden: must not begin with 'orca.dev/'"
		space     = "must not contain white space or control characters"
		label     = "must consist of alphanumeric characters"
		subdomain = "a lowercase RFC 1123 subdomain must consist of"
	)
	pi := fmt.Sprint(1 << 50)
	overPi := fmt.Sprint(1<<50 + 1)
	tests := map[string]struct {
		accepted []string
		refused  map[string]string
	}{
		"mode": {
			accepted: []string{"Colocated", "Separate"},
			refused:  map[string]string{"colocated": "supported values", "''": "supported values"},
		},
		"packages": {
			accepted: []string{"Reject", "Store"},
			refused:  map[string]string{"Install": "supported values", "''": "supported values"},
		},
		"limits.files": {
			accepted: []string{"1", "2", "998", "999"},
			refused:  map[string]string{"0": "must be from 1 to 999", "-1": "must be from 1 to 999", "1000": "must be from 1 to 999"},
		},
		"sandbox.image": {
			accepted: []string{"a", "registry.test:5000/a/b@sha256:0123", strings.Repeat("a", 1024)},
			refused: map[string]string{
				"''":    "Required value: has no default; set it in config/default/settings.yaml",
				"'a b'": space, "\" a\"": space, "\"a\\n\"": space, "\"a\\x00\"": space,
				strings.Repeat("a", 1025): "may not be more than 1024 bytes",
			},
		},
		"sandbox.runtimeImage": {
			accepted: []string{"a", strings.Repeat("a", 1024)},
			refused: map[string]string{
				"''":    "Required value: has no default; set it in config/default/settings.yaml",
				"'a b'": space, strings.Repeat("a", 1025): "may not be more than 1024 bytes",
			},
		},
		"sandbox.command": {
			accepted: []string{"[]", "[a]", "[a, '', ' ']", list("a", 256), "[a, " + strings.Repeat("a", 32768) + "]"},
			refused: map[string]string{
				"['']":          "[0]: Required value: must name a program",
				list("a", 257):  "must have at most 256 items",
				"[\"a\\x00b\"]": "[0]: Invalid value",
				"[a, " + strings.Repeat("a", 32769) + "]": "[1]: Too long: may not be more than 32768 bytes",
			},
		},
		"sandbox.runAsUser": {
			accepted: []string{"1", "2", "2147483646", "2147483647"},
			refused: map[string]string{
				"0": "must be from 1 to 2147483647", "-1": "must be from 1 to 2147483647", "2147483648": "must be from 1 to 2147483647",
			},
		},
		"sandbox.resources": {
			accepted: []string{
				"{}", "{requests: {}, limits: {}}", "{limits: {cpu: 100m, memory: 256Mi}}", "{requests: {cpu: 2, memory: 2Gi}}",
				"{requests: {cpu: 1m}}", "{limits: {ephemeral-storage: 1}}", "{limits: {example.com/gpu: 1}}",
				"{requests: {example.com/gpu: 2}, limits: {example.com/gpu: 2}}",
			},
			refused: map[string]string{
				"{limits: {cpu: 0}}":                                             ".limits[cpu]: Invalid value: \"0\": must be greater than zero",
				"{limits: {memory: -1}}":                                         ".limits[memory]: Invalid value: \"-1\": must be greater than zero",
				"{limits: {memory: 255Mi}}":                                      ".requests[memory]: Invalid value: \"256Mi\": must not be greater than the limit, 255Mi",
				"{requests: {cpu: 2001m}}":                                       ".requests[cpu]: Invalid value: \"2001m\": must not be greater than the limit, 2",
				"{requests: {memory: 500m}}":                                     ".requests[memory]: Invalid value: \"500m\": must be a whole number",
				"{limits: {gpu: 1}}":                                             ".limits[gpu]: Forbidden: must be cpu, memory, ephemeral-storage or a name with a domain, as 'example.com/gpu'",
				"{limits: {hugepages-2Mi: 2Mi}}":                                 ".limits[hugepages-2Mi]: Forbidden",
				"{limits: {example.com/gpu: 0.5}}":                               ".limits[example.com/gpu]: Invalid value: \"500m\": must be a whole number",
				"{requests: {example.com/gpu: 1}}":                               ".requests[example.com/gpu]: Invalid value: \"1\": must be equal to the limit",
				"{requests: {example.com/gpu: 1}, limits: {example.com/gpu: 2}}": ".requests[example.com/gpu]: Invalid value: \"1\": must be equal to the limit",
				"{claims: []}":                                                   ".claims: Forbidden: not supported; use requests and limits",
			},
		},
		"sandbox.maxLifetime": {
			accepted: []string{"1s", "2s", "8759h59m59s", "8760h"},
			refused:  duration("1s", "8760h0m0s", "0", "999ms", "-1s", "8760h1s"),
		},
		"sandbox.agentGracePeriod": {
			accepted: []string{"1s", "1h"},
			refused:  duration("1s", "1h0m0s", "0s", "-1s", "1h1s"),
		},
		"sandbox.scratchSize": {
			accepted: []string{"1", "1Ki", "1Pi", pi},
			refused:  map[string]string{"0": size, "-1": size, overPi: size, "1500m": "must be a whole number"},
		},
		"sandbox.outputsSize": {
			accepted: []string{"1", "1Pi"},
			refused:  map[string]string{"0": size, "-1": size, overPi: size},
		},
		"sandbox.sharedMemory": {
			accepted: []string{"0", "1", "1Pi"},
			refused:  map[string]string{"-1": "must be from 0 to 1Pi", overPi: "must be from 0 to 1Pi"},
		},
		"sandbox.runtimeClassName": {
			accepted: []string{"''", "gvisor", strings.Repeat("a", 253)},
			refused:  map[string]string{"gVisor": subdomain, strings.Repeat("a", 254): "must be no more than 253"},
		},
		"sandbox.nodeSelector": {
			accepted: []string{"{}", "{a.test/b: c}", "{a: ''}"},
			refused:  map[string]string{"{a b: c}": "[a b]: Invalid value: \"a b\": name part " + label, "{a: b c}": "[a]: Invalid value: \"b c\": a valid label"},
		},
		"sandbox.tolerations": {
			accepted: []string{
				"[]", "[{operator: Exists}]", "[{key: a}]", "[{key: a, operator: Equal, value: b, effect: NoSchedule}]",
				"[{key: a, operator: Exists, effect: NoExecute, tolerationSeconds: 0}]",
			},
			refused: map[string]string{
				"[{}]":                                       "[0].key: Required value: must be set unless operator is 'Exists'",
				"[{key: a b}]":                               "[0].key: Invalid value",
				"[{key: a, operator: In}]":                   "[0].operator: Unsupported value: \"In\"",
				"[{key: a, effect: Evict}]":                  "[0].effect: Unsupported value: \"Evict\"",
				"[{key: a, value: b c}]":                     "[0].value: Invalid value",
				"[{operator: Exists, value: a}]":             "[0].value: Forbidden: must not be set when operator is 'Exists'",
				"[{operator: Exists, tolerationSeconds: 1}]": "[0].tolerationSeconds: Forbidden: must not be set unless effect is 'NoExecute'",
			},
		},
		"sandbox.imagePullSecrets": {
			accepted: []string{"[]", "[a, b.c]"},
			refused:  map[string]string{"['']": "[0]: Invalid value: \"\": " + subdomain, "[a, A]": "[1]: Invalid value: \"A\": " + subdomain},
		},
		"sandbox.podLabels": {
			accepted: []string{"{}", "{a: b}", "{orca.devices/a: b}"},
			refused:  map[string]string{"{a: b c}": "[a]: Invalid value: \"b c\": a valid label", "{orca.dev/a: b}": "[orca.dev/a]: " + reserved},
		},
		"sandbox.podAnnotations": {
			accepted: []string{"{}", "{a: 'b c'}", "{a: " + strings.Repeat("b", 16383) + "}"},
			refused: map[string]string{
				"{a b: c}": "name part " + label, "{orca.dev/setup: b}": "[orca.dev/setup]: " + reserved,
				"{a: " + strings.Repeat("b", 16384) + "}": "may not be more than 16384 bytes",
			},
		},
		"setup.timeout": {
			accepted: []string{"1s", "24h"},
			refused:  duration("1s", "24h0m0s", "0", "-1s", "24h1s"),
		},
		"setup.allowHTTP": {
			accepted: []string{"true", "false"},
			refused:  map[string]string{"yes please": "must be true or false"},
		},
		"setup.proxy.httpProxy": {
			accepted: []string{"''", "http://proxy.test", "https://proxy.test:3128/"},
			refused: map[string]string{
				"proxy.test:3128":             "must have '://' after the scheme",
				"//proxy.test":                "supported values: \"http\", \"https\"",
				"socks5://proxy.test":         "supported values: \"http\", \"https\"",
				"http://":                     "must have a host and nothing after it",
				"http://proxy.test/a":         "must have a host and nothing after it",
				"http://proxy.test?a=b":       "must have a host and nothing after it",
				"http://proxy.test#a":         "no fragment",
				"http://user:hunter2@a.test":  noSecrets,
				"user:hunter2@a.test:3128":    noSecrets,
				"'http://user:hunter2@a %zz'": noSecrets,
				"'http://a.test:port'":        "must be a URL of at most 2048 bytes",
			},
		},
		"setup.proxy.httpsProxy": {
			accepted: []string{"''", "http://proxy.test"},
			refused:  map[string]string{"ftp://proxy.test": "supported values", "http://user@a.test": noSecrets},
		},
		"setup.proxy.noProxy": {
			accepted: []string{"''", "localhost,.svc,10.0.0.0/8", strings.Repeat("a", 4096)},
			refused:  map[string]string{"a, b": space, strings.Repeat("a", 4097): "may not be more than 4096 bytes"},
		},
		"setup.resources":     {accepted: []string{"{limits: {memory: 128Mi}}"}, refused: map[string]string{"{limits: {memory: 127Mi}}": "must not be greater than the limit"}},
		"collector.resources": {accepted: []string{"{limits: {memory: 32Mi}}"}, refused: map[string]string{"{limits: {memory: 31Mi}}": "must not be greater than the limit"}},
		"artifacts.url": {
			accepted: []string{"file:///a", "s3://bucket", "s3://bucket?region=eu&prefix=a/", "gs://bucket", "azblob://container", "s3://" + strings.Repeat("b", 2043)},
			refused: map[string]string{
				"''":                                "supported values",
				"/var/lib/orca":                     "supported values",
				"https://bucket.test":               "supported values",
				"file://host/a":                     "must have three slashes",
				"file:///":                          "must have three slashes",
				"file:a":                            "must have '://' after the scheme",
				"s3:///a":                           "must name a bucket or container: 's3://name'",
				"gs:bucket":                         "must have '://' after the scheme",
				"s3://key:hunter2@bucket":           noSecrets,
				"'s3://key:hunter2@bucket#a %zz'":   noSecrets,
				"s3://" + strings.Repeat("b", 2044): "must be a URL of at most 2048 bytes",
			},
		},
		"artifacts.collectTimeout": {
			accepted: []string{"1s", "24h"},
			refused:  duration("1s", "24h0m0s", "0", "-1s", "24h1s"),
		},
		"artifacts.maxFileBytes": {
			accepted: []string{"1", "10737418240", "1Pi"},
			refused:  map[string]string{"0": size, "-1": size, overPi: size},
		},
		"artifacts.maxSessionBytes": {
			accepted: []string{"1", "1Pi"},
			refused:  map[string]string{"0": size, "-1": size, overPi: size},
		},
		"artifacts.retention": {
			accepted: []string{"0", "0s", "1s", "87600h"},
			refused:  duration("0s", "87600h0m0s", "-1s", "87600h1s"),
		},
		"workspaces[].namespaces": {
			accepted: []string{"[a]", "[a, a-b, '0']", "[" + strings.Repeat("a", 63) + "]"},
			refused: map[string]string{
				"[]": "Required value: must name at least one namespace", "['']": "[0]: Invalid value", "[a, A]": "[1]: Invalid value",
				"['*']": "[0]: Invalid value", "[a.b]": "[0]: Invalid value", "[" + strings.Repeat("a", 64) + "]": "[0]: Invalid value",
			},
		},
		"workspaces[].limits":  {accepted: []string{"{}", "{files: 999}"}, refused: map[string]string{"{files: 1000}": ".files: Invalid value: 1000"}},
		"workspaces[].sandbox": {accepted: []string{"{}", "{runAsUser: 1}"}, refused: map[string]string{"{runAsUser: 0}": ".runAsUser: Invalid value: 0", "{image: ''}": ".image: Required value"}},
	}
	for key, tc := range tests {
		for _, value := range tc.accepted {
			t.Run(key+" takes "+brief(value), func(t *testing.T) {
				if _, err := Parse("test.yaml", set(t, key, value)); err != nil {
					t.Error(err)
				}
			})
		}
		for value, want := range tc.refused {
			t.Run(key+" refuses "+brief(value), func(t *testing.T) {
				_, err := Parse("test.yaml", set(t, key, value))
				expectRefusal(t, err, key, want)
			})
		}
	}
}

func expectRefusal(t *testing.T, err error, key, want string) {
	t.Helper()
	if err == nil {
		t.Fatal("accepted")
	}
	prefix := "settings file test.yaml: " + strings.ReplaceAll(key, "[]", "[0]")
	if !strings.HasPrefix(err.Error(), prefix) || !strings.Contains(err.Error(), want) {
		t.Errorf("want %q and %q, got %v", prefix, want, err)
	}
	if strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the error shows a password: %v", err)
	}
}

// set returns a valid file with another value, in YAML, of one field.
func set(t *testing.T, key, value string) []byte {
	t.Helper()
	return edit(t, key, func(section map[string]any, field string) { section[field] = decoded(t, value) })
}

// duration is why the values are out of a range of durations.
func duration(least, most string, values ...string) map[string]string {
	refused := map[string]string{}
	for _, value := range values {
		refused[value] = "must be from " + least + " to " + most
	}
	return refused
}

func list(item string, count int) string {
	return "[" + strings.TrimSuffix(strings.Repeat(item+",", count), ",") + "]"
}

func brief(value string) string {
	if len(value) > 60 {
		return fmt.Sprintf("%s... (%d bytes)", value[:20], len(value))
	}
	return value
}

func TestDurationIsOfWholeSeconds(t *testing.T) {
	_, err := Parse("test.yaml", set(t, "setup.timeout", "1500ms"))
	expectRefusal(t, err, "setup.timeout", `Invalid value: "1.5s": must be a whole number of seconds`)
}
