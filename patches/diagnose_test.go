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
		for _, r := range rg.Renames {
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
			hints := patches.Diagnose(string(out))
			if len(hints) != len(rules) {
				t.Errorf("%d hints for %d rules: %q", len(hints), len(rules), hints)
			}
			for i, rule := range lines {
				at := fmt.Sprintf("a.cpp:%d:", i+1)
				for _, h := range hints {
					found := slices.ContainsFunc(h.Places, func(p string) bool { return strings.HasPrefix(p, at) })
					if found != (h.Rule.Name == rule) {
						t.Errorf("%s of rule %q: hint %s has places %q\n%s", at, rule, h.Rule.Name, h.Places, out)
					}
				}
			}
		})
	}
}
