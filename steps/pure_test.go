package steps_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/internal/step/steptest"
)

// exampleRequest is the request of a kind's example: what it refers to is there, as outputs of steps and toolchains.
func exampleRequest(t *testing.T, kind string, k step.Kind) step.Request {
	t.Helper()
	f, diags := hclsyntax.ParseConfig([]byte(k.Schema().Example), kind, hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	block := f.Body.(*hclsyntax.Body).Blocks[0]
	spec := k.Schema().Args
	r := step.Request{At: instance(kind, block.Labels[len(block.Labels)-1]), Profile: "device", Toolchains: map[string]step.Toolchain{}, Target: target(t, "SM8750")}
	values := map[string]map[string]map[string]map[string]cty.Value{} // step → kind → name → output → value
	tools := map[string]cty.Value{}
	for _, ref := range hcldec.Variables(block.Body, spec) {
		name := func(i int) string { return ref[i].(hcl.TraverseAttr).Name }
		var o addrs.Output
		if ref.RootName() == "toolchain" {
			o = addrs.Output{Instance: instance(addrs.Toolchain, name(1)), Name: "dir"}
			tools[name(1)] = cty.ObjectVal(map[string]cty.Value{"dir": cty.StringVal(o.Path())})
		} else {
			o = addrs.Output{Instance: instance(name(1), name(2)), Name: name(4)}
			if values[name(1)] == nil {
				values[name(1)] = map[string]map[string]map[string]cty.Value{}
			}
			if values[name(1)][name(2)] == nil {
				values[name(1)][name(2)] = map[string]map[string]cty.Value{"outputs": {}}
			}
			values[name(1)][name(2)]["outputs"][name(4)] = cty.StringVal(o.Path())
		}
		for arg := range spec {
			r.Uses = append(r.Uses, step.OutputRefOf(cty.GetAttrPath(arg), o))
		}
	}
	kinds := map[string]cty.Value{}
	for kind, steps := range values {
		objects := map[string]cty.Value{}
		for name, o := range steps {
			objects[name] = cty.ObjectVal(map[string]cty.Value{"outputs": cty.ObjectVal(o["outputs"])})
		}
		kinds[kind] = cty.ObjectVal(objects)
	}
	args, _, diags := hcldec.PartialDecode(block.Body, spec, &hcl.EvalContext{Variables: map[string]cty.Value{"step": cty.ObjectVal(kinds), "toolchain": cty.ObjectVal(tools)}})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	r.Args = args.AsValueMap()
	files := fstest.MapFS{ // that kinds read while they plan
		"models/SmolLM2-135M-Instruct.Q4_1.gguf":  {Data: []byte("GGUF")},
		"models/SmolLM2-135M-Instruct/model.gguf": {Data: []byte("GGUF")},
	}
	if slices.Contains([]string{"onnx_llm", "hf_folder"}, kind) {
		r.Open = func(name string) (fs.File, error) { return files.Open(name) }
	}
	for _, name := range k.Schema().Toolchains {
		r.Toolchains[name] = compatToolchain(name, map[string]string{"qairt": "2.41.0.251128", "hexagon": "6.4.0.2", "ndk": "r28b"}[name], "archive")
	}
	for _, b := range block.Body.Blocks {
		if b.Type == "output" {
			r.Outputs = append(r.Outputs, step.DeclaredOutput{Name: b.Labels[0], Class: action.File, Path: "x"})
		}
	}
	return r
}

// Every kind is one by the example that its documentation has.
func TestKinds(t *testing.T) {
	for name, k := range fetchWorkspace(t).Kinds() {
		t.Run(name, func(t *testing.T) { steptest.Kind(t, "*step.kind", k, exampleRequest(t, name, k)) })
	}
}

// Kinds reach files through their plan alone: no code here asks the machine by itself.
func TestNobodyReadsFilesWhilePlanning(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	forbidden := []string{"os", "os/exec", "io/ioutil", "syscall", "golang.org/x/sys/unix", "net", "net/http"}
	asking := []string{"Abs", "EvalSymlinks", "Glob", "Walk", "WalkDir"} // of path/filepath
	n := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		n++
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range reads(t, name, src, forbidden, asking) {
			t.Errorf("%s: %s: a kind that looks into a file does so with Plan.Open, which says that the plan depends on it", name, bad)
		}
	}
	if n < 15 {
		t.Errorf("%d files were looked at", n)
	}
	planted := "package steps\nimport (\n\"os\"\n\"path/filepath\"\n)\nvar _, _ = filepath.Glob(os.Args[0])\n"
	if got := reads(t, "planted.go", []byte(planted), forbidden, asking); len(got) != 2 {
		t.Errorf("of two planted reads %q are found", got)
	}
}

func reads(t *testing.T, name string, src []byte, forbidden, asking []string) (bad []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), name, src, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range f.Imports {
		if path, err := strconv.Unquote(i.Path.Value); err == nil && slices.Contains(forbidden, path) {
			bad = append(bad, "imports "+path)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == "filepath" && slices.Contains(asking, sel.Sel.Name) {
				bad = append(bad, "calls filepath."+sel.Sel.Name)
			}
		}
		return true
	})
	return bad
}
