package opconfig_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/internal/tool/tooltest"
	"github.com/hexmage/hexmage/oppackage/opconfig"
)

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := fs.ReadFile(os.DirFS("../example/LLaMAPackage"), name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const exampleConfig = "config/LLaMAOpPackageHtp.xml"

func TestRead(t *testing.T) {
	c, err := opconfig.Read(strings.NewReader(read(t, exampleConfig)))
	if err != nil {
		t.Fatal(err)
	}
	count := func(n int) opconfig.Count { return opconfig.Count{Min: n, Max: n} }
	want := opconfig.Config{Package: "LLaMAPackage"}
	for _, op := range []struct {
		name               string
		params, in, inputs int
	}{{"RMSNorm", 0, 2, 2}, {"SiLU", 0, 1, 1}, {"RoPE", 1, 4, 4}, {"LLaMAAdd", 0, 2, 2}, {"LLaMAQuantize", 1, 1, 1}, {"LLaMADequantize", 1, 1, 1}} {
		want.Ops = append(want.Ops, opconfig.Op{Name: op.name, Registration: "PKG_" + op.name, Params: count(op.params), Inputs: count(op.inputs), Outputs: count(1)})
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
	optional := `<OpDefCollection PackageName="P"><OpDefList><OpDef><Name>A</Name><Input><Mandatory>true</Mandatory></Input><Input><Mandatory>false</Mandatory><Repeated>true</Repeated></Input><Parameter><Mandatory>false</Mandatory></Parameter></OpDef></OpDefList></OpDefCollection>`
	if c, err := opconfig.Read(strings.NewReader(optional)); err != nil || c.Ops[0].Inputs != (opconfig.Count{Min: 1, Max: -1}) || c.Ops[0].Params != (opconfig.Count{Min: 0, Max: 1}) {
		t.Errorf("%+v, %v", c, err)
	}
	for text, want := range map[string]string{
		"": "invalid XML", "<a>": "invalid XML", "<x/>": "root element is <x>", "ELF": "invalid XML",
		`<OpDefCollection PackageName="a b"/>`: "invalid C++ identifier",
		`<OpDefCollection PackageName="P"/>`:   "0 ops",
		`<OpDefCollection PackageName="P"><OpDefList><OpDef><Name>A"; x</Name></OpDef></OpDefList></OpDefCollection>`:                             "invalid C++ identifier",
		`<OpDefCollection PackageName="P"><OpDefList><OpDef><Name>A</Name></OpDef><OpDef><Name>A</Name></OpDef></OpDefList></OpDefCollection>`:    "duplicate op A",
		`<OpDefCollection PackageName="P">` + strings.Repeat(" ", 9<<20) + `</OpDefCollection>`:                                                   "file exceeds",
		`<!DOCTYPE x [<!ENTITY a "b">]><OpDefCollection PackageName="&a;"><OpDefList><OpDef><Name>A</Name></OpDef></OpDefList></OpDefCollection>`: "invalid XML",
	} {
		if _, err := opconfig.Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %q", text, err, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`<OpDefCollection PackageName="P"><OpDefList><OpDef><Name>A</Name></OpDef></OpDefList></OpDefCollection>`)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := opconfig.Read(strings.NewReader(text))
		if err == nil {
			if err := opconfig.Interface(&strings.Builder{}, c); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestRegistered(t *testing.T) {
	for source, want := range map[string]string{
		read(t, "src/ops/RMSNorm.cpp"): "PKG_RMSNorm:RMSNorm",
		read(t, "src/ops/exact.h"):     "",
		"BEGIN_PKG_OP_DEFINITION(PKG_a);\nDEF_PACKAGE_OP((f<Tensor, G<int>>), \"A\")\nDEF_PACKAGE_OP_AND_COST_AND_FLAGS((g<Tensor>), \"A.fp16\", SNAIL)\n// DEF_PACKAGE_OP((h), \"No\")\n/* DEF_PACKAGE_OP((h), \"No\") */\nDEF_PACKAGE_OP((f(x, (y))), \"A\")": "PKG_a:A PKG_a:A.fp16",
		"BEGIN_PKG_OP_DEFINITION(PKG_b);\nDEF_PACKAGE_OPTIMIZATION(X, Y, Z)": "PKG_b:",
	} {
		var got []string
		for _, op := range opconfig.Registered([]byte(source)) {
			got = append(got, op.Registration+":"+op.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q of\n%s", got, source)
		}
	}
}

func TestFile(t *testing.T) {
	for want, files := range map[string][]string{
		"":                {"src/a.xml", "config/deep/a.xml"},
		"config/a.xml":    {"config/a.xml", "config/a.txt"},
		"config/PHTP.xml": {"config/PCPU.xml", "config/PHTP.xml"},
	} {
		if got, err := opconfig.File(files); got != want || err != nil {
			t.Errorf("%q: %q, %v", files, got, err)
		}
	}
	if got, err := opconfig.File([]string{"config/a.xml", "config/b.xml"}); err == nil {
		t.Errorf("one of two: %q", got)
	}
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../example/LLaMAPackage")); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out.cpp")
	for _, tt := range []struct {
		spec opconfig.Spec
		want string // "": it is written
	}{
		{opconfig.Spec{Package: "LLaMAPackage", Config: filepath.Join(dir, exampleConfig), Out: out}, ""},
		{opconfig.Spec{Package: "P", Out: out, Sources: []string{filepath.Join(dir, "src/ops/SiLU.cpp"), filepath.Join(dir, "src/ops/RoPE.cpp")}}, ""},
		{opconfig.Spec{Package: "P", Config: filepath.Join(dir, exampleConfig), Out: out}, "configures package LLaMAPackage, but the step's package is P"},
		{opconfig.Spec{Package: "P", Out: out, Sources: []string{filepath.Join(dir, "src/ops/exact.h")}}, "missing op: register one with DEF_PACKAGE_OP"},
		{opconfig.Spec{Package: "P", Out: out}, "missing value: set package, out"},
	} {
		_, stderr, code := tooltest.Run(t, opconfig.Tool, opconfig.Run, tt.spec)
		if (code == 0) != (tt.want == "") || !strings.Contains(stderr, tt.want) {
			t.Errorf("%+v: exit %d: %s", tt.spec, code, stderr)
		}
	}
	text, err := os.ReadFile(out)
	if err != nil || !strings.Contains(string(text), "DECLARE_PKG_OPS_OPTS_LIST(PKG_SiLU)\nDECLARE_PKG_OPS_OPTS_LIST(PKG_RoPE)\n") || !strings.Contains(string(text), `{"RoPE", {0, UINT32_MAX}, {0, UINT32_MAX}, {0, UINT32_MAX}},`) || !strings.Contains(string(text), "PInterfaceProvider(") {
		t.Errorf("%v\n%s", err, text)
	}
}
