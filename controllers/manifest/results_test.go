// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/orca-agent-engine/orca-operator/controllers/manifest"
)

// maxMessage is what Kubernetes keeps of a termination message.
const maxMessage = 4096

func TestAResultSurvivesItsEncoding(t *testing.T) {
	for name, result := range map[string]manifest.RunResult{
		"an exit code":                 {Code: manifest.RunAgentExited, ExitCode: new(int32(3))},
		"the exit code 0 isn't absent": {Code: manifest.RunAgentExited, ExitCode: new(int32(0))},
		"no exit code":                 {Code: manifest.RunStopped},
		"a path":                       {Code: manifest.RunPolicyUnverified, Path: "/a <b> & \n\x1b é"},
	} {
		t.Run(name, func(t *testing.T) { wantResult(t, result, result) })
	}
	failed := manifest.SetupResult{Code: manifest.SetupFileUnavailable, Resource: "r", Cause: `key "k" <&> é`}
	t.Run("of setup", func(t *testing.T) { wantResult(t, failed, failed) })
	prepared := manifest.SetupResult{Code: manifest.SetupPrepared, Landlock: true, Commits: map[string]string{}}
	for i := range 8 {
		prepared.Commits[strings.Repeat(string(rune('a'+i)), 63)] = strings.Repeat("0", 64)
	}
	t.Run("of setup, with as many commits as there may be", func(t *testing.T) { wantResult(t, prepared, prepared) })
}

func wantResult[R manifest.SetupResult | manifest.RunResult](t *testing.T, given, want R) {
	t.Helper()
	encoded, err := manifest.EncodeResult(given)
	if err != nil {
		t.Fatal(err)
	}
	got, err := manifest.DecodeResult[R](string(encoded))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the result differs (-want +got):\n%s", diff)
	}
}

func TestTextsAreCutAtARuneBoundary(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"512 bytes stay":              {strings.Repeat("x", 512), strings.Repeat("x", 512)},
		"513 bytes lose one":          {strings.Repeat("x", 513), strings.Repeat("x", 512)},
		"a letter of two bytes":       {strings.Repeat("x", 511) + "éé", strings.Repeat("x", 511)},
		"a letter of two bytes fits":  {strings.Repeat("x", 510) + "éé", strings.Repeat("x", 510) + "é"},
		"a letter of four bytes":      {strings.Repeat("x", 509) + "😀", strings.Repeat("x", 509)},
		"a letter of four bytes fits": {strings.Repeat("x", 508) + "😀😀", strings.Repeat("x", 508) + "😀"},
	} {
		t.Run(name, func(t *testing.T) {
			wantResult(t, manifest.SetupResult{Code: manifest.SetupInternal, Cause: tc.text}, manifest.SetupResult{Code: manifest.SetupInternal, Cause: tc.want})
			wantResult(t, manifest.RunResult{Code: manifest.RunCommandNotFound, Path: tc.text}, manifest.RunResult{Code: manifest.RunCommandNotFound, Path: tc.want})
		})
	}
}

func TestTruncate(t *testing.T) {
	for name, tc := range map[string]struct {
		text  string
		limit int
		want  string
	}{
		"a shorter text":                   {"abc", 4, "abc"},
		"a text of just that length":       {"abc", 3, "abc"},
		"a longer text":                    {"abc", 2, "ab"},
		"nothing may stay":                 {"abc", 0, ""},
		"half a letter goes":               {"aé", 2, "a"},
		"the first letter is too long":     {"😀", 3, ""},
		"no letter begins before the end":  {"\x80\x80\x80\x80", 2, ""},
		"bytes that aren't UTF-8 may stay": {"a\xffb", 2, "a\xff"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := manifest.Truncate(tc.text, tc.limit); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func FuzzAResultAlwaysFitsATerminationMessage(f *testing.F) {
	for _, seed := range []string{"", "x", "\x00", "<&>", "\u2028", "\xff", "\x80", "é", "\xf0\x9f\x98"} {
		f.Add(strings.Repeat(seed, 10_000))
	}
	f.Fuzz(func(t *testing.T, text string) {
		resource := strings.Repeat("r", 63)
		failed, err := manifest.EncodeResult(manifest.SetupResult{Code: manifest.SetupFileUnavailable, Resource: resource, Cause: text})
		if err != nil || len(failed) > maxMessage || !utf8.Valid(failed) {
			t.Errorf("setup's result: %v, %d bytes", err, len(failed))
		}
		ran, err := manifest.EncodeResult(manifest.RunResult{Code: manifest.RunCommandNotExecutable, ExitCode: new(int32(-1 << 31)), Path: text})
		if err != nil || len(ran) > maxMessage || !utf8.Valid(ran) {
			t.Errorf("run's result: %v, %d bytes", err, len(ran))
		}
		if _, err := manifest.DecodeResult[manifest.RunResult](string(ran)); err != nil {
			t.Errorf("run's result can't be read: %v", err)
		}
	})
}

func TestDecodeResultRefuses(t *testing.T) {
	for name, tc := range map[string]struct{ message, want string }{
		"nothing":                      {"", "decoding the result: EOF"},
		"text":                         {"panic: x", "decoding the result"},
		"an unknown field":             {`{"code":"Stopped","trusted":true}`, `unknown field "trusted"`},
		"a field of the other result":  {`{"code":"Stopped","cause":"x"}`, `unknown field "cause"`},
		"something after the result":   {`{"code":"Stopped"}forged`, "data after the document"},
		"an exit code that can't be":   {`{"code":"AgentExited","exitCode":4294967296}`, "exitCode"},
		"more than Kubernetes keeps":   {`{"code":"Stopped"}` + strings.Repeat(" ", maxMessage), "at most 4096 are allowed"},
		"a message that was cut short": {`{"code":"Stop`, "unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := manifest.DecodeResult[manifest.RunResult](tc.message)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got the error %v, want one with %q", err, tc.want)
			}
		})
	}
}

func FuzzDecodeResultNeverPanics(f *testing.F) {
	f.Add(`{"code":"AgentExited","exitCode":0}`)
	f.Add(`{"code":"Internal","resource":"r","cause":"c"}`)
	f.Add("null")
	f.Fuzz(func(t *testing.T, message string) {
		if _, err := manifest.DecodeResult[manifest.RunResult](message); err == nil && len(message) > maxMessage {
			t.Errorf("accepted %d bytes", len(message))
		}
		_, _ = manifest.DecodeResult[manifest.SetupResult](message)
	})
}
