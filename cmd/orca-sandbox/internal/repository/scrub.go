// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package repository

import (
	"encoding/base64"
	"net/url"
	"strings"
	"unicode"

	"github.com/orca-agent-engine/orca-operator/cmd/orca-sandbox/internal/credential"
)

// redacted stands where a secret stood.
const redacted = "[redacted]"

// minName is the length from which a user name may itself be a secret: some
// servers take a token there.
const minName = 12

// minKeyLine is the length of the shortest line of a private key that can't be
// anything else.
const minKeyLine = 16

// scrubber takes a credential, and control and format characters, out of texts.
type scrubber struct{ replacer *strings.Replacer }

// newScrubber returns one for a Secret. The names of folders of the setup
// container, which tell the reader nothing, are cut off too.
func newScrubber(secret credential.Secret, folders ...string) scrubber {
	var pairs []string
	for _, text := range secretTexts(secret) {
		pairs = append(pairs, text, redacted)
	}
	for _, folder := range folders {
		pairs = append(pairs, folder+"/", "", folder, ".")
	}
	return scrubber{strings.NewReplacer(pairs...)}
}

// secretTexts returns every form in which a secret may be written, the longer
// ones of one secret first.
func secretTexts(secret credential.Secret) []string {
	var texts []string
	if secret.Password != "" {
		for _, user := range []string{secret.Username, "git"} {
			texts = append(texts, encoded(user+":"+secret.Password)...)
		}
		texts = append(texts, forms(secret.Password)...)
	}
	if len(secret.Username) >= minName {
		texts = append(texts, forms(secret.Username)...)
	}
	for line := range strings.Lines(secret.PrivateKey) {
		if line = strings.TrimSpace(line); len(line) >= minKeyLine && !strings.HasPrefix(line, "-----") {
			texts = append(texts, line)
		}
	}
	return texts
}

// forms returns a secret as it is and as it is encoded.
func forms(secret string) []string {
	return append([]string{
		secret, url.QueryEscape(secret), url.PathEscape(secret), lowerEscapes(url.QueryEscape(secret)), lowerEscapes(url.PathEscape(secret)),
		strings.ReplaceAll(url.QueryEscape(secret), "+", "%20"), escapeAll(secret),
	}, encoded(secret)...)
}

// encoded returns a text in base64. Where the form without padding is replaced,
// so is that with it.
func encoded(text string) []string {
	return []string{
		base64.StdEncoding.EncodeToString([]byte(text)), base64.RawStdEncoding.EncodeToString([]byte(text)),
		base64.URLEncoding.EncodeToString([]byte(text)), base64.RawURLEncoding.EncodeToString([]byte(text)),
	}
}

// lowerEscapes writes the digits of %2F and the like as git does.
func lowerEscapes(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			out.WriteString(strings.ToLower(text[i : i+3]))
			i += 2
			continue
		}
		out.WriteByte(text[i])
	}
	return out.String()
}

// escapeAll escapes what RFC 3986 doesn't have unreserved, in small letters, as
// git writes the parts of an address.
func escapeAll(text string) string {
	const digits = "0123456789abcdef"
	var out strings.Builder
	for i := range len(text) {
		c := text[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~", c) >= 0:
			out.WriteByte(c)
		default:
			out.WriteByte('%')
			out.WriteByte(digits[c>>4])
			out.WriteByte(digits[c&15])
		}
	}
	return out.String()
}

// withoutUserinfo returns the text with nothing before the hosts of addresses.
func withoutUserinfo(text string) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "://")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		out.WriteString("://")
		end := strings.IndexFunc(rest, func(r rune) bool { return r == '/' || r == '\'' || r == '"' || unicode.IsSpace(r) })
		if end < 0 {
			end = len(rest)
		}
		text = rest[strings.LastIndexByte(rest[:end], '@')+1:]
	}
}

// scrub returns the text without secrets, userinfo, control and format
// characters.
func (s scrubber) scrub(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cc, unicode.Cf) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, s.replacer.Replace(text))
	// Once more: a character in between may have hidden a secret.
	return withoutUserinfo(s.replacer.Replace(text))
}
