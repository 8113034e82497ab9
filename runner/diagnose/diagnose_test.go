package diagnose_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/runner/diagnose"
)

func entry(id, pattern string, change ...func(*diagnose.Entry)) *diagnose.Entry {
	e := &diagnose.Entry{ID: id, Where: []string{"device"}, Patterns: []string{pattern}, Cause: "cause of " + id, Remedy: "remedy"}
	for _, c := range change {
		c(e)
	}
	return e
}

func build(t testing.TB, entries ...*diagnose.Entry) *diagnose.Catalog {
	t.Helper()
	c, err := diagnose.New(entries, diagnose.Codes{{Name: "QNN", Mask: 0xffff, Least: 1000, Names: map[uint32]string{1002: "MEM_ALLOC: no memory"}}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func ids(r *diagnose.Report) string {
	var list []string
	for _, f := range r.Findings {
		list = append(list, fmt.Sprintf("%s:%d×%d", f.ID, f.Number, f.Count))
	}
	return strings.Join(list, " ")
}

// Order of findings: causes, symptoms, consequences; equal ranks by line; explained findings after these, warnings
// last.
func TestOrder(t *testing.T) {
	t.Parallel()
	rank := func(r diagnose.Rank) func(*diagnose.Entry) { return func(e *diagnose.Entry) { e.Rank = r } }
	c := build(t,
		entry("follows", "it stopped", rank(diagnose.Consequence)),
		entry("shows", "it broke", rank(diagnose.Symptom)),
		entry("one", "root one", func(e *diagnose.Entry) { e.Explains = []string{"two"} }),
		entry("two", "root two"), entry("three", "root three"),
		entry("slow", "it is slow", func(e *diagnose.Entry) { e.Severity = "warning" }),
		entry("noise", "never mind", func(e *diagnose.Entry) { e.Benign, e.Remedy = true, "" }),
		entry("both", "root both", func(e *diagnose.Entry) { e.Also = []string{"and this"} }),
	)
	for _, x := range []struct{ name, in, want string }{
		{"nothing", "", ""},
		{"noise", "error: never mind\n", ""},
		{"order", "it is slow\nit stopped\nit broke\nroot three\nroot three\nroot one\n", "three:4×2 one:6×1 shows:3×1 follows:2×1 slow:1×1"},
		{"explained", "root two\nroot one", "one:2×1 two:1×1"},
		{"a noisy line is none, whatever else it says", "root one, never mind", ""},
		{"also is missing", "root both", ""},
		{"also is elsewhere", "and this\nroot both", "both:2×1"},
		{"colors and carriage returns", "\x1b[31mroot\x1b[0m one\r\n", "one:1×1"},
	} {
		if got := ids(c.Text([]byte(x.in))); got != x.want {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
	}
}

func TestUnknownLines(t *testing.T) {
	t.Parallel()
	c := build(t, entry("one", "root one"))
	in := "0 errors\nall is well: error: 0\na.cpp:1: error: what?\nroot one failed\nSegmentation fault\nterrorist failsafe\n[QNN] <E> oh\n" + strings.Repeat("fatal thing\n", 30)
	r := c.Text([]byte(in))
	if len(r.Unknown) != 20 || r.More != 13 || !cmp.Equal(r.Unknown[0], diagnose.Line{Number: 3, Text: "a.cpp:1: error: what?"}) || r.Unknown[1].Number != 5 || r.Unknown[2].Number != 7 {
		t.Errorf("%d and %d more: %v", len(r.Unknown), r.More, r.Unknown)
	}
}

// A line looks like an error by its words, its log level, or a program's exit code. Unknown lines also have the
// meaning of their codes.
func TestLooksLikeAnError(t *testing.T) {
	t.Parallel()
	c := build(t)
	for line, want := range map[string]bool{
		"gmake: *** No rule to make target 'install'.  Stop.": true,
		"  what():  QNN is not in this build":                 true,
		"Illegal instruction":                                 true,
		"Trace/breakpoint trap (core dumped)":                 true,
		"Bus error":                                           true,
		"adb: insufficient permissions for device":            true,
		"E litert  : [qnn_manager.cc:349] version is 1.8.0":   true,
		"06-01 12:00:00.123  1000  1000 E QnnDsp  : no words": true,
		"[E:onnxruntime:, file.cc:1 F] Status 7":              true,
		"library version 1.8.0 is mismatched":                 true,
		"command exited with code 139":                        true,
		"exit status 127":                                     true,
		"exit code 0":                                         false,
		"I litert  : [qnn_manager.cc:430] Adding a folder":    false,
		"Enter the context: 5":                                false,
		"trapezoid, terminated by a comma; exits: 3":          false,
	} {
		if got := len(c.Text([]byte(line)).Unknown) > 0; got != want {
			t.Errorf("%q looks like an error: %v, want %v", line, got, want)
		}
	}
	r := c.Text([]byte("E Backend: graph: error 1002"))
	if len(r.Unknown) != 1 || len(r.Unknown[0].Codes) != 1 || r.Unknown[0].Codes[0].Name != "MEM_ALLOC" {
		t.Errorf("%+v", r.Unknown)
	}
}

// The indented lines below `CMake Error at` belong to the message.
func TestCMake(t *testing.T) {
	t.Parallel()
	c := build(t, entry("cmake", "^CMake Error"), entry("option", "option '[A-Z]+' requires"))
	in := "CMake Error at a.cmake:1 (message):\n  first\n\nCMake Error at b.cmake:2 (message):\n  option 'A' requires\n\n  option 'B'\n-- done\n  not this\n"
	want := map[string]string{"cmake": "CMake Error at a.cmake:1 (message): first", "option": "option 'A' requires option 'B'"}
	for _, f := range c.Text([]byte(in)).Findings {
		if f.Text != want[f.ID] {
			t.Errorf("%s: %q, want %q", f.ID, f.Text, want[f.ID])
		}
	}
}

// A line continues only the first finding of an entry, once for each. An earlier benign line with the entry's words
// does not change that.
func TestBlockOnce(t *testing.T) {
	t.Parallel()
	c := build(t, entry("option", "option '[A-Z]+' requires"), entry("noise", "never mind", func(e *diagnose.Entry) { e.Benign, e.Remedy = true, "" }))
	in := "CMake Error at a.cmake:1 (message):\n  option 'A' requires: never mind\n  option 'B' requires\n  option 'C'\n"
	if r := c.Text([]byte(in)); ids(r) != "option:3×1" || r.Findings[0].Text != "option 'B' requires option 'C'" {
		t.Errorf("%+v", r.Findings)
	}
}

// A message takes continuation lines until its text is full. The rest costs nothing.
func TestBlockIsBounded(t *testing.T) { // not parallel: AllocsPerRun counts the allocations of all goroutines
	c := build(t, entry("cmake", "^CMake Error"))
	in := []byte("CMake Error at a.cmake:1\n" + strings.Repeat("  "+strings.Repeat("x", 98)+"\n", 10_000))
	if f := c.Text(in).Findings; len(f) != 1 || len(f[0].Text) > 4200 || !strings.HasSuffix(f[0].Text, "x…") {
		t.Errorf("%+v", f)
	}
	allocs := testing.AllocsPerRun(1, func() { c.Text(in) })
	if allocs > 1000 {
		t.Errorf("%.0f allocations for 10,000 lines", allocs)
	}
}

// Placeholders are replaced by the matched text, up to a length. Hints name the line and explain its codes.
func TestHint(t *testing.T) {
	t.Parallel()
	c := build(t, entry("lib", "library (?P<lib>[^ ]+) is gone", func(e *diagnose.Entry) { e.Cause = "{lib} is missing"; e.Remedy = "push {lib}" }),
		entry("end", "the end", func(e *diagnose.Entry) { e.Rank = diagnose.Consequence }))
	got := strings.Join(c.Text([]byte("\nlibrary a.so is gone: error 1002\nthe end\n")).Hints(), "|")
	want := "a.so is missing\nremedy: push a.so\nseen in line 2: library a.so is gone: error 1002\n1002 is QNN MEM_ALLOC: no memory\nprobably a consequence: end (line 3)"
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if h := c.Text([]byte("library " + strings.Repeat("x", 1000) + " is gone")).Hints(); len(h) != 1 || len(h[0]) > 600 {
		t.Errorf("%q", h)
	}
}

// Hints omit findings that only repeat the line of the first finding. The report has them.
func TestDistinct(t *testing.T) {
	t.Parallel()
	c := build(t, entry("op", "KeyError: 'No op (?P<op>\\w+)'"),
		entry("key", "^KeyError", func(e *diagnose.Entry) { e.Rank = diagnose.Symptom }))
	r := c.Text([]byte("KeyError: 'No op x'\n"))
	if len(r.Findings) != 2 || len(r.Distinct()) != 1 || strings.Contains(r.Hints()[0], "follows") {
		t.Errorf("%d findings, of which %d are distinct: %q", len(r.Findings), len(r.Distinct()), r.Hints())
	}
	if r := c.Text([]byte("KeyError: 'No op x'\nKeyError: 'y'\n")); len(r.Distinct()) != 2 {
		t.Errorf("a second line is not told: %+v", r.Findings)
	}
}

// A text of any size is scanned, with correct line numbers.
func TestBounds(t *testing.T) {
	t.Parallel()
	c := build(t, entry("first", "number one "), entry("last", "the very last"), entry("middle", "in the middle"))
	filler := strings.Repeat(strings.Repeat("x", 1023)+"\n", 20<<10) // 20 MiB
	in := io.MultiReader(strings.NewReader("number one \n"), strings.NewReader(filler), strings.NewReader("in the middle\n"), strings.NewReader(filler), strings.NewReader("the very last"))
	r, err := c.Read(in)
	if err != nil || ids(r) != fmt.Sprintf("first:1×1 middle:%d×1 last:%d×1", 20<<10+2, 40<<10+3) || r.Lines != 40<<10+3 || r.Skipped > 0 {
		t.Errorf("%s, %d lines, %d skipped, %v", ids(r), r.Lines, r.Skipped, err)
	}
	// A line without an end counts as one line, and only its beginning is scanned.
	r = c.Text([]byte(strings.Repeat("y", 1<<20) + "number one \nthe very last\n"))
	if ids(r) != "last:2×1" {
		t.Errorf("%s", ids(r))
	}
	broken := errors.New("broken")
	r, err = c.Read(io.MultiReader(strings.NewReader("number one \n"), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) || ids(r) != "first:1×1" {
		t.Errorf("%s, %v", ids(r), err)
	}
}

// The work limit stops the scan of a text that makes every pattern slow. The report has the number of skipped lines.
func TestWorkIsBounded(t *testing.T) {
	t.Parallel()
	c := build(t, entry("one", "aaaa[^x]*x"), entry("two", "aaaa.*y"), entry("three", "aaaa.*z"))
	hostile := []byte("aaaaz\n" + strings.Repeat(strings.Repeat("a", 999)+"\n", 1000))
	if r := c.TextWithin(hostile, 30000); ids(r) != "three:1×1" || r.Lines != 1001 || r.Skipped < 985 || r.Skipped > 995 {
		t.Errorf("%s: %d of %d lines skipped", ids(r), r.Skipped, r.Lines)
	}
	if r := c.Text(hostile); r.Skipped != 0 {
		t.Errorf("%d skipped", r.Skipped)
	}
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]*diagnose.Entry{
		"missing patterns":                     {ID: "x", Where: []string{"tool"}, Cause: "c", Remedy: "r"},
		"missing cause":                        {ID: "x", Where: []string{"tool"}, Patterns: []string{"abcd"}, Remedy: "r"},
		"missing remedy":                       {ID: "x", Where: []string{"tool"}, Patterns: []string{"abcd"}, Cause: "c"},
		"missing name":                         entry("", "abcd"),
		"where: missing value":                 {ID: "x", Patterns: []string{"abcd"}, Cause: "c", Remedy: "r"},
		"use one of compile":                   {ID: "x", Where: []string{"moon"}, Patterns: []string{"abcd"}, Cause: "c", Remedy: "r"},
		"missing closing":                      entry("x", "abcd("),
		"needs at least 3 bytes of fixed text": entry("x", "[0-9]+"),
		"3 bytes of fixed text; include more":  entry("x", "abcd|e"),
		"bytes":                                entry("x", strings.Repeat("a", 500)),
		"lacks the group (?P<lib>":             entry("x", "abcd", func(e *diagnose.Entry) { e.Remedy = "push {lib}" }),
		"unknown failure":                      entry("x", "abcd", func(e *diagnose.Entry) { e.Explains = []string{"y"} }),
		"invalid or unsupport":                 entry("x", "abcd(?=e)"),
	} {
		if _, err := diagnose.New([]*diagnose.Entry{e}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	c := build(t, entry("x", "abcd"), entry("y", "efgh"), entry("x", "ijkl"))
	if len(c.Entries) != 2 || ids(c.Text([]byte("abcd ijkl"))) != "x:1×1" || ids(c.Text([]byte("abcd"))) != "" {
		t.Error("a later entry does not take the place of the one before")
	}
}

// The search for literals never hides a match: findings are equal with and without it.
func FuzzPatterns(f *testing.F) {
	f.Add("library \"(?P<x>[^\"]+)\" not found|(?i)NO such (lib)+", "dlopen: library \"a\" not found")
	f.Add("(?i)ABC[dD]{2,}e?f|xyz+", "abcdDf XYZ xyzz")
	f.Add("a(bcd|bce)*fghij?", "afghi")
	f.Fuzz(func(t *testing.T, pattern, line string) {
		if len(line) > 1000 || strings.ContainsAny(line, "\x1b\r\n") {
			return
		}
		c, err := diagnose.New([]*diagnose.Entry{entry("x", pattern)}, nil)
		if err != nil {
			return
		}
		if got, want := len(c.Text([]byte(line)).Findings) > 0, diagnose.Matches(pattern, line); got != want {
			t.Errorf("%q in %q: found %v, matches %v", pattern, line, got, want)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	c := build(b, entry("one", "root one"))
	in := bytes.Repeat([]byte("06-01 12:00:00.123  1000  1000 I QnnDsp  : nothing of interest happens here\n"), 10000)
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		c.Text(in)
	}
}
