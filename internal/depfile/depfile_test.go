package depfile_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hexmage/hexmage/internal/depfile"
)

func TestParse(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                   nil,
		"\n\n# nothing\n":                    nil,
		"a.o: a.c":                           {"a.c"},
		"a.o: a.c b.h\n":                     {"a.c", "b.h"},
		"a.o: \\\n  a.c \\\r\n  b.h\r\n":     {"a.c", "b.h"},
		"a.o b.o: a.c\n":                     {"a.c"},
		"a.o : a.c\nb.o: b.c a.c\n":          {"a.c", "b.c"},
		"a.o:\n":                             nil,
		"a.o: b.h\n\nb.h:\n\nc.h:\n":         {"b.h"},
		"a.o:: a.c\n":                        {"a.c"},
		"a.o: a.c | dir\n":                   {"a.c", "dir"},
		`a.o: with\ space.h a\#b.h x$$y.h`:   {"a#b.h", "with space.h", "x$y.h"},
		`a.o: back\slash.h two\\.h`:          {`back\slash.h`, `two\\.h`},
		`a.o: odd\\\ end.h even\\ b`:         {"b", `even\`, `odd\ end.h`},
		`C\:/x.o: C:/a.c b\:c.h`:             {"C:/a.c", "b:c.h"},
		"a.o: a.c # a comment: b.h\nx: c":    {"a.c", "c"},
		"a.o: a.c\\":                         {`a.c\`},
		"a.o:\ta.c\t b.h":                    {"a.c", "b.h"},
		"a.o: ä.h\n":                         {"ä.h"},
		"a.o: a.c\\\nb.h":                    {"a.c", "b.h"},
		"dir/a.o: dir/../inc/x.h ./y.h /z.h": {"./y.h", "/z.h", "dir/../inc/x.h"},
	} {
		got, err := depfile.Parse([]byte(text))
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%q (-want +got):\n%s", text, d)
		}
	}
	for text, want := range map[string]string{
		"\x7fELF binary":                   "missing colon",
		"a.o: a.c\n\nb.c c.h\n":            "line 3",
		": a.c":                            "missing target",
		"a.o: a\x00b":                      "zero byte",
		"a.o: " + strings.Repeat("x", 1e5): "more than 65536 bytes",
	} {
		if got, err := depfile.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %q, %v; want %q", text, got, err, want)
		}
	}
}

// What the system's compiler writes for names that need all of its escapes.
func TestCompiler(t *testing.T) {
	dir := t.TempDir()
	names := []string{"plain.h", "with space.h", "dollar$x.h", "hash#.h", "two  spaces.h", `back\slash.h`, "col:on.h"}
	var source strings.Builder
	for _, n := range names {
		if err := os.WriteFile(filepath.Join(dir, n), []byte("/* */\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		source.WriteString("#include \"" + n + "\"\n")
	}
	if err := os.WriteFile(filepath.Join(dir, "a.c"), []byte(source.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("gcc", "-MD", "-MP", "-MF", "a.d", "-c", "a.c")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b, err := os.ReadFile(filepath.Join(dir, "a.d"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := depfile.Parse(b)
	if err != nil {
		t.Fatalf("%v in\n%s", err, b)
	}
	for _, n := range append(names, "a.c") {
		if !slices.Contains(got, n) {
			t.Errorf("%q is not in %q, from\n%s", n, got, b)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("a.o: a.c \\\n b\\ c.h\n\nb.h:\n")
	f.Add("a b :: c # x\n\\")
	f.Add("a: $$ \\\\\\ b\\:c\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		names, err := depfile.Parse([]byte(text))
		if err != nil {
			return
		}
		for _, n := range names {
			if n == "" || strings.ContainsAny(n, "\x00\n") {
				t.Errorf("%q: the name %q", text, n)
			}
		}
		// Names written as compilers write them come back the same.
		var b strings.Builder
		b.WriteString("x:")
		for _, n := range names {
			b.WriteString(" " + strings.NewReplacer(`\`, `\`, " ", `\ `, "\t", "\\\t", "#", `\#`, "$", "$$").Replace(n))
		}
		again, err := depfile.Parse([]byte(b.String()))
		if err != nil {
			t.Fatalf("%q: %v", b.String(), err)
		}
		if !strings.ContainsAny(text, "\\\r$") && !slices.Equal(names, again) {
			t.Errorf("%q: %q became %q", text, names, again)
		}
	})
}
