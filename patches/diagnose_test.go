package patches_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/patches"
	"github.com/hexmage/hexmage/patches/lint"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// use writes code that uses a name of a change, in the ways that such names are used.
func use(c lint.Change, name string, n int) []string {
	name = strings.TrimSuffix(name, "*") + map[bool]string{true: "x"}[strings.HasSuffix(name, "*")]
	f := func(format string) string {
		return strings.NewReplacer("NAME", name, "%d", strconv.Itoa(n)).Replace(format)
	}
	switch {
	case c.Kind == "header":
		return []string{f("#include \"NAME\"\n")}
	case c.Receiver != "":
		return []string{f("float f%d(const Tensor &t) { return t.NAME(); }\n")}
	case c.Kind == "method":
		return []string{f("float f%d(const Tensor &t) { return t.NAME(1); }\n")}
	case c.Kind == "macro":
		return []string{f("NAME(A, 1)\n"), f("int f%d() { return NAME(1); }\n"), f("int f%d() { NAME() return 0; }\n")}
	case c.Kind == "type":
		return []string{f("int f%d(NAME &x);\n"), f("class C%d : public NAME {};\n"), f("int f%d() { return hnnx::NAME(1); }\n")}
	}
	return []string{f("int f%d() { return NAME(1, 2); }\n"), f("int f%d() { return hnnx::NAME(1, 2); }\n")}
}

var place = regexp.MustCompile(`^\w+\.cpp:\d+`)

// TestDiagnoseEveryChange compiles a use of every name that has changed with a real clang, and with gcc where there is one: each
// error gives the remedy.
func TestDiagnoseEveryChange(t *testing.T) {
	data, err := lint.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	compilers := map[string][]string{"clang": {filepath.Join(toolchaintest.Root(t, "llvm"), "usr/bin/clang-22"), "-ferror-limit=0", "-fno-color-diagnostics"}}
	if gcc, err := exec.LookPath("g++"); err == nil {
		compilers["gcc"] = []string{gcc}
	}
	const head = "struct Tensor { int x; };\nnamespace hnnx { int y; }\n"
	for compiler, argv := range compilers {
		t.Run(compiler, func(t *testing.T) {
			t.Parallel()
			// What breaks a whole file has one of its own; the rest shares one, a line each.
			files := map[string]string{"all.cpp": head}
			about, source := map[string]string{}, map[string]string{} // by file:line
			n := 0
			for _, c := range append(data.Removed, data.Added...) {
				for i, name := range c.Names {
					for _, text := range use(c, name, n) {
						n++
						file := "all.cpp"
						if c.Kind == "header" || strings.HasPrefix(text, strings.TrimSuffix(name, "*")) {
							if i > 0 {
								continue // one is enough to know how compilers say so
							}
							file = fmt.Sprintf("u%03d.cpp", n)
							files[file] = head
						}
						files[file] += text
						at := fmt.Sprintf("%s:%d", file, strings.Count(files[file], "\n"))
						about[at], source[at] = strings.TrimSuffix(name, "*"), text
					}
				}
			}
			dir := write(t, files)
			args := append(slices.Clone(argv[1:]), "-std=c++17", "-fsyntax-only")
			for file := range files {
				args = append(args, file)
			}
			cmd := exec.Command(argv[0], args...)
			cmd.Dir = dir
			out, _ := cmd.CombinedOutput()
			said := map[string]string{} // the errors of each line
			at := ""
			for line := range strings.Lines(string(out)) {
				if m := place.FindString(line); m != "" {
					at = m
				}
				said[at] += line
			}
			for at, name := range about {
				hints := patches.Diagnose(said[at])
				found := slices.ContainsFunc(hints, func(h patches.Hint) bool {
					return strings.Contains(h.String(), name) && len(h.Places) > 0 && strings.HasPrefix(h.Places[0], at+":")
				})
				if !found {
					t.Errorf("no remedy for %s:\n%s%s\nhints %q", name, source[at], said[at], hints)
				}
				if len(hints) != 1 {
					t.Errorf("%d hints for %s: %q", len(hints), name, hints)
				}
			}
		})
	}
}

// TestLintRules: the rules that the data of the lint names are there.
func TestLintRules(t *testing.T) {
	data, err := lint.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{"": true}
	for rule := range samples() {
		known[strings.ReplaceAll(rule, `"`, "")] = true
	}
	for _, c := range append(data.Removed, data.Added...) {
		if !known[c.Rule] {
			t.Errorf("%s names rule %q, which is none", c.Label, c.Rule)
		}
	}
	for _, u := range data.Unguarded {
		if !known[u.Rule] {
			t.Errorf("%s names rule %q, which is none", u.Label, u.Rule)
		}
	}
}
