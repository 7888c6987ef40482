// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	maxImageBytes   = 1024
	maxURLBytes     = 2048
	maxNoProxyBytes = 4096
	// maxExtraCABytes is about twenty certificates.
	maxExtraCABytes = 32768
)

// maxSize is the largest size of anything, 1 Pi.
var maxSize = resource.MustParse("1Pi")

func validateOneOf[T ~string](path *field.Path, value T, known ...T) field.ErrorList {
	if slices.Contains(known, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, value, known)}
}

func validateBetween(path *field.Path, value, least, most int64) field.ErrorList {
	if value < least || value > most {
		return field.ErrorList{field.Invalid(path, value, fmt.Sprintf("must be from %d to %d", least, most))}
	}
	return nil
}

// validateDuration takes whole seconds only: that is what Kubernetes counts
// in, and a fraction would be dropped silently.
func validateDuration(path *field.Path, value metav1.Duration, least, most time.Duration) field.ErrorList {
	if value.Duration < least || value.Duration > most {
		return field.ErrorList{field.Invalid(path, value.Duration.String(), fmt.Sprintf("must be from %s to %s", least, most))}
	}
	if value.Duration%time.Second != 0 {
		return field.ErrorList{field.Invalid(path, value.Duration.String(), "must be a whole number of seconds")}
	}
	return nil
}

func validateSize(path *field.Path, size resource.Quantity, least int64) field.ErrorList {
	if size.Cmp(*resource.NewQuantity(least, resource.BinarySI)) < 0 || size.Cmp(maxSize) > 0 {
		return field.ErrorList{field.Invalid(path, size.String(), fmt.Sprintf("must be from %d to %s", least, maxSize.String()))}
	}
	return validateWhole(path, size)
}

func validateWhole(path *field.Path, quantity resource.Quantity) field.ErrorList {
	if quantity.Cmp(*resource.NewQuantity(quantity.Value(), quantity.Format)) != 0 {
		return field.ErrorList{field.Invalid(path, quantity.String(), "must be a whole number")}
	}
	return nil
}

// validateWord takes bounded text without white space and control characters.
func validateWord(path *field.Path, value string, mostBytes int) field.ErrorList {
	if len(value) > mostBytes {
		return field.ErrorList{field.TooLong(path, value, mostBytes)}
	}
	if strings.ContainsFunc(value, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
		return field.ErrorList{field.Invalid(path, value, "must not contain white space or control characters")}
	}
	return nil
}

func validateProxyURL(path *field.Path, value string) field.ErrorList {
	if value == "" {
		return nil
	}
	u, errs := parseURL(path, value, "http", "https")
	if len(errs) > 0 {
		return errs
	}
	if u.Host == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return field.ErrorList{field.Invalid(path, value, "must have a host and nothing after it")}
	}
	return nil
}

func validateStoreURL(path *field.Path, value string) field.ErrorList {
	u, errs := parseURL(path, value, "file", "s3", "gs", "azblob")
	switch {
	case len(errs) > 0:
		return errs
	case u.Scheme == "file" && (u.Host != "" || len(u.Path) < 2):
		return field.ErrorList{field.Invalid(path, value, "must have three slashes after 'file:' and then a path")}
	case u.Scheme != "file" && u.Host == "":
		return field.ErrorList{field.Invalid(path, value, fmt.Sprintf("must name a bucket or container: '%s://name'", u.Scheme))}
	}
	return nil
}

// parseURL takes a URL without a user and a fragment. What may hold a password
// stays out of the errors.
func parseURL(path *field.Path, value string, schemes ...string) (*url.URL, field.ErrorList) {
	u, err := url.Parse(value)
	switch {
	case strings.Contains(value, "@"):
		return nil, field.ErrorList{field.Forbidden(path, "must not contain a user name or password")}
	case err != nil || len(value) > maxURLBytes:
		return nil, field.ErrorList{field.Invalid(path, field.OmitValueType{}, fmt.Sprintf("must be a URL of at most %d bytes", maxURLBytes))}
	case u.Opaque != "" || u.Fragment != "":
		return nil, field.ErrorList{field.Invalid(path, value, "must have '://' after the scheme, and no fragment")}
	}
	return u, validateOneOf(path, u.Scheme, schemes...)
}

// validateCertificates takes PEM blocks of certificates, with any text between
// them.
func validateCertificates(path *field.Path, bundle string) field.ErrorList {
	if len(bundle) > maxExtraCABytes {
		return field.ErrorList{field.TooLong(path, "", maxExtraCABytes)}
	}
	blocks := 0
	for block, rest := pem.Decode([]byte(bundle)); block != nil; block, rest = pem.Decode(rest) {
		if err := checkCertificate(block); err != nil {
			return omitted(path, fmt.Sprintf("block %d: %v", blocks+1, err))
		}
		blocks++
	}
	switch {
	case blocks != strings.Count(bundle, "-----BEGIN"):
		return omitted(path, "must not contain a damaged PEM block")
	case bundle != "" && blocks == 0:
		return omitted(path, "must contain certificates in PEM")
	}
	return nil
}

func checkCertificate(block *pem.Block) error {
	if block.Type != "CERTIFICATE" {
		return fmt.Errorf("must be a CERTIFICATE, not a %s", block.Type)
	}
	_, err := x509.ParseCertificate(block.Bytes)
	return err
}

func omitted(path *field.Path, detail string) field.ErrorList {
	return field.ErrorList{field.Invalid(path, field.OmitValueType{}, detail)}
}
