package edit_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/patches/cpptoken"
	"github.com/hexmage/hexmage/patches/edit"
)

// rewrite applies an editor and checks that a second time it changes nothing, and counts as many places.
func rewrite(t *testing.T, e edit.Editor, src string) (out string, changed, already int) {
	t.Helper()
	got, err := e.Rewrite("a.cpp", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	again, err := e.Rewrite("a.cpp", got.Out)
	if err != nil || string(again.Out) != string(got.Out) || len(again.Changed) != 0 {
		t.Errorf("a second time: %q, %v, %v", again.Out, again.Changed, err)
	}
	if n := len(got.Changed) + len(got.Already); e.(interface{ Of() (string, string) }) != nil && len(again.Already) != n {
		if _, to := e.Of(); to != "nothing" {
			t.Errorf("%d places at first, %d then", n, len(again.Already))
		}
	}
	return string(got.Out), len(got.Changed), len(got.Already)
}

func TestInclude(t *testing.T) {
	r := edit.Include{Header: "HTP/core/unique_types.h", Uses: []string{"DEFINE_UNIQ_TY"}}
	const line = "#include \"HTP/core/unique_types.h\"\n"
	for _, tt := range []struct{ name, src, want string }{
		{"after the last", "#include <a>\n#include <b>\nDEFINE_UNIQ_TY()\n", "#include <a>\n#include <b>\n" + line + "DEFINE_UNIQ_TY()\n"},
		{"not inside an #if", "#include <a>\n#ifdef X\n#include <b>\n#endif\nDEFINE_UNIQ_TY()\n", "#include <a>\n" + line + "#ifdef X\n#include <b>\n#endif\nDEFINE_UNIQ_TY()\n"},
		{"inside an include guard", "#ifndef A_H\n#define A_H\n#include <a>\nDEFINE_UNIQ_TY()\n#endif\n", "#ifndef A_H\n#define A_H\n#include <a>\n" + line + "DEFINE_UNIQ_TY()\n#endif\n"},
		{"without any", "// licence\nDEFINE_UNIQ_TY()\n", "// licence\n" + line + "DEFINE_UNIQ_TY()\n"},
		{"behind pragma once", "// licence\n#pragma once\nDEFINE_UNIQ_TY()\n", "// licence\n#pragma once\n" + line + "DEFINE_UNIQ_TY()\n"},
		{"behind an empty guard", "#ifndef A\n#define A\nDEFINE_UNIQ_TY()\n#endif", "#ifndef A\n#define A\n" + line + "DEFINE_UNIQ_TY()\n#endif"},
		{"CRLF", "#include <a>\r\nDEFINE_UNIQ_TY()\r\n", "#include <a>\r\n#include \"HTP/core/unique_types.h\"\r\nDEFINE_UNIQ_TY()\r\n"},
		{"no line end", "#define D DEFINE_UNIQ_TY\n#include <a>", "#define D DEFINE_UNIQ_TY\n#include <a>\n" + line},
		{"there already", "#include <HTP/core/unique_types.h>\nDEFINE_UNIQ_TY()\n", "#include <HTP/core/unique_types.h>\nDEFINE_UNIQ_TY()\n"},
		{"used in a comment", "#include <a>\n// DEFINE_UNIQ_TY\n", "#include <a>\n// DEFINE_UNIQ_TY\n"},
		{"included in a comment", "// #include \"HTP/core/unique_types.h\"\nDEFINE_UNIQ_TY()\n", "// #include \"HTP/core/unique_types.h\"\n" + line + "DEFINE_UNIQ_TY()\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, _, _ := rewrite(t, r, tt.src); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestDefine(t *testing.T) {
	r := edit.Define{Macro: "HAS_X", Value: "1", Uses: []string{"x"}}
	for src, want := range map[string]string{
		"// c\n#include <a>\nint x;\n": "// c\n#ifndef HAS_X\n#define HAS_X 1\n#endif\n#include <a>\nint x;\n",
		"int x;":                       "#ifndef HAS_X\n#define HAS_X 1\n#endif\nint x;",
		"#define HAS_X 2\nint x;":      "#define HAS_X 2\nint x;",
		"int y; // x\n":                "int y; // x\n",
		"#pragma once\r\n#include <a>\r\nint x;\r\n": "#pragma once\r\n#ifndef HAS_X\r\n#define HAS_X 1\r\n#endif\r\n#include <a>\r\nint x;\r\n",
	} {
		if got, _, _ := rewrite(t, r, src); got != want {
			t.Errorf("%q became %q, want %q", src, got, want)
		}
	}
}

func TestInsert(t *testing.T) {
	r := edit.Insert{Text: "INIT_CORE()", After: []string{"INIT_ORDER()", "INIT_OPS($x)"}, Uses: []string{"REGISTER"}}
	for src, want := range map[string]string{
		"INIT_OPS(1)\nINIT_ORDER()\nvoid f() { REGISTER }\n":               "INIT_OPS(1)\nINIT_ORDER()\nINIT_CORE()\nvoid f() { REGISTER }\n",
		"INIT_OPS(f(1, 2)) // ops\nvoid f() { REGISTER }\n":                "INIT_OPS(f(1, 2)) // ops\nINIT_CORE()\nvoid f() { REGISTER }\n",
		"INIT_ORDER()\nvoid f() { }\n":                                     "INIT_ORDER()\nvoid f() { }\n",
		"INIT_ORDER()\nINIT_CORE()\nvoid f() { REGISTER }\n":               "INIT_ORDER()\nINIT_CORE()\nvoid f() { REGISTER }\n",
		"#define INIT_ORDER() x\nREGISTER\n// INIT_CORE()\nINIT_ORDER ( )": "#define INIT_ORDER() x\nREGISTER\n// INIT_CORE()\nINIT_ORDER ( )\nINIT_CORE()\n",
	} {
		if got, _, _ := rewrite(t, r, src); got != want {
			t.Errorf("%q became %q, want %q", src, got, want)
		}
	}
	for src, want := range map[string]string{
		"\n REGISTER":             "a.cpp:2:2: REGISTER is used, so \"INIT_CORE()\" is needed, but there is no INIT_ORDER() or INIT_OPS($x)",
		"INIT_ORDER() REGISTER\n": "a.cpp:1: something stands behind INIT_ORDER()",
	} {
		if _, err := r.Rewrite("a.cpp", []byte(src)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", src, err)
		}
	}
}

func TestCall(t *testing.T) {
	for _, tt := range []struct {
		name, from, to, src, want string
		changed                   int
	}{
		{"dropped line", "REGISTER()", "", "{\n  REGISTER()\n  x;\n}", "{\n  x;\n}", 1},
		{"dropped line with semicolon", "REGISTER()", "", "{\r\n  REGISTER ( ) ;\r\n  x;\r\n}", "{\r\n  x;\r\n}", 1},
		{"dropped of several", "REGISTER()", "", "{ REGISTER(); x; }", "{  x; }", 1},
		{"the statement of an if", "REGISTER()", "", "if (a) REGISTER(); x;", "if (a) ; x;", 1},
		{"a comment stays", "REGISTER()", "", "REGISTER() // why\n", " // why\n", 1},
		{"in comments and strings", "REGISTER()", "", "// REGISTER()\n\"REGISTER()\"", "// REGISTER()\n\"REGISTER()\"", 0},
		{"other arguments", "REGISTER()", "", "REGISTER(1); XREGISTER(); a.REGISTER(); b::REGISTER()", "REGISTER(1); XREGISTER(); a.REGISTER(); b::REGISTER()", 0},
		{"arguments move", "f($a, $b)", "g($b, $a)", "f(x, h(1, 2)); f ( {1,2} ,\n y )", "g(h(1, 2), x); g(y, {1,2})", 2},
		{"one in another", "f($a)", "g($a, 0)", "f(f(f(1)))", "g(g(g(1, 0), 0), 0)", 3},
		{"all arguments", "f($$all)", "g(0, $$all)", "f(1, 2); f(\"a,b\")", "g(0, 1, 2); g(0, \"a,b\")", 2},
		{"no arguments", "f($a)", "g($a)", "f()", "f()", 0},
		{"not over the end of a statement", "f($$a) g", "h", "f(1; 2) g", "f(1; 2) g", 0},
		{"a member", ".get($a)", ".at($a)", "x.get(1) + get(2)", "x.at(1) + get(2)", 1},
		{"literals", `OP($f, "a")`, `OP($f, "b")`, `OP(x, "a") OP(x, "c")`, `OP(x, "b") OP(x, "c")`, 1},
		{"in a macro", "f($a)", "g($a)", "#define F(x) \\\n  f(x)\n", "#define F(x) \\\n  g(x)\n", 1},
		{"splices", "f($a)", "g($a)", "f\\\n(1)", "g(1)", 1},
		{"left open", "f($a)", "g($a)", "f(1", "f(1", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := edit.Call{Name: "x", From: tt.from, To: tt.to}
			got, changed, _ := rewrite(t, r, tt.src)
			if got != tt.want || changed != tt.changed {
				t.Errorf("got %q with %d changes, want %q with %d", got, changed, tt.want, tt.changed)
			}
		})
	}
}

// TestCallBounded: brackets that are never closed do not take forever.
func TestCallBounded(t *testing.T) {
	if _, err := (edit.Call{From: "f($a)", To: "g($a)"}).Rewrite("a.cpp", []byte(strings.Repeat("f(", 200_000))); err == nil || !strings.Contains(err.Error(), "never closed") {
		t.Errorf("Rewrite = %v", err)
	}
}

func TestGuard(t *testing.T) {
	r := edit.Guard{Macro: "PREPARE_DISABLED", UsedBy: []string{"DEF_OPT"}}
	const begin, end = "#ifndef PREPARE_DISABLED\n", "#endif // PREPARE_DISABLED\n"
	for _, tt := range []struct{ name, src, want string }{
		{"one", "static bool check(Op const &x)\n{\n  return x();\n}\nDEF_OPT(1, check(y))\nint main() { return 0; }\n",
			begin + "static bool check(Op const &x)\n{\n  return x();\n}\n" + end + "DEF_OPT(1, check(y))\nint main() { return 0; }\n"},
		{"its helper, its declaration, behind a macro's call",
			"BEGIN(x);\nDEF_OP((impl<T>), \"X\")\nint help(int);\ntemplate <class A, class B>\nint check(A a) noexcept { return help(1); }\nint help(int n) { return n ? help(n - 1) : 0; }\nDEF_OPT(check(y));\n",
			"BEGIN(x);\nDEF_OP((impl<T>), \"X\")\n" + begin + "int help(int);\n" + end + begin + "template <class A, class B>\nint check(A a) noexcept { return help(1); }\n" + end + begin + "int help(int n) { return n ? help(n - 1) : 0; }\n" + end + "DEF_OPT(check(y));\n"},
		{"used elsewhere too", "int check() { return 1; }\nint other() { return check(); }\nDEF_OPT(check())\n", "int check() { return 1; }\nint other() { return check(); }\nDEF_OPT(check())\n"},
		{"not used", "int check() { return 1; }\nint self() { return self(); }\nDEF_OPT(1)\n", "int check() { return 1; }\nint self() { return self(); }\nDEF_OPT(1)\n"},
		{"in a namespace", "namespace a {\nint check() { return 1; }\n}\nDEF_OPT(check())\n", "namespace a {\n" + begin + "int check() { return 1; }\n" + end + "}\nDEF_OPT(check())\n"},
		{"in one line with others", "int a; int check() { return 1; } int b;\nDEF_OPT(check())\n", "int a; \n" + begin + "int check() { return 1; }\n" + end + " int b;\nDEF_OPT(check())\n"},
		{"guarded", begin + "int check() { return 1; }\n#endif\nDEF_OPT(check())\n", begin + "int check() { return 1; }\n#endif\nDEF_OPT(check())\n"},
		{"guarded otherwise", "#if !defined(PREPARE_DISABLED)\nint check() { return 1; }\n#endif\nDEF_OPT(check())\n", "#if !defined(PREPARE_DISABLED)\nint check() { return 1; }\n#endif\nDEF_OPT(check())\n"},
		{"in the wrong half", "#ifndef PREPARE_DISABLED\n#else\nint check() { return 1; }\n#endif\nDEF_OPT(check())\n", "#ifndef PREPARE_DISABLED\n#else\n" + begin + "int check() { return 1; }\n" + end + "#endif\nDEF_OPT(check())\n"},
		{"an #if across it", "#if A\nint check() {\n#endif\n return 1; }\nDEF_OPT(check())\n", "#if A\nint check() {\n#endif\n return 1; }\nDEF_OPT(check())\n"},
		{"variables and classes stay", "int check = f(1);\nstruct Q { int check2() { return 1; } };\nDEF_OPT(check + check2)\n", "int check = f(1);\nstruct Q { int check2() { return 1; } };\nDEF_OPT(check + check2)\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, _, _ := rewrite(t, r, tt.src); got != tt.want {
				t.Errorf("differs (-want +got):\n%s", cmp.Diff(tt.want, got))
			}
		})
	}
}

