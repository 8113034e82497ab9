package ansi_test

import (
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/ansi"
)

func TestStrip(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "",
		"plain":                                  "plain",
		"\x1b[1;31merror\x1b[0m: x\x1b[K":        "error: x",
		"a\x1b[?25lb\x1b[2Jc":                    "abc",
		"\x1b]0;title\atext":                     "text",
		"\x1b]8;;file:///a\x1b\\a\x1b]8;;\x1b\\": "a",
		"\x1b(Bx":                                "Bx",
		"cut \x1b":                               "cut ",
		"cut \x1b[":                              "cut ",
		"cut \x1b[12":                            "cut 12",
		"cut \x1b[1\nnext":                       "cut 1\nnext",
		"cut \x1b]0;x\nnext\a":                   "cut 0;x\nnext\a",
		"\x1b\n\x1b\x1b[1mx":                     "\nx",
		"µ\x1b[1mµ":                              "µµ",
	} {
		if got := ansi.Strip(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if got := string(ansi.StripBytes([]byte(text))); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzStrip(f *testing.F) {
	f.Add("\x1b[1mx\x1b]0;t\a")
	f.Fuzz(func(t *testing.T, s string) {
		got := ansi.Strip(s)
		if strings.Contains(got, "\x1b") || strings.Count(got, "\n") != strings.Count(s, "\n") {
			t.Errorf("%q: %q", s, got)
		}
	})
}
