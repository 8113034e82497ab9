package patches_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/patches"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// TestDiagnoseEveryRename compiles a use of each name that a shipped rule renames, with clang and, if installed, gcc.
// Each error gives the remedy of its rule.
func TestDiagnoseEveryRename(t *testing.T) {
	compilers := map[string][]string{
		"clang": {filepath.Join(toolchaintest.Root(t, "llvm"), "usr/bin/clang-22"), "-ferror-limit=0",
			"-fno-color-diagnostics"},
	}
	if gcc, err := exec.LookPath("g++"); err == nil {
		compilers["gcc"] = []string{gcc}
	}
	var rules []string
	code, lines := "struct Tensor { int x; };\nnamespace hnnx { class Tensor {}; }\n", []string{"", ""}
	fsys, err := patches.Shipped("mllm")
	if err != nil {
		t.Fatal(err)
	}
	ranges, err := patches.Load(fsys)
	if err != nil {
		t.Fatal(err)
	}
	for _, rg := range ranges {
		for _, r := range rg.Rules {
			for _, use := range []string{
				"float f%d(const Tensor &t) { return t.%s(); }\n", "float f%d(hnnx::Tensor *t) { return t->%s(1); }\n",
				"int f%d() { return Tensor::%s; }\n",
			} {
				code += fmt.Sprintf(use, len(lines), r.From)
				lines = append(lines, r.Name)
			}
			rules = append(rules, r.Name)
		}
	}
	if len(rules) < 4 {
		t.Errorf("only %q", rules)
	}
	for compiler, argv := range compilers {
		t.Run(compiler, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(argv[0], append(slices.Clone(argv[1:]), "-std=c++17", "-fsyntax-only", "a.cpp")...)
			cmd.Dir = write(t, map[string]string{"a.cpp": code})
			out, _ := cmd.CombinedOutput()
			if hints := patches.Diagnose(string(out)); len(hints) != len(rules) {
				t.Errorf("%d hints for %d rules: %q", len(hints), len(rules), hints)
			}
			said := strings.Split(string(out), "\n")
			for i, rule := range lines {
				if rule == "" {
					continue
				}
				at := slices.IndexFunc(said, func(l string) bool { return strings.HasPrefix(l, fmt.Sprintf("a.cpp:%d:", i+1)) && strings.Contains(l, "error: ") })
				if at < 0 {
					t.Fatalf("no error in line %d:\n%s", i+1, out)
				}
				if hints := patches.Diagnose(said[at]); len(hints) != 1 || hints[0].Rule.Name != rule {
					t.Errorf("%s: hints %q, want rule %q", said[at], hints, rule)
				}
			}
		})
	}
}
