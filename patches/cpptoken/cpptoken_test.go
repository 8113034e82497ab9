package cpptoken_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/patches/cpptoken"
)

func kindName(k cpptoken.Kind) string {
	return [...]string{"space", "newline", "comment", "ident", "number", "string", "raw", "char", "header", "punct"}[k]
}

// shown lists a source's tokens without blanks, one a line: kind, text.
func shown(t *testing.T, src string) []string {
	t.Helper()
	tokens, err := cpptoken.Scan([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, k := range tokens {
		if k.Kind != cpptoken.Space && k.Kind != cpptoken.Newline {
			got = append(got, kindName(k.Kind)+" "+src[k.Start:k.End])
		}
	}
	return got
}

func TestScan(t *testing.T) {
	tests := []struct {
		name, src string
		want      []string
	}{
		{"member call", "a->get(x).b;", []string{"ident a", "punct ->", "ident get", "punct (", "ident x", "punct )", "punct .", "ident b", "punct ;"}},
		{"line comment", "a // b\nc", []string{"ident a", "comment // b", "ident c"}},
		{"line comment with splice", "// b \\\n still\nc", []string{"comment // b \\\n still", "ident c"}},
		{"line comment, CRLF", "// b\r\nc", []string{"comment // b", "ident c"}},
		{"block comment", "a/* b \n * c */d", []string{"ident a", "comment /* b \n * c */", "ident d"}},
		{"block comment end spliced", "/* b *\\\n/c", []string{"comment /* b *\\\n/", "ident c"}},
		{"slash slash spliced", "/\\\n/ b\nc", []string{"comment /\\\n/ b", "ident c"}},
		{"not a comment", "a / b", []string{"ident a", "punct /", "ident b"}},
		{"strings", `f("a // b", 'c', "\"d")`, []string{"ident f", "punct (", `string "a // b"`, "punct ,", "char 'c'", "punct ,", `string "\"d"`, "punct )"}},
		{"string with comment marks", `"/*" a "*/"`, []string{`string "/*"`, "ident a", `string "*/"`}},
		{"prefixes and suffixes", `u8"a"_s L'b' U"c"`, []string{`string u8"a"_s`, `char L'b'`, `string U"c"`}},
		{"raw string", `R"x(a " )" b)x" c`, []string{`raw R"x(a " )" b)x"`, "ident c"}},
		{"raw string keeps splices", "LR\"(a\\\n)\" b", []string{"raw LR\"(a\\\n)\"", "ident b"}},
		{"raw string with a bad delimiter", `R"a b(c)"`, []string{"ident R", `string "a b(c)"`}},
		{"numbers", "1'000'000u 0x1p-3 1e+5 .5f 0b1", []string{"number 1'000'000u", "number 0x1p-3", "number 1e+5", "number .5f", "number 0b1"}},
		{"quote after number", "1'a'", []string{"number 1'a", "char '"}},
		{"splice in a name", "get_\\\nscale()", []string{"ident get_\\\nscale", "punct (", "punct )"}},
		{"splice with blanks", "get_\\  \nscale", []string{"ident get_\\  \nscale"}},
		{"include", "#include <a/get.h> // x", []string{"punct #", "ident include", "header <a/get.h>", "comment // x"}},
		{"include quoted", " # include \"a.h\"\nb", []string{"punct #", "ident include", `header "a.h"`, "ident b"}},
		{"less than is no header", "a < b > c", []string{"ident a", "punct <", "ident b", "punct >", "ident c"}},
		{"error text", "#error don't do \"this\nint a;", []string{"punct #", "ident error", "ident don", "char 't do \"this", "ident int", "ident a", "punct ;"}},
		{"define goes on", "#define A(x) \\\n  x.b\nc", []string{"punct #", "ident define", "ident A", "punct (", "ident x", "punct )", "ident x", "punct .", "ident b", "ident c"}},
		{"stray backslash", `a \ b`, []string{"ident a", `punct \`, "ident b"}},
		{"qualified", "&Tensor::get", []string{"punct &", "ident Tensor", "punct ::", "ident get"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, shown(t, tt.src)); diff != "" {
				t.Errorf("tokens of %q (-want +got):\n%s", tt.src, diff)
			}
		})
	}
}

func TestScanNamesAndPlaces(t *testing.T) {
	src := "int a;\n  x.ge\\\nt();\n#define B x.get\n"
	tokens, err := cpptoken.Scan([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	type place struct {
		Line, Col int
		Directive bool
	}
	var got []place
	for _, k := range tokens {
		if k.Kind == cpptoken.Identifier && k.Name == "get" {
			got = append(got, place{k.Line, k.Col, k.Directive})
		}
	}
	want := []place{{2, 5, false}, {4, 13, true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("places of get (-want +got):\n%s", diff)
	}
}

// TestByteOrderMark: editors put one before the first line, which may be a directive.
func TestByteOrderMark(t *testing.T) {
	tokens, err := cpptoken.Scan([]byte("\ufeff#include <a>"))
	if err != nil || len(tokens) != 5 || tokens[0].Kind != cpptoken.Space || !tokens[1].Directive || tokens[4].Kind != cpptoken.HeaderName {
		t.Errorf("tokens %+v, %v", tokens, err)
	}
}

func TestScanLeftOpen(t *testing.T) {
	for src, want := range map[string]string{
		"a\n /* b":     "2:2: comment is never closed",
		"R\"x(a)y\" b": "1:1: raw string is never closed",
	} {
		_, err := cpptoken.Scan([]byte(src))
		var open *cpptoken.Error
		if !errors.As(err, &open) || open.Error() != want {
			t.Errorf("Scan(%q) = %v, want %s", src, err, want)
		}
	}
}

func FuzzScan(f *testing.F) {
	for _, seed := range []string{
		"a.b()", "/* */ // x\n", "R\"(a)\"", "'\\''", "#include <a>\n", "1'0.e+", "\\\n", "\\u00e9", "\"\\", "a\\\r\nb", "%: include \"\n", "%:%:<::>:><%%>", "\ufeff#", "R\"\\\n(", "/\\\n*",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, src string) {
		tokens, err := cpptoken.Scan([]byte(src))
		end, line, col := 0, 1, 1
		for _, k := range tokens {
			if k.Start != end || k.End <= k.Start {
				t.Fatalf("token %+v does not follow offset %d", k, end)
			}
			if k.Line != line || k.Col != col {
				t.Fatalf("token %+v should be at %d:%d", k, line, col)
			}
			text := src[k.Start:k.End]
			if k.Kind == cpptoken.Identifier && strings.ContainsAny(k.Name, " \n\t\"") {
				t.Fatalf("name %q of %q", k.Name, text)
			}
			line += strings.Count(text, "\n")
			if i := strings.LastIndexByte(text, '\n'); i >= 0 {
				col = len(text) - i
			} else {
				col += len(text)
			}
			end = k.End
		}
		if err == nil && end != len(src) {
			t.Fatalf("tokens end at %d of %d", end, len(src))
		}
	})
}
