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

func TestVisible(t *testing.T) {
	for _, tt := range []struct{ in, plain, colored string }{
		{"as it is: ä €\t\n", "as it is: ä €\t\n", "as it is: ä €\t\n"},
		{"\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`, "\x1b[31mred\x1b[0m"},
		{"\x1b[1;32mok\x1b[m", `\x1b[1;32mok\x1b[m`, "\x1b[1;32mok\x1b[m"},
		{"\x1b[8mhidden", `\x1b[8mhidden`, `\x1b[8mhidden`},
		{"\x1b[31;8mhidden", `\x1b[31;8mhidden`, `\x1b[31;8mhidden`},
		{"\x1b[1A\x1b[2K", `\x1b[1A\x1b[2K`, `\x1b[1A\x1b[2K`},
		{"\x1b]0;title\a", `\x1b]0;title\x07`, `\x1b]0;title\x07`},
		{"over\rwritten", `over\x0dwritten`, `over\x0dwritten`},
		{"line\r\nend", "line\nend", "line\nend"},
		{"\u009b2J\x9b2J", `\u009b2J\x9b2J`, `\u009b2J\x9b2J`},
		{"\u202eabc\u2066\x7f\x00\b", `\u202eabc\u2066\x7f\x00\x08`, `\u202eabc\u2066\x7f\x00\x08`},
		{"\x1b", `\x1b`, `\x1b`},
		{"\ufffd", "\ufffd", "\ufffd"},
	} {
		if got := ansi.Visible(tt.in, false); got != tt.plain {
			t.Errorf("%q is shown as %q, want %q", tt.in, got, tt.plain)
		}
		if got := ansi.Visible(tt.in, true); got != tt.colored {
			t.Errorf("%q is shown in color as %q, want %q", tt.in, got, tt.colored)
		}
	}
}
