package rules_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/patches/cpptoken"
	"github.com/hexmage/hexmage/patches/rules"
)

// rewrite applies a rule and checks that a second time it changes nothing, and counts as many places.
func rewrite(t *testing.T, r rules.Rule, src string) (out string, changed, already int) {
	t.Helper()
	got, err := r.Rewrite("a.cpp", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	again, err := r.Rewrite("a.cpp", got.Out)
	if err != nil || string(again.Out) != string(got.Out) || len(again.Changed) != 0 {
		t.Errorf("a second time: %q, %v, %v", again.Out, again.Changed, err)
	}
	if n := len(got.Changed) + len(got.Already); r.To != "" && len(again.Already) != n {
		t.Errorf("%d places at first, %d then", n, len(again.Already))
	}
	return string(got.Out), len(got.Changed), len(got.Already)
}

func TestReplace(t *testing.T) {
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
		{"other arguments", "REGISTER()", "", "REGISTER(1); XREGISTER(); a.REGISTER(); b::REGISTER()",
			"REGISTER(1); XREGISTER(); a.REGISTER(); b::REGISTER()", 0},
		{"arguments move", "f($a, $b)", "g($b, $a)", "f(x, h(1, 2)); f ( {1,2} ,\n y )", "g(h(1, 2), x); g(y, {1,2})", 2},
		{"one in another", "f($a)", "g($a, 0)", "f(f(f(1)))", "g(g(g(1, 0), 0), 0)", 3},
		{"all arguments", "f($$all)", "g(0, $$all)", "f(1, 2); f(\"a,b\")", "g(0, 1, 2); g(0, \"a,b\")", 2},
		{"no arguments", "f($a)", "g($a)", "f()", "f()", 0},
		{"not over the end of a statement", "f($$a) g", "h", "f(1; 2) g", "f(1; 2) g", 0},
		{"a member", ".get($a)", ".at($a)", "x.get(1) + get(2)", "x.at(1) + get(2)", 1},
		{"literals", `OP($f, "a")`, `OP($f, "b")`, `OP(x, "a") OP(x, "c")`, `OP(x, "b") OP(x, "c")`, 1},
		{"in a macro", "f($a)", "g($a)", "#define F(x) \\\n  f(x)\n", "#define F(x) \\\n  g(x)\n", 1},
		{"splices", "f($a)", "g($a)", "f\\\n(1)", "g(1)", 1},
		{"comments within", "f($a, $b)", "g($b)", "f( /* a */ x /* b */ , // c\n y /* d */ ); f(x /* e */ + y, z)", " /* a */  /* b */  // c\n  /* d */ g(y); g(z)", 2},
		{"a name in an argument", "f($a)", "g($a)", "f(x.f(1))", "g(x.f(1))", 1},
		{"left open", "f($a)", "g($a)", "f(1", "f(1", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := rules.Rule{Kind: "replace", Name: "x", From: tt.from, To: tt.to}
			got, changed, _ := rewrite(t, r, tt.src)
			if got != tt.want || changed != tt.changed {
				t.Errorf("got %q with %d changes, want %q with %d", got, changed, tt.want, tt.changed)
			}
		})
	}
}

// TestReplaceBounded: brackets that are never closed do not take forever.
func TestReplaceBounded(t *testing.T) {
	src := []byte(strings.Repeat("f(", 200_000))
	_, err := (rules.Rule{Kind: "replace", From: "f($a)", To: "g($a)"}).Rewrite("a.cpp", src)
	if err == nil || !strings.Contains(err.Error(), "unclosed or nested too deeply") {
		t.Errorf("Rewrite = %v", err)
	}
}

func TestValidateReplace(t *testing.T) {
	all := []rules.Rule{
		{From: "f($a $b)"}, {From: "f(", To: "/*"}, {From: "f($a)", To: "g($b)"}, {From: "f($a)", To: "1 + f($a)"},
		{From: "f()", Expect: rules.Expect{Min: 1}}, {From: "$a"}, {From: "f", To: "g", Receiver: "T"},
	}
	var text string
	for _, r := range all {
		r.Kind = "replace"
		if err := r.Validate(); err != nil {
			text += err.Error() + "\n"
		}
	}
	for _, want := range []string{
		"files is empty", `replace "": `, "in a rename rule", `"$a": a shape must begin and end with code`, "missing code between $a and $b",
		`to: "/*": 1:1: comment is never closed`, "$b is missing from", "each run would change the code again",
		"min must be 0 if to is empty", "max 0 must",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("Validate does not say %q:\n%s", want, text)
		}
	}
}

