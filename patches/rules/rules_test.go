package rules_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/patches/cpptoken"
	"github.com/hexmage/hexmage/patches/rules"
)

func scaleRule() rules.Rule {
	return rules.Rule{
		Kind: "rename", Name: "interface_scale", From: "get_interface_scale", To: "interface_scale", Receiver: "Tensor",
		When:   &rules.When{Header: "HTP/core/tensor.h", Lacks: "get_interface_scale", Declares: "interface_scale"},
		Files:  []string{"src/**/*.cpp"},
		Expect: rules.Expect{Min: 1, Max: 3},
	}
}

func TestRewrite(t *testing.T) {
	tests := []struct {
		name, src, want  string
		changed, already int
	}{
		{"call", "float s = in.get_interface_scale();", "float s = in.interface_scale();", 1, 0},
		{"pointer", "p -> get_interface_scale ( )", "p -> interface_scale ( )", 1, 0},
		{"next line", "p\n  .get_interface_scale()", "p\n  .interface_scale()", 1, 0},
		{"comment between", "p. /* the */ get_interface_scale()", "p. /* the */ interface_scale()", 1, 0},
		{"member pointer", "&Tensor::get_interface_scale", "&Tensor::interface_scale", 1, 0},
		{"other class", "Quant::get_interface_scale()", "Quant::get_interface_scale()", 0, 0},
		{"free function", "get_interface_scale(x)", "get_interface_scale(x)", 0, 0},
		{"longer name", "x.my_get_interface_scale() + x.get_interface_scale2()", "x.my_get_interface_scale() + x.get_interface_scale2()", 0, 0},
		{"comments and strings", "// in.get_interface_scale()\n/* in.get_interface_scale() */ f(\"in.get_interface_scale()\", R\"(in.get_interface_scale())\");",
			"// in.get_interface_scale()\n/* in.get_interface_scale() */ f(\"in.get_interface_scale()\", R\"(in.get_interface_scale())\");", 0, 0},
		{"macro", "#define S(t) \\\n  t.get_interface_scale()\n", "#define S(t) \\\n  t.interface_scale()\n", 1, 0},
		{"splice inside", "x.get_\\\ninterface_scale()\ny", "x.interface_scale()\ny", 1, 0},
		{"splice before", "x.\\\nget_interface_scale()", "x.\\\ninterface_scale()", 1, 0},
		{"mixed", "a.interface_scale() * b.get_interface_scale()", "a.interface_scale() * b.interface_scale()", 1, 1},
		{"CRLF", "a\r\n.get_interface_scale();\r\n", "a\r\n.interface_scale();\r\n", 1, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := scaleRule()
			got, err := r.Rewrite("src/a.cpp", []byte(tt.src))
			if err != nil {
				t.Fatal(err)
			}
			if string(got.Out) != tt.want || len(got.Changed) != tt.changed || len(got.Already) != tt.already {
				t.Errorf("Rewrite(%q) = %q, changed %v, already %v", tt.src, got.Out, got.Changed, got.Already)
			}
			again, err := r.Rewrite("src/a.cpp", got.Out)
			if err != nil || string(again.Out) != string(got.Out) || len(again.Changed) != 0 || len(again.Already) != len(got.Changed)+len(got.Already) {
				t.Errorf("a second Rewrite of %q = %q, %v, %v, %v", tt.src, again.Out, again.Changed, again.Already, err)
			}
		})
	}
}

