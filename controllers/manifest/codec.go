// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Encode returns a document as canonical JSON: fields in their declared order,
// no white space, nothing escaped that needn't be. Equal documents encode
// equally.
func Encode[D Sandbox | Setup](document D) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(document); err != nil {
		return nil, fmt.Errorf("encoding the manifest: %w", err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// Digest returns the SHA-256 of an encoded document in the form sha256:<hex>.
func Digest(encoded []byte) string {
	sum := sha256.Sum256(encoded)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Decode reads an encoded document. It refuses one whose digest differs from
// the given one, unknown fields, and anything after the document.
func Decode[D Sandbox | Setup](encoded []byte, digest string) (D, error) {
	var document D
	if got := Digest(encoded); got != digest {
		return document, fmt.Errorf("the manifest has digest %s, expected %s: it was changed after the pod was made", got, digest)
	}
	if err := decodeStrict(encoded, &document); err != nil {
		return document, fmt.Errorf("decoding the manifest: %w", err)
	}
	return document, nil
}

func decodeStrict(data []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("data after the document")
	}
	return nil
}
