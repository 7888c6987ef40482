// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

func sandboxDocument() manifest.Sandbox {
	return manifest.Sandbox{
		WritableRoots:   []string{"/mnt/session/outputs", "/tmp"},
		Command:         []string{"bash", "-c"},
		Args:            []string{"$(HOME) < > & \" \\ \n \t \x7f é \u2028", ""},
		Env:             []manifest.EnvVar{{Name: "A", Value: "1"}, {Name: "EMPTY", Value: ""}},
		LifetimeSeconds: 86_400, GracePeriodSeconds: 30,
	}
}

func setupDocument() manifest.Setup {
	return manifest.Setup{
		Directories:    []string{"/workspace"},
		Files:          []manifest.File{{Resource: "r", Path: "/data/<x>", ConfigMap: "c", Key: "k", Source: "0"}},
		TimeoutSeconds: 600,
	}
}

func TestADocumentSurvivesItsEncoding(t *testing.T) {
	for name, tc := range map[string]manifest.Sandbox{
		"a full one":                    sandboxDocument(),
		"an empty one":                  {},
		"values that are empty strings": {Command: []string{""}, Args: []string{""}, Env: []manifest.EnvVar{{}}},
	} {
		t.Run(name, func(t *testing.T) { wantRoundTrip(t, tc) })
	}
	t.Run("of setup", func(t *testing.T) { wantRoundTrip(t, setupDocument()) })
	t.Run("of setup, empty", func(t *testing.T) { wantRoundTrip(t, manifest.Setup{}) })
}

func wantRoundTrip[D manifest.Sandbox | manifest.Setup](t *testing.T, document D) {
	t.Helper()
	encoded := encode(t, document)
	decoded, err := manifest.Decode[D](encoded, manifest.Digest(encoded))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(document, decoded); diff != "" {
		t.Errorf("the document differs (-want +got):\n%s", diff)
	}
}

func encode[D manifest.Sandbox | manifest.Setup](t *testing.T, document D) []byte {
	t.Helper()
	encoded, err := manifest.Encode(document)
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

func TestTheEncodingIsFixed(t *testing.T) {
	const sandbox = `{"writableRoots":["/mnt/session/outputs","/tmp"],"command":["bash","-c"],` +
		`"args":["$(HOME) < > & \" \\ \n \t ` + "\x7f é" + ` \u2028",""],` +
		`"env":[{"name":"A","value":"1"},{"name":"EMPTY","value":""}],"lifetimeSeconds":86400,"gracePeriodSeconds":30}`
	if diff := cmp.Diff(sandbox, string(encode(t, sandboxDocument()))); diff != "" {
		t.Errorf("the sandbox's document differs (-want +got):\n%s", diff)
	}
	const setup = `{"directories":["/workspace"],"files":[{"resource":"r","path":"/data/<x>","configMap":"c","key":"k","source":"0"}],"timeoutSeconds":600}`
	if diff := cmp.Diff(setup, string(encode(t, setupDocument()))); diff != "" {
		t.Errorf("setup's document differs (-want +got):\n%s", diff)
	}
}

func TestDigest(t *testing.T) {
	const want = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
	if got := manifest.Digest([]byte("{}")); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for name, tc := range map[string]struct{ encoded, want string }{
		"an unknown field":             {`{"writableRoots":[],"privileged":true}`, `unknown field "privileged"`},
		"an unknown field deep in":     {`{"env":[{"name":"A","value":"1","valueFrom":{}}]}`, `unknown field "valueFrom"`},
		"a field of another type":      {`{"lifetimeSeconds":"60"}`, "lifetimeSeconds"},
		"a fraction of a second":       {`{"lifetimeSeconds":1.5}`, "lifetimeSeconds"},
		"a second document":            {`{}{}`, "data after the document"},
		"something after the document": {`{} x`, "data after the document"},
		"a bracket too many":           {`{}}`, "data after the document"},
		"half a document":              {`{"writableRoots":["/tmp"`, "unexpected EOF"},
		"nothing":                      {``, "EOF"},
		"a list":                       {`[]`, "cannot unmarshal array"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := manifest.Decode[manifest.Sandbox]([]byte(tc.encoded), manifest.Digest([]byte(tc.encoded)))
			if err == nil || !strings.HasPrefix(err.Error(), "decoding the manifest: ") || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got the error %v, want one with %q", err, tc.want)
			}
		})
	}
}

func TestDecodeRefusesWhatHasAnotherDigest(t *testing.T) {
	encoded := encode(t, sandboxDocument())
	right := manifest.Digest(encoded)
	for name, tc := range map[string]struct {
		encoded []byte
		digest  string
	}{
		"an edited document":        {[]byte(strings.Replace(string(encoded), "86400", "86401", 1)), right},
		"white space at the end":    {append(encoded, '\n'), right},
		"no digest":                 {encoded, ""},
		"the digest without prefix": {encoded, strings.TrimPrefix(right, "sha256:")},
		"the digest in capitals":    {encoded, strings.ToUpper(right)},
		"no document":               {nil, right},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := manifest.Decode[manifest.Sandbox](tc.encoded, tc.digest)
			if err == nil || !strings.Contains(err.Error(), "it was changed after the pod was made") {
				t.Errorf("got the error %v", err)
			}
			if diff := cmp.Diff(manifest.Sandbox{}, got); diff != "" {
				t.Errorf("something was decoded all the same (-want +got):\n%s", diff)
			}
		})
	}
}
