package lint_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/patches/lint"
)

func shipped(t *testing.T) lint.Data {
	t.Helper()
	d, err := lint.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// run lints sources and lists the findings, one a line: place, name, whether it is certain, rule.
func run(t *testing.T, sdk lint.SDK, files map[string]string) []string {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	found, err := lint.Run(t.Context(), fsys, shipped(t), sdk)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, f := range found {
		if f.Message == "" || f.Instead == "" || f.Text == "" {
			t.Errorf("incomplete: %+v", f)
		}
		line := fmt.Sprintf("%s:%d:%d %s %v", f.File, f.Line, f.Col, f.Name, f.Certain)
		if f.Rule != "" {
			line += " " + f.Rule
		}
		out = append(out, line)
	}
	return out
}

// sdk is one whose headers declare names, and have headers.
func sdk(names string, headers ...string) lint.SDK {
	s := lint.SDK{Name: "the SDK", Names: map[string]bool{}, Header: func(p string) bool {
		for _, h := range headers {
			if h == p {
				return true
			}
		}
		return false
	}}
	for _, n := range strings.Fields(names) {
		s.Names[n] = true
	}
	return s
}

func TestHeaders(t *testing.T) {
	for _, tt := range []struct {
		name  string
		sdk   lint.SDK
		files map[string]string
		want  []string
	}{
		{"renamed", sdk("interface_scale"), map[string]string{"src/a.cpp": "float f(const Tensor &t) {\n  return t.get_interface_scale(); // get_interface_scale\n}\n"}, []string{"src/a.cpp:2:12 get_interface_scale true rename interface_scale"}},
		{"there", sdk("get_interface_scale"), map[string]string{"src/a.cpp": "float f(const Tensor &t) { return t.get_interface_scale(); }\n"}, nil},
		{"too new", sdk("get_interface_scale"), map[string]string{"src/a.cpp": "float f(const Tensor &t) { return t.interface_scale(); }\n"}, []string{"src/a.cpp:1:37 interface_scale true rename get_interface_scale"}},
		{"another class", sdk(""), map[string]string{"src/a.cpp": "struct Q { int x; };\nfloat f(Q &t) { return t.get_interface_scale(); }\n"}, nil},
		{"a free function", sdk(""), map[string]string{"src/a.cpp": "int i = get_interface_scale();\n"}, nil},
		{"own macro", sdk(""), map[string]string{"src/a.cpp": "logmsgl(\"x\");\n", "src/log.h": "#define logmsgl(...) printf(__VA_ARGS__)\n"}, nil},
		{"own function", sdk(""), map[string]string{"src/a.cpp": "static bool compare_equal(int a, int b) { return a == b; }\nint x = compare_equal(1, 2);\n"}, nil},
		{"own pointer function", sdk(""), map[string]string{"src/a.cpp": "static const float *read_floats(int n);\nauto x = read_floats(2);\n"}, nil},
		{"own class", sdk(""), map[string]string{"src/a.cpp": "class Serializer { };\nSerializer s;\n"}, nil},
		{"removed macros", sdk(""), map[string]string{"src/a.cpp": "DEF_TILE_PROPERTIES(x)\nint f() { return logmsgl(\"a\"), SMART_CHANNEL_SIZE_QUANT; }\n#ifdef HAS_ELTWISE\n#endif\n"},
			[]string{"src/a.cpp:1:1 DEF_TILE_PROPERTIES true", "src/a.cpp:2:18 logmsgl true", "src/a.cpp:2:32 SMART_CHANNEL_SIZE_QUANT true", "src/a.cpp:3:8 HAS_ELTWISE true"}},
		{"by prefix", sdk(""), map[string]string{"src/a.cpp": "int f() { return serialize_op(1); }\n"}, []string{"src/a.cpp:1:18 serialize_op true"}},
		{"registration", sdk("INIT_PKG_CORE_INIT_FUNC"), map[string]string{"src/a.cpp": "int init() {\n  REGISTER_PACKAGE_OPS()\n  REGISTER_PACKAGE_OPTIMIZATIONS()\n}\n"},
			[]string{"src/a.cpp:2:3 REGISTER_PACKAGE_OPS true call register_ops", "src/a.cpp:3:3 REGISTER_PACKAGE_OPTIMIZATIONS true call register_ops"}},
		{"unknown macro of the SDK's", sdk(""), map[string]string{"src/a.cpp": "LIST_PACKAGE_AXIS_PARAMS(x)\n// LIST_PACKAGE_AXIS_PARAMS(x)\nMY_PACKAGE_OPS()\n"}, []string{"src/a.cpp:1:1 LIST_PACKAGE_AXIS_PARAMS true"}},
		{"headers", sdk("", "QnnOpPackage.h"), map[string]string{"src/a.cpp": "#include \"QnnOpPackage.h\"\n#include \"HTP/core/gone.h\"\n#include \"HTP/core/mine.h\"\n#include <cmath>\n#include \"HTP/core/simple_reg.h\"\n// #include \"HTP/x.h\"\n", "include/HTP/core/mine.h": ""},
			[]string{"src/a.cpp:2:10 HTP/core/gone.h true", "src/a.cpp:5:10 HTP/core/simple_reg.h true"}},
		{"shapes", sdk("DEF_PACKAGE_OP DEF_PACKAGE_OP_AND_COST_AND_FLAGS"), map[string]string{"src/a.cpp": "DEF_PACKAGE_OP((f<A, B>), \"X\")\nDEF_PACKAGE_OP((f<A, B>), X)\nDEF_PACKAGE_OP_AND_COST_AND_FLAGS(f, \"X\", \"SNAIL\", Flags::A)\n"},
			[]string{"src/a.cpp:2:27 DEF_PACKAGE_OP true", "src/a.cpp:3:43 DEF_PACKAGE_OP_AND_COST_AND_FLAGS true"}},
		{"unguarded", sdk("DEF_PACKAGE_OPTIMIZATION"), map[string]string{"src/a.cpp": "static bool ok(int x) { return x; }\nDEF_PACKAGE_OPTIMIZATION(ok(1))\n"}, []string{"src/a.cpp:1:1 PREPARE_DISABLED false guard prepare"}},
		{"no source", sdk(""), map[string]string{"README.md": "logmsgl(1)", ".git/a.cpp": "logmsgl(1)", "build.txt": "DEF_TILE_PROPERTIES(x)"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.want == nil {
				tt.want = []string{}
			}
			if diff := cmp.Diff(tt.want, run(t, tt.sdk, tt.files)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

// TestVersions: without headers the releases decide, and say where they can't.
func TestVersions(t *testing.T) {
	files := map[string]string{"a.cpp": "float f(const Tensor &t) {\n  logmsgl(\"x\");\n  REGISTER_PACKAGE_OPS();\n  return t.get_interface_scale();\n}\n"}
	for version, want := range map[string][]string{
		"2.13.0.230730": {},
		"2.25.0.240728": {"a.cpp:3:3 REGISTER_PACKAGE_OPS true call register_ops"},
		"2.17.0":        {"a.cpp:3:3 REGISTER_PACKAGE_OPS false call register_ops"},
		"2.31.0.250130": {"a.cpp:2:3 logmsgl false", "a.cpp:3:3 REGISTER_PACKAGE_OPS true call register_ops", "a.cpp:4:12 get_interface_scale false rename interface_scale"},
		"2.34.0.250424": {"a.cpp:2:3 logmsgl false", "a.cpp:3:3 REGISTER_PACKAGE_OPS true call register_ops", "a.cpp:4:12 get_interface_scale true rename interface_scale"},
		"2.41.0.251128": {"a.cpp:2:3 logmsgl true", "a.cpp:3:3 REGISTER_PACKAGE_OPS true call register_ops", "a.cpp:4:12 get_interface_scale true rename interface_scale"},
	} {
		if diff := cmp.Diff(want, run(t, lint.SDK{Name: "qairt " + version, Version: version}, files)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", version, diff)
		}
	}
}

// TestData: every name that is known to have changed is there.
func TestData(t *testing.T) {
	d := shipped(t)
	has := func(name string) bool {
		for _, c := range append(append([]lint.Change(nil), d.Removed...), d.Added...) {
			if c.Matches(name) {
				return true
			}
		}
		return false
	}
	for _, name := range strings.Fields(`get_interface_scale get_interface_offset interface_scale interface_offset
		DEFINE_UNIQ_TY BEGIN_PKG_OPS_OPTS_LIST DECLARE_PKG_OPS_OPTS_LIST END_PKG_OPS_OPTS_LIST BEGIN_PKG_OP_DEFINITION END_PKG_OP_DEFINITION
		HTP/core/unique_types.h HTP/core/simple_reg.h DEF_TENSOR_PROPERTIES REGISTER_PACKAGE_OPS REGISTER_PACKAGE_OPTIMIZATIONS INIT_PKG_CORE_INIT_FUNC
		DEF_TILE_PROPERTIES TILE_COST TILE_FLAGS TILE_LIKE TILE_SHAPE unary_by_tiles EarlyCrouton tensor_compare compare_equal compare_eq_same_type
		read_floats write_floats change_opstr replace_func index_pn contains_addr generic_accessor generic_accessor_ro get_plain_ifc get_extra_info for_hlx
		logmsgl errlogl HAS_ELTWISE SMART_CHANNEL_SIZE_QUANT GOOD_WEIGHTS_QUANT ALLOW_INTRINSIC_SHIFT Q6_Vh_vshuffe_VhVh Q6_Vuh_vasr_VwVwR_sat
		Serializer serialize_fromOp infolog2 errlog2 warnlog2 SplitHistory`) {
		if !has(name) {
			t.Errorf("%s is not in qairt.hcl", name)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for want, text := range map[string]string{
		"until 2.3 is not before since 2.1": "removed \"x\" {\n names = [\"a\"]\n kind = \"macro\"\n until = \"2.3\"\n since = \"2.1\"\n instead = \"\"\n source = \"\"\n}",
		`kind "class" is to be`:             "removed \"x\" {\n names = [\"a b\"]\n kind = \"class\"\n since = \"2.1\"\n instead = \"\"\n source = \"\"\n}",
		`"a b" is no name of a macro`:       "added \"x\" {\n names = [\"a b\"]\n kind = \"macro\"\n receiver = \"T\"\n since = \"2.1\"\n instead = \"\"\n source = \"\"\n}",
		"since \"new\" are to be releases":  "shape \"x\" {\n macro = \"M\"\n argument = 0\n is = \"x\"\n since = \"new\"\n instead = \"\"\n source = \"\"\n}",
		"used_by to have some":              "unguarded \"x\" {\n macro = \"M\"\n used_by = []\n since = \"1\"\n instead = \"\"\n source = \"\"\n}",
		"Unsupported argument":              "removed \"x\" {\n name = \"a\"\n}",
	} {
		if _, err := lint.Parse("x.hcl", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse = %v, want %s", err, want)
		}
	}
}

func FuzzRun(f *testing.F) {
	for _, seed := range []string{"t.get_interface_scale()", "DEF_PACKAGE_OP(", "DEF_PACKAGE_OP((", "#include \"HTP/x.h\"\n", "class Serializer", "serialize_x(", "int *read_floats(", "DEF_PACKAGE_OPTIMIZATION(f)int f(){}"} {
		f.Add(seed)
	}
	d, err := lint.Shipped()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, src string) {
		found, err := lint.Run(t.Context(), fstest.MapFS{"a.cpp": {Data: []byte(src)}}, d, sdk(""))
		if err != nil {
			return
		}
		for _, p := range found {
			if p.Line < 1 || p.Line > strings.Count(src, "\n")+1 {
				t.Fatalf("%+v in %q", p, src)
			}
		}
	})
}
