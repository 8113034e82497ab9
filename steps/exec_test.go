package steps_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/steps"
)

// execRequest fills in the arguments that are not given, as decoding does.
func execRequest(args map[string]cty.Value) step.Request {
	all := make(map[string]cty.Value)
	for name, spec := range table()["exec"].Schema().Args {
		all[name] = cty.NullVal(spec.(*hcldec.AttrSpec).Type)
	}
	for name, v := range args {
		all[name] = v
	}
	return step.Request{At: addrs.Instance{Step: addrs.Step{Kind: "exec", Name: "a"}}, Args: all,
		Range: hcl.Range{Filename: "p.hcl"}, ArgAt: func(name string) (hcl.Range, bool) { return hcl.Range{Filename: "argv"}, name == "argv" }}
}

func execTexts(s ...string) cty.Value {
	vals := make([]cty.Value, len(s))
	for i, x := range s {
		vals[i] = cty.StringVal(x)
	}
	return cty.ListVal(vals)
}

func TestExec(t *testing.T) {
	src := addrs.Output{Instance: addrs.Instance{Step: addrs.Step{Kind: "patch", Name: "ops"}}, Name: "dir"}
	llvm := addrs.Output{Instance: addrs.Instance{Step: addrs.Step{Kind: addrs.Toolchain, Name: "llvm"}}, Name: "dir"}
	r := execRequest(map[string]cty.Value{
		"argv":          execTexts("toolchains/llvm/bin/clang", "-c", "steps/patch/ops.dir/a.c"),
		"inputs":        execTexts("include", "steps/patch/ops.dir/b", "/opt/x"),
		"stdin":         cty.StringVal("./words.txt"),
		"network":       cty.True,
		"ok_exit_codes": cty.ListVal([]cty.Value{cty.NumberIntVal(1)}),
	})
	r.Uses = []step.OutputRef{step.OutputRefOf(cty.GetAttrPath("argv").IndexInt(0), llvm), step.OutputRefOf(cty.GetAttrPath("argv").IndexInt(2), src), step.OutputRefOf(cty.GetAttrPath("inputs").IndexInt(1), src)}
	r.Toolchains = map[string]step.Toolchain{"llvm": {Output: llvm, Attrs: cty.EmptyObjectVal}}
	r.Env = map[string]string{"A": "b"}
	r.Outputs = []step.DeclaredOutput{{Name: "o", Class: action.File, Path: "a.o"}, {Name: "t", Class: action.Tree, Path: "out"}, {Name: "v", Class: action.Value, Path: "v.json"}}

	got, diags := table()["exec"].Plan(r)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	want := []action.Spec{{
		Args:  []string{"toolchains/llvm/bin/clang", "-c", "steps/patch/ops.dir/a.c"},
		Env:   map[string]string{"PATH": steps.DefaultPath, "A": "b"},
		Stdin: "words.txt",
		Inputs: []action.Input{
			{Path: "toolchains/llvm", Artifact: &llvm, Shared: true},
			{Path: "steps/patch/ops.dir", Artifact: &src},
			{Path: "include", Host: &action.HostPath{Path: "include"}},
			{Path: "host/opt/x", Host: &action.HostPath{Path: "/opt/x"}},
			{Path: "words.txt", Host: &action.HostPath{Path: "words.txt"}},
		},
		Outputs:     []action.Output{{Path: "a.o"}, {Path: "out", Tree: true}, {Path: "v.json"}},
		Platform:    map[string]string{action.PropertyNetwork: "true"},
		OKExitCodes: []int{1},
	}}
	if d := cmp.Diff(want, got.Specs); d != "" {
		t.Errorf("specs (-want +got):\n%s", d)
	}
	for name, class := range map[string]action.Class{"o": action.File, "t": action.Tree, "v": action.Value} {
		if a := got.Outputs[name]; a.Class != class || len(a.Parts) != 1 || a.Parts[0].Spec == nil {
			t.Errorf("output %s is %+v", name, a)
		}
	}
}