// TestReceiver: a rule with a receiver changes members of any object, and no other names.
func TestReceiver(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		changed   int
	}{
		{"a parameter", "float f(const Tensor &in) { return in.get_interface_scale(); }", 1},
		{"a template parameter", "template <typename T> float f(const T &in) { return in.get_interface_scale(); }", 1},
		{"a member's member", "a.q.get_interface_scale()", 1},
		{"a call's result", "q().get_interface_scale()", 1},
		{"an element", "q[g(1)].get_interface_scale()", 1},
		{"this", "this->get_interface_scale()", 1},
		{"a pack", "template <int... get_interface_scale> int f();", 0},
		{"a declaration", "struct Quant { float get_interface_scale() const; };", 0},
		{"brackets that were never opened", ") ] } ].get_interface_scale() }.get_interface_scale()", 2},
	} {
		if got, err := scaleRule().Rewrite("a.cpp", []byte(tt.src)); err != nil || len(got.Changed) != tt.changed {
			t.Errorf("%s: changed %v, %v", tt.name, got.Changed, err)
		}
	}
}

// FuzzRewrite: what is in comments and literals stays, and a second time nothing changes.
func FuzzRewrite(f *testing.F) {
	for _, seed := range []string{
		"// in.old\nin.old(); \"in.old\" R\"(in.old)\" 'o' /* in.old */", "x.ol\\\nd", "#define A x.old", "struct Q { int old; }; Q q; int i = q.old;",
		"#include <x.old>\n", "a[1].old", "this->old", ") ] }.old", "x\\\n.\\\r\nold//", "u8\"x.old\"_old", "x.\\u0061old", "auto [a, b] = c; b.old",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, src string) {
		if _, err := cpptoken.Scan([]byte(src)); err != nil {
			return
		}
		for _, receiver := range []string{"", "T"} {
			r := rules.Rule{Kind: "rename", From: "old", To: "newer", Receiver: receiver}
			got, err := r.Rewrite("f", []byte(src))
			if err != nil {
				return
			}
			again, err := r.Rewrite("f", got.Out)
			if err != nil || !bytes.Equal(again.Out, got.Out) || len(again.Changed) != 0 {
				t.Fatalf("%q became %q, then %q (%v)", src, got.Out, again.Out, err)
			}
			if before, after := inert(t, []byte(src)), inert(t, got.Out); !slices.Equal(before, after) {
				t.Fatalf("comments and literals of %q were %q, are %q", src, before, after)
			}
		}
	})
}

// inert returns the texts of a source's comments and literals: what is no name or mark.
func inert(t *testing.T, src []byte) (texts []string) {
	tokens, err := cpptoken.Scan(src)
	if err != nil {
		t.Fatal(err)
	}
	end := 0
	for _, k := range append(tokens, cpptoken.Token{Start: len(src), End: len(src)}) {
		if between := string(src[end:k.Start]); strings.Contains(between, "/") {
			texts = append(texts, strings.TrimSpace(between))
		}
		if k.Kind == cpptoken.Literal {
			texts = append(texts, k.Text)
		}
		end = k.End
	}
	return texts
}

func TestRewritePlaces(t *testing.T) {
	got, err := scaleRule().Rewrite("src/ops/a.cpp", []byte("f(a.get_interface_scale(),\n  b.get_interface_scale());"))
	if err != nil {
		t.Fatal(err)
	}
	want := []rules.Place{{File: "src/ops/a.cpp", Line: 1, Col: 5}, {File: "src/ops/a.cpp", Line: 2, Col: 5}}
	if diff := cmp.Diff(want, got.Changed); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
	if _, err := scaleRule().Rewrite("src/a.cpp", []byte("\n /* interface_scale")); err == nil || err.Error() != "src/a.cpp:2:2: comment is never closed" {
		t.Errorf("an open comment: %v", err)
	}
}

func TestWhen(t *testing.T) {
	for _, tt := range []struct {
		name, header, reason string
		want                 bool
	}{
		{"new only", "float interface_scale() const; // was get_interface_scale", "HTP/core/tensor.h lacks get_interface_scale and declares interface_scale", true},
		{"old only", "float get_interface_scale() const;", "HTP/core/tensor.h declares get_interface_scale", false},
		{"both", "float get_interface_scale(); float interface_scale();", "HTP/core/tensor.h declares get_interface_scale", false},
		{"neither", "float scale();", "HTP/core/tensor.h does not declare interface_scale", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			names := map[string]bool{}
			if err := rules.AddNames(names, []byte(tt.header)); err != nil {
				t.Fatal(err)
			}
			if got, reason := scaleRule().When.Holds(names); got != tt.want || reason != tt.reason {
				t.Errorf("Holds = %v, %q", got, reason)
			}
		})
	}
}

