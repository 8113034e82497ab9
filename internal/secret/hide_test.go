package secret

import (
	"net/url"
	"slices"
	"strings"
	"testing"
)

// A value is looked for as package net/url spells it.
func TestPercent(t *testing.T) {
	var all strings.Builder
	for b := range 256 {
		all.WriteByte(byte(b))
	}
	for _, value := range []string{all.String(), "p@ss word+100%/ü", "plain-text_1.~"} {
		if got := percent(value, "$&+=:@"); got != url.PathEscape(value) {
			t.Errorf("in a path %q is %q", value, got)
		}
		if !slices.Contains(forms(value), url.QueryEscape(value)) {
			t.Errorf("in a query %q is none of %q", value, forms(value))
		}
	}
}