func TestExecRefuses(t *testing.T) {
	null := cty.ListVal([]cty.Value{cty.StringVal("x"), cty.NullVal(cty.String)})
	number := func(n int64) cty.Value { return cty.ListVal([]cty.Value{cty.NumberIntVal(n)}) }
	for _, tt := range []struct {
		args map[string]cty.Value
		want string
	}{
		{map[string]cty.Value{"argv": cty.ListValEmpty(cty.String)}, "Add the program as first element"},
		{map[string]cty.Value{"argv": null}, "argv[1] of step.exec.a is null"},
		{map[string]cty.Value{"argv": execTexts("../prepare")}, "path outside the workspace"},
		{map[string]cty.Value{"argv": execTexts("steps/x/prepare")}, "Refer to the output, such as"},
		{map[string]cty.Value{"argv": execTexts("echo hi > out/x")}, `Set shell = true, or write each word as an element: argv = ["echo", …]`},
		{map[string]cty.Value{"argv": execTexts("ls|wc")}, "Set shell = true"},
		{map[string]cty.Value{"argv": execTexts("echo", "hi"), "shell": cty.True}, "shell = true takes one string, the script"},
		{map[string]cty.Value{"argv": execTexts(" \n"), "shell": cty.True}, "is an empty script"},
		{map[string]cty.Value{"argv": execTexts("x"), "depfile": cty.StringVal("../a.d")}, "is not an output path"},
		{map[string]cty.Value{"argv": execTexts("x"), "depfile": cty.StringVal("/a.d")}, "is not an output path"},
		{map[string]cty.Value{"argv": execTexts("x"), "depfile": cty.StringVal("src/"), "inputs": execTexts("src")}, "is not an output path"},
		{map[string]cty.Value{"argv": execTexts("x"), "inputs": execTexts("..")}, "path outside the workspace"},
		{map[string]cty.Value{"argv": execTexts("x"), "inputs": execTexts("")}, "path outside the workspace"},
		{map[string]cty.Value{"argv": execTexts("x"), "stdin": cty.StringVal("toolchains/x")}, "Refer to the output, such as"},
		{map[string]cty.Value{"argv": execTexts("x"), "ok_exit_codes": number(256)}, "from 0 to 255"},
		{map[string]cty.Value{"argv": execTexts("x"), "ok_exit_codes": number(-1)}, "from 0 to 255"},
	} {
		_, diags := table()["exec"].Plan(execRequest(tt.args))
		if !diags.HasErrors() || !strings.Contains(diags[0].Detail, tt.want) || diags[0].Subject == nil {
			t.Errorf("%#v: %v, want %s", tt.args, diags, tt.want)
		}
	}
	twice := execRequest(map[string]cty.Value{"argv": execTexts("x")})
	twice.Outputs = []step.DeclaredOutput{{Name: "a", Class: action.File, Path: "x"}, {Name: "b", Class: action.File, Path: "x"}}
	if _, diags := table()["exec"].Plan(twice); !diags.HasErrors() || diags[0].Detail != `Outputs a and b of step.exec.a are both "x".` {
		t.Errorf("two outputs at one path: %v", diags)
	}
	for _, args := range []map[string]cty.Value{
		{"argv": execTexts("./prepare"), "inputs": execTexts("prepare")},
		{"argv": execTexts("tools/x"), "inputs": execTexts("tools")},
		{"argv": execTexts("tools/x"), "inputs": execTexts(".")},
		{"argv": execTexts("sh"), "inputs": null},
		{"argv": execTexts("/bin/sh")},
		{"argv": execTexts("./my tools/gen")},
		{"argv": execTexts("echo hi > x"), "shell": cty.True},
	} {
		if _, diags := table()["exec"].Plan(execRequest(args)); diags.HasErrors() {
			t.Errorf("%#v: %v", args, diags)
		}
	}
}

// Every argument has a line of documentation, and no line is about an argument that is not there.
func TestExecDocs(t *testing.T) {
	s := table()["exec"].Schema()
	for name := range s.Args {
		if s.ArgDocs[name] == "" {
			t.Errorf("argument %s is not documented", name)
		}
	}
	for name := range s.ArgDocs {
		if s.Args[name] == nil {
			t.Errorf("%s is documented but does not exist", name)
		}
	}
}

// A program of the workspace is an input by itself, and one in a folder makes that count in full.
func TestExecProgram(t *testing.T) {
	for _, c := range []struct {
		argv   string
		inputs []string
		want   []action.Input
	}{
		{"./tools/gen", nil, []action.Input{{Path: "tools/gen", Host: &action.HostPath{Path: "tools/gen"}}}},
		{"tools/gen", []string{"tools/lib"}, []action.Input{{Path: "tools/lib", Host: &action.HostPath{Path: "tools/lib"}}, {Path: "tools/gen", Host: &action.HostPath{Path: "tools/gen"}}}},
		{"tools/gen", []string{"tools", "src"}, []action.Input{{Path: "tools", Host: &action.HostPath{Path: "tools"}, Whole: true}, {Path: "src", Host: &action.HostPath{Path: "src"}}}},
		{"tools/gen", []string{"."}, []action.Input{{Path: "", Host: &action.HostPath{Path: "."}}, {Path: "tools/gen", Host: &action.HostPath{Path: "tools/gen"}}}},
		{"gen", nil, nil},
	} {
		args := map[string]cty.Value{"argv": execTexts(c.argv), "depfile": cty.StringVal("x.d")}
		if c.inputs != nil {
			args["inputs"] = execTexts(c.inputs...)
		}
		got, diags := table()["exec"].Plan(execRequest(args))
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		if d := cmp.Diff(c.want, got.Specs[0].Inputs); d != "" {
			t.Errorf("%s with %q (-want +got):\n%s", c.argv, c.inputs, d)
		}
	}
}

func TestExecShell(t *testing.T) {
	got, diags := table()["exec"].Plan(execRequest(map[string]cty.Value{"argv": execTexts("echo hi > x"), "shell": cty.True, "depfile": cty.StringVal("./x.d")}))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	s := got.Specs[0]
	if d := cmp.Diff([]string{"/bin/sh", "-eu", "-c", "echo hi > x"}, s.Args); d != "" || s.Depfile != "x.d" {
		t.Errorf("%s, depfile %q", d, s.Depfile)
	}
}