func TestCount(t *testing.T) {
	place := rules.Place{File: "src/a.cpp", Line: 3, Col: 7}
	for _, tt := range []struct {
		changed, already int
		ok               bool
	}{{0, 0, false}, {1, 0, true}, {0, 1, true}, {2, 1, true}, {2, 2, false}} {
		err := scaleRule().Count(nil, make([]rules.Place, tt.changed), make([]rules.Place, tt.already), false)
		if (err == nil) != tt.ok {
			t.Errorf("Count(%d, %d) = %v", tt.changed, tt.already, err)
		}
	}
	if err := scaleRule().Count(nil, nil, nil, true); err != nil {
		t.Errorf("few are accepted: %v", err)
	}
	err := scaleRule().Count(nil, []rules.Place{place, place, place, place}, nil, true)
	if err == nil || strings.Count(err.Error(), "src/a.cpp:3:7") != 4 {
		t.Errorf("too many places: %v", err)
	}
}

// TestCountOfFiles: each file that a pattern of expect names has bounds of its own.
func TestCountOfFiles(t *testing.T) {
	r := scaleRule()
	r.Expect.Files = []rules.FileExpect{{Pattern: "**/IRoPE.cpp", Min: 2, Max: 2}}
	at := func(file string) rules.Place { return rules.Place{File: file, Line: 1, Col: 1} }
	files := []string{"src/IRoPE.cpp", "src/RoPE.cpp"}
	if err := r.Count(files, []rules.Place{at("src/IRoPE.cpp"), at("src/RoPE.cpp")}, []rules.Place{at("src/IRoPE.cpp")}, false); err != nil {
		t.Errorf("2 and 1: %v", err)
	}
	if err := r.Count([]string{"src/RoPE.cpp"}, []rules.Place{at("src/RoPE.cpp")}, nil, false); err != nil {
		t.Errorf("without the file: %v", err)
	}
	err := r.Count(files, []rules.Place{at("src/RoPE.cpp"), at("src/IRoPE.cpp")}, nil, false)
	if err == nil || !strings.Contains(err.Error(), `rename "interface_scale": found 1 places of get_interface_scale and 0 of interface_scale, expected 2 to 2 in total in src/IRoPE.cpp`) {
		t.Errorf("1 and 1: %v", err)
	}
}

func TestValidate(t *testing.T) {
	if err := scaleRule().Validate(); err != nil {
		t.Errorf("a good rule: %v", err)
	}
	bad := rules.Rule{Kind: "rename", Name: "x", From: "a-b", To: "a-b", Receiver: "q::T", Files: []string{"[a"},
		When:   &rules.When{Header: "h"},
		Expect: rules.Expect{Min: 3, Max: 2, Files: []rules.FileExpect{{Pattern: "x[", Max: -1}}}}
	err := bad.Validate()
	for _, want := range []string{"must be C++ names", "each run would change the code again", "receiver", "invalid pattern", "min 3 and max 2", "lacks or declares",
		"file \"x[\" must"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Validate does not say %q: %v", want, err)
		}
	}
}

func TestValidateWhen(t *testing.T) {
	if err := (&rules.When{Header: "h[", Lacks: "a"}).Validate(); err == nil {
		t.Error("h[ is a pattern")
	}
}

func TestMatches(t *testing.T) {
	for path, want := range map[string]bool{"src/a.cpp": true, "src/ops/a.cpp": true, "src/ops/a.h": false, "other/src/a.cpp": false} {
		if got := scaleRule().Matches(path); got != want {
			t.Errorf("Matches(%s) = %v", path, got)
		}
	}
}
