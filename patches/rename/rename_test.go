package rename_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/patches/rename"
)

func scaleRule() rename.Rule {
	return rename.Rule{
		Name: "interface_scale", From: "get_interface_scale", To: "interface_scale", Receiver: "Tensor",
		When:   &rename.When{Header: "HTP/core/tensor.h", Lacks: "get_interface_scale", Declares: "interface_scale"},
		Files:  []string{"src/**/*.cpp"},
		Expect: rename.Expect{Min: 1, Max: 3},
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
		{"splice inside", "x.get_\\\ninterface_scale()\ny", "x.interface_scale\\\n()\ny", 1, 0},
		{"splice before", "x.\\\nget_interface_scale()", "x.\\\ninterface_scale()", 1, 0},
		{"mixed", "a.interface_scale() * b.get_interface_scale()", "a.interface_scale() * b.interface_scale()", 1, 1},
		{"CRLF", "a\r\n.get_interface_scale();\r\n", "a\r\n.interface_scale();\r\n", 1, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := scaleRule()
			got, changed, already, err := r.Rewrite("src/a.cpp", []byte(tt.src))
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.want || len(changed) != tt.changed || len(already) != tt.already {
				t.Errorf("Rewrite(%q) = %q, changed %v, already %v", tt.src, got, changed, already)
			}
			again, changed2, already2, err := r.Rewrite("src/a.cpp", got)
			if err != nil || string(again) != string(got) || len(changed2) != 0 || len(already2) != len(changed)+len(already) {
				t.Errorf("a second Rewrite of %q = %q, %v, %v, %v", tt.src, again, changed2, already2, err)
			}
		})
	}
}

func TestRewritePlaces(t *testing.T) {
	_, changed, _, err := scaleRule().Rewrite("src/ops/a.cpp", []byte("f(a.get_interface_scale(),\n  b.get_interface_scale());"))
	if err != nil {
		t.Fatal(err)
	}
	want := []rename.Place{{File: "src/ops/a.cpp", Line: 1, Col: 5}, {File: "src/ops/a.cpp", Line: 2, Col: 5}}
	if diff := cmp.Diff(want, changed); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
	if _, _, _, err := scaleRule().Rewrite("src/a.cpp", []byte("\n /* x")); err == nil || err.Error() != "src/a.cpp:2:2: comment is never closed" {
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
			names, err := rename.Names([]byte(tt.header))
			if err != nil {
				t.Fatal(err)
			}
			if got, reason := scaleRule().When.Holds(names); got != tt.want || reason != tt.reason {
				t.Errorf("Holds = %v, %q", got, reason)
			}
		})
	}
}

func TestCount(t *testing.T) {
	place := rename.Place{File: "src/a.cpp", Line: 3, Col: 7}
	for _, tt := range []struct {
		changed, already int
		ok               bool
	}{{0, 0, false}, {1, 0, true}, {0, 1, true}, {2, 1, true}, {2, 2, false}} {
		err := scaleRule().Count(make([]rename.Place, tt.changed), make([]rename.Place, tt.already))
		if (err == nil) != tt.ok {
			t.Errorf("Count(%d, %d) = %v", tt.changed, tt.already, err)
		}
	}
	err := scaleRule().Count([]rename.Place{place, place, place, place}, nil)
	var count *rename.CountError
	if !errors.As(err, &count) || strings.Count(err.Error(), "src/a.cpp:3:7") != 4 {
		t.Errorf("too many places: %v", err)
	}
}

func TestValidate(t *testing.T) {
	if err := scaleRule().Validate(); err != nil {
		t.Errorf("a good rule: %v", err)
	}
	bad := rename.Rule{Name: "x", From: "a-b", To: "a-b", Receiver: "q::T", Files: []string{"[a"}, When: &rename.When{Header: "h"}, Expect: rename.Expect{Min: 3, Max: 2}}
	err := bad.Validate()
	for _, want := range []string{"must be C++ names", "are both", "receiver", "is not a pattern", "min 3 and max 2", "lacks or declares"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Validate does not say %q: %v", want, err)
		}
	}
}

func TestMatches(t *testing.T) {
	for path, want := range map[string]bool{"src/a.cpp": true, "src/ops/a.cpp": true, "src/ops/a.h": false, "other/src/a.cpp": false} {
		if got := scaleRule().Matches(path); got != want {
			t.Errorf("Matches(%s) = %v", path, got)
		}
	}
}
