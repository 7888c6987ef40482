// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"testing"
	"unicode"
)

func TestInvisibleCharactersAreThoseOfTheCategories(t *testing.T) {
	for r := range unicode.MaxRune + 1 {
		if want := unicode.In(r, unicode.Cc, unicode.Cf); invisible(r) != want {
			t.Errorf("%U: %t, want %t", r, !want, want)
		}
	}
}
