package cpptoken_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/patches/cpptoken"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// tricky is what lexers get wrong.
const tricky = "int a = u8\"x\"_s + LR\"x(a)\" \\\n)x\" + 'c' + L'\\'' + U\"\\\\\"; /* c // */ // d \\\n still\n" +
	"x.ge\\\nt(1'000, .5e-3f, 0x1p+2, R\"(a\n\\)\"); é x<::T>\n" +
	"#if 0\ndon't /* here */ \"open\n#endif\n#define M(x) \\\n  x.get() // in M\n#include <ab.h>\n#include \"c//d.h\"\n" +
	"/\\\n* split *\\\n/ b /\\\n/ line\na/**/b; \"/*\" c \"*/\"; '\"' d '\"'; R\"(\")\" e; x ? y : ::z; a->*b; c.*d; p...q;\n" +
	"#define HASH(a, b) a##b #a\nu8R\"delim(a)delim )delim\" f\n"

// clangToken is one line of what clang says of a file's tokens.
var clangToken = regexp.MustCompile(`(?s)^(\w+) '(.*)'(?:\t [^\t]*)?\t+Loc=<[^\n]*:(\d+):(\d+)>$`)

var spliceAtEnd = regexp.MustCompile(`(\\[ \t]*\n)+$`)

// TestAsClangDoes compares names and literals with those that clang's own lexer finds: in a file of what is tricky, in
// the sources that come with hexmage, and in a folder of the caller's.
func TestAsClangDoes(t *testing.T) {
	clang := filepath.Join(toolchaintest.Root(t, "llvm"), "usr/bin/clang-22")
	own := filepath.Join(t.TempDir(), "tricky.cpp")
	if err := os.WriteFile(own, []byte(tricky), 0o644); err != nil {
		t.Fatal(err)
	}
	files := []string{own}
	for _, dir := range []string{"../../simulated/sdk/files/qairt", "../../oppackage/example", os.Getenv("HEXMAGE_TEST_SOURCES")} {
		if dir == "" {
			continue
		}
		err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			if ext := filepath.Ext(p); err == nil && d.Type().IsRegular() && (ext == ".cpp" || ext == ".h" || ext == ".hpp") {
				files = append(files, p)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(files) < 10 {
		t.Fatalf("only %d files", len(files))
	}
	compared := 0
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(src), "\r") {
			continue // clang's listing can't be cut into lines then
		}
		out, err := exec.Command(clang, "-cc1", "-x", "c++", "-std=c++17", "-dump-raw-tokens", file).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", file, err, out)
		}
		ours, headers := seen(t, file, src)
		theirs := clangSaw(string(out), headers)
		compared += len(ours)
		for i := range max(len(ours), len(theirs)) {
			var a, b string
			if i < len(ours) {
				a = ours[i]
			}
			if i < len(theirs) {
				b = theirs[i]
			}
			if a != b {
				t.Errorf("%s: token %d is %q, clang has %q", file, i, a, b)
				break
			}
		}
	}
	t.Logf("%d tokens of %d files", compared, len(files))
}

// seen lists our names and literals with their places, and which places header names take.
func seen(t *testing.T, file string, src []byte) (list []string, headers map[string]bool) {
	t.Helper()
	tokens, err := cpptoken.Scan(src)
	if err != nil {
		t.Fatalf("%s:%v", file, err)
	}
	headers = map[string]bool{}
	end := 0
	for i, k := range tokens {
		start := k.Start
		if sp := spliceAtEnd.FindIndex(src[end:start]); sp != nil { // clang counts a splice before a token as a part of it
			start = end + sp[0]
		}
		end = k.End
		line, col := cpptoken.Position(src, start)
		at := fmt.Sprintf("%d:%d", line, col)
		switch {
		case k.Kind == cpptoken.Name:
			list = append(list, at+" "+k.Text)
		case k.Kind == cpptoken.Literal && i > 0 && tokens[i-1].Text == "include":
			for i := range k.End - k.Start {
				headers[fmt.Sprintf("%d:%d", line, col+i)] = true
			}
		case k.Kind == cpptoken.Literal:
			list = append(list, at+" literal")
		}
	}
	return list, headers
}

func clangSaw(out string, headers map[string]bool) (list []string) {
	var entry []string
	for line := range strings.Lines(out) {
		entry = append(entry, line)
		text := strings.TrimSuffix(strings.Join(entry, ""), "\n")
		m := clangToken.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		entry = nil
		at := m[3] + ":" + m[4]
		if headers[at] {
			continue
		}
		switch {
		case m[1] == "raw_identifier":
			name, _, _ := strings.Cut(m[2], "'\t [")
			list = append(list, at+" "+name)
		case strings.HasSuffix(m[1], "string_literal") || strings.HasSuffix(m[1], "char_constant"),
			m[1] == "unknown" && (m[2][0] == '\'' || m[2][0] == '"'): // the last is one that is left open

			list = append(list, at+" literal")
		case m[1] == "numeric_constant":
			list = append(list, at+" literal")
		}
	}
	return slices.Clip(list)
}