func TestValidate(t *testing.T) {
	b := edit.Blocks{
		Includes: []edit.Include{{Header: "<a.h"}},
		Defines:  []edit.Define{{Macro: "a-b", Value: "1\n", Uses: []string{"1"}}},
		Inserts:  []edit.Insert{{Text: "1", Uses: []string{"x"}}, {Text: "x", Uses: []string{"x"}, After: []string{"$a"}}},
		Guards:   []edit.Guard{{Macro: "M"}},
		Calls:    []edit.Call{{From: "f($a $b)"}, {From: "f(", To: "/*"}, {From: "f($a)", To: "g($b)"}, {From: "f($a)", To: "1 + f($a)"}, {From: "f()"}},
	}
	b.Calls[4].Expect.Min = 1
	var text string
	for _, r := range b.Rules() {
		if err := r.Validate(); err != nil {
			text += err.Error() + "\n"
		}
	}
	for _, want := range []string{
		`include "": files is empty`, `header "<a.h" is to be`, "uses is empty", `macro: "a-b" is no C++ name`, "value has a line end", `uses: "1" is no`,
		`text "1" is to be one line`, "after is empty", `"$a": a shape begins and ends with code`, "used_by is empty", "nothing stands between $a and $b",
		`to: "/*": 1:1: comment is never closed`, "$b is not in from", "never come to rest", "min must be 0 where to is empty", "max 0 must",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("Validate does not say %q:\n%s", want, text)
		}
	}
}

