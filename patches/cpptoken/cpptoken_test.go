package cpptoken_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/patches/cpptoken"
)

// shown lists a source's tokens, one a line: kind, text.
func shown(t *testing.T, src string) []string {
	t.Helper()
	tokens, err := cpptoken.Scan([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, k := range tokens {
		got = append(got, [...]string{"name", "mark", "literal"}[k.Kind]+" "+src[k.Start:k.End])
	}
	return got
}

func TestScan(t *testing.T) {
	tests := []struct {
		name, src string
		want      []string
	}{
		{"member call", "a->get(x).b;", []string{"name a", "mark ->", "name get", "mark (", "name x", "mark )", "mark .", "name b", "mark ;"}},
		{"line comment", "a // b\nc", []string{"name a", "name c"}},
		{"line comment with splice", "// b \\\n still\nc", []string{"name c"}},
		{"line comment, CRLF", "// b\r\nc", []string{"name c"}},
		{"block comment", "a/* b \n * c */d", []string{"name a", "name d"}},
		{"block comment end spliced", "/* b *\\\n/c", []string{"name c"}},
		{"slash slash spliced", "/\\\n/ b\nc", []string{"name c"}},
		{"not a comment", "a / b", []string{"name a", "mark /", "name b"}},
		{"strings", `f("a // b", 'c', "\"d")`, []string{"name f", "mark (", `literal "a // b"`, "mark ,", "literal 'c'", "mark ,", `literal "\"d"`, "mark )"}},
		{"string with comment marks", `"/*" a "*/"`, []string{`literal "/*"`, "name a", `literal "*/"`}},
		{"prefixes and suffixes", `u8"a"_s L'b' U"c"`, []string{`literal u8"a"_s`, `literal L'b'`, `literal U"c"`}},
		{"raw string", `R"x(a " )" b)x" c`, []string{`literal R"x(a " )" b)x"`, "name c"}},
		{"raw string keeps splices", "LR\"(a\\\n)\" b", []string{"literal LR\"(a\\\n)\"", "name b"}},
		{"raw string with a bad delimiter", `R"a b(c)"`, []string{"name R", `literal "a b(c)"`}},
		{"numbers", "1'000'000u 0x1p-3 1e+5 .5f 0b1", []string{"literal 1'000'000u", "literal 0x1p-3", "literal 1e+5", "literal .5f", "literal 0b1"}},
		{"quote after number", "1'a'", []string{"literal 1'a", "literal '"}},
		{"splice in a name", "get_\\\nscale()", []string{"name get_\\\nscale", "mark (", "mark )"}},
		{"splice with blanks", "get_\\  \nscale", []string{"name get_\\  \nscale"}},
		{"include", "#include <a/get.h> // x", []string{"mark #", "name include", "literal <a/get.h>"}},
		{"include quoted", " # include \"a.h\"\nb", []string{"mark #", "name include", `literal "a.h"`, "name b"}},
		{"less than is no header", "a < b > c", []string{"name a", "mark <", "name b", "mark >", "name c"}},
		{"error text", "#error don't do \"this\nint a;", []string{"mark #", "name error", "name don", "literal 't do \"this", "name int", "name a", "mark ;"}},
		{"define goes on", "#define A(x) \\\n  x.b\nc", []string{"mark #", "name define", "name A", "mark (", "name x", "mark )", "name x", "mark .", "name b", "name c"}},
		{"stray backslash", `a \ b`, []string{"name a", `mark \`, "name b"}},
		{"qualified", "&Tensor::get", []string{"mark &", "name Tensor", "mark ::", "name get"}},
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
	type place struct{ Line, Col, Directive int }
	var got []place
	for _, k := range tokens {
		if k.Kind == cpptoken.Name && k.Text == "get" {
			line, col := cpptoken.Position([]byte(src), k.Start)
			got = append(got, place{line, col, k.Directive})
		}
	}
	want := []place{{2, 5, 0}, {4, 13, 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("places of get (-want +got):\n%s", diff)
	}
}

// TestByteOrderMark: editors put one before the first line, which may be a directive.
func TestByteOrderMark(t *testing.T) {
	tokens, err := cpptoken.Scan([]byte("\ufeff#include <a>"))
	if err != nil || len(tokens) != 3 || tokens[0].Directive != 1 || tokens[2].Text != "<a>" {
		t.Errorf("tokens %+v, %v", tokens, err)
	}
}

func TestScanLeftOpen(t *testing.T) {
	for src, want := range map[string]string{
		"a\n /* b":     "2:2: comment is never closed",
		"R\"x(a)y\" b": "1:1: raw string is never closed",
	} {
		_, err := cpptoken.Scan([]byte(src))
		if err == nil || err.Error() != want {
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
		tokens, _ := cpptoken.Scan([]byte(src))
		end := 0
		for _, k := range tokens {
			if k.Start < end || k.End <= k.Start || k.End > len(src) {
				t.Fatalf("token %+v behind offset %d of %d", k, end, len(src))
			}
			if k.Kind == cpptoken.Name && strings.ContainsAny(k.Text, " \n\t\"") {
				t.Fatalf("name %q", k.Text)
			}
			if text := src[k.Start:k.End]; !strings.Contains(text, "\\") && text != k.Text {
				t.Fatalf("token %+v is %q", k, text)
			}
			end = k.End
		}
	})
}
