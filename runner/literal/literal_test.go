package literal_test

import (
	"strings"
	"testing"

	"github.com/hexmage/hexmage/runner/literal"
)

func TestOf(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{
		`^\s*Prefill time: ([0-9]+)`: "prefill time: ",
		`a|bc`:                       "a|bc",
		`x(?:first|other)`:           "first|other",
		`(?:ab)+(?:long)?`:           "ab",
		`(?:ab){0,2}`:                "",
		`[0-9]+|a`:                   "",
		`µs`:                         "",
		`(`:                          "",
	} {
		if got := strings.Join(literal.Of(pattern), "|"); got != want {
			t.Errorf("%s: %q, want %q", pattern, got, want)
		}
	}
	if got := string(literal.Lower([]byte("a"), []byte("BcÄ"))); got != "abcÄ" {
		t.Errorf("%q", got)
	}
}