// FuzzReplace: no source makes a rule panic or change its own work, and comments and literals stay.
func FuzzReplace(f *testing.F) {
	for _, seed := range []string{
		"#include <a>\nf(x, 1)\n", "REG()\nINIT()\n", "f(f(1),f(2))", "#ifndef A\n#define A\nUSE\n#endif", "REG();REG()",
		"// f(1)\n\"f(1)\"",
		"namespace {\nint check();\n}OPT(check)", "#if\nINIT ( )\r\nREG", "f(\\\n1)",
		"}})]int c(){OPT(c)", "OPT(){};#", "OPT)x}",
	} {
		f.Add(seed)
	}
	all := []rules.Rule{{Kind: "replace", Name: "swap", From: "f($a)", To: "g($a)"}, {Kind: "replace", Name: "drop", From: "REG()"}}
	f.Fuzz(func(t *testing.T, src string) {
		if _, err := cpptoken.Scan([]byte(src)); err != nil {
			return
		}
		for _, r := range all {
			got, err := r.Rewrite("f", []byte(src))
			if err != nil {
				continue
			}
			again, err := r.Rewrite("f", got.Out)
			if err != nil || string(again.Out) != string(got.Out) || len(again.Changed) != 0 {
				t.Fatalf("%s: %q became %q, then %q (%v)", r, src, got.Out, again.Out, err)
			}
			if before, after := inert(t, []byte(src)), inert(t, got.Out); !slices.Equal(before, after) {
				t.Fatalf("%s: comments and literals of %q were %q, are %q", r, src, before, after)
			}
		}
	})
}

// TestReplaceLines: no match goes across a preprocessor line.
func TestReplaceLines(t *testing.T) {
	for _, src := range []string{"#undef f\n(void)x;\n", "f(1,\n#ifdef A\n2\n#else\n3\n#endif\n);\n"} {
		for from, to := range map[string]string{"f($a)": "g($a)", "f($a, $b)": "g($b, $a)"} {
			got, err := rules.Rule{Kind: "replace", From: from, To: to}.Rewrite("a.cpp", []byte(src))
			if err != nil || len(got.Changed) > 0 {
				t.Errorf("%s in %q: %q, %v", from, src, got.Out, err)
			}
		}
	}
	got, err := rules.Rule{Kind: "replace", From: "f($a)", To: "g($a)"}.Rewrite("a.cpp", []byte("#define A f(1)\n#define B\n"))
	if want := "#define A g(1)\n#define B\n"; err != nil || string(got.Out) != want {
		t.Errorf("%q, %v; want %q", got.Out, err, want)
	}
}

// TestReplaceNothing deletes statements with their semicolons, and leaves what would change other code.
func TestReplaceNothing(t *testing.T) {
	for src, want := range map[string]string{
		"a();\nREG();\nb();\n":                             "a();\nb();\n",
		"if (a)\n  REG();\nb();\n":                         "if (a)\n  ;\nb();\n",
		"if (a)\n#ifdef B\nREG();\n#endif\nx;\n":           "if (a)\n#ifdef B\n;\n#endif\nx;\n",
		"x;\n#ifdef B\nREG();\n#endif\n":                   "x;\n#ifdef B\n#endif\n",
		"#define M if (a) REG(); y();\n":                   "#define M if (a) ; y();\n",
		"#define I() {} REG()\n;\nx;\n":                    "#define I() {} \n;\nx;\n",
		"#define I() a(); \\ \n REG()\nint x;\n":           "#define I() a(); \\ \n \nint x;\n",
		"a(); REG(/* why */);\n":                           "a(); /* why */\n",
		"#define I() \\\n a(); \\\n REG()\nint x;\n":       "#define I() \\\n a(); \\\n \nint x;\n",
		"#define I() \\\n a(); \\\n REG(); \\\n b()\nx;\n": "#define I() \\\n a(); \\\n  \\\n b()\nx;\n",
	} {
		got, err := rules.Rule{Kind: "replace", From: "REG()"}.Rewrite("a.cpp", []byte(src))
		if err != nil || string(got.Out) != want {
			t.Errorf("%q became %q, %v; want %q", src, got.Out, err, want)
		}
	}
}