// FuzzEdit: no source makes an editor panic or change its own work, and comments and literals stay.
func FuzzEdit(f *testing.F) {
	for _, seed := range []string{
		"#include <a>\nf(x, 1)\n", "int check() { }\nOPT(check())", "REG()\nINIT()\n", "f(f(1),f(2))", "#ifndef A\n#define A\nUSE\n#endif", "REG();REG()", "// f(1)\n\"f(1)\"",
		"namespace {\nint check();\n}OPT(check)", "#if\nINIT ( )\r\nREG", "f(\\\n1)", "}})]int c(){OPT(c)", "OPT(){};#", "OPT)x}",
	} {
		f.Add(seed)
	}
	editors := []edit.Editor{
		edit.Include{Header: "new.h", Uses: []string{"USE", "f"}}, edit.Define{Macro: "NEW", Uses: []string{"USE", "f"}},
		edit.Insert{Text: "CORE()", After: []string{"INIT()"}, Uses: []string{"REG"}}, edit.Guard{Macro: "OFF", UsedBy: []string{"OPT"}},
		edit.Call{Name: "swap", From: "f($a)", To: "g($a)"}, edit.Call{Name: "drop", From: "REG()"},
	}
	f.Fuzz(func(t *testing.T, src string) {
		if _, err := cpptoken.Scan([]byte(src)); err != nil {
			return
		}
		for _, e := range editors {
			got, err := e.Rewrite("f", []byte(src))
			if err != nil {
				continue
			}
			again, err := e.Rewrite("f", got.Out)
			if err != nil || string(again.Out) != string(got.Out) || len(again.Changed) != 0 {
				t.Fatalf("%T: %q became %q, then %q (%v)", e, src, got.Out, again.Out, err)
			}
			if before, after := inert(src), inert(string(got.Out)); before != after {
				t.Fatalf("%T: comments and literals of %q were %q, are %q", e, src, before, after)
			}
		}
	})
}

func inert(src string) (texts string) {
	tokens, _ := cpptoken.Scan([]byte(src))
	for _, k := range tokens {
		text := src[k.Start:k.End]
		switch k.Kind {
		case cpptoken.Comment, cpptoken.String, cpptoken.RawString, cpptoken.Char:
			if text != "// OFF" {
				texts += text + "\n"
			}
		}
	}
	return texts
}
