package steps_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/step"
)

// planEdit plans a step onnx_edit as it is written, and gives what its program is told, and what is wrong.
func planEdit(t *testing.T, src string) (told map[string]any, said string) {
	t.Helper()
	k := table()["onnx_edit"]
	f, diags := hclsyntax.ParseConfig([]byte("model = \"net.onnx\"\n"+src), "p.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	v, diags := hcldec.Decode(f.Body, k.Schema().Args, nil)
	if diags.HasErrors() {
		return nil, diags.Error()
	}
	p, diags := k.Plan(step.Request{At: addrs.Instance{Step: addrs.Step{Kind: "onnx_edit", Name: "x"}}, Args: v.AsValueMap(),
		Toolchains: map[string]step.Toolchain{"onnx": compatToolchain("onnx", "1.31.1", "python")}})
	if diags.HasErrors() {
		return nil, diags.Error()
	}
	for _, in := range p.Specs[0].Inputs {
		if in.Path == "args.json" {
			if err := json.Unmarshal(in.Content.Data, &told); err != nil {
				t.Fatal(err)
			}
		}
	}
	return told, ""
}

// TestONNXEditPlan: what the program is told, in the order in which the edits stand.
func TestONNXEditPlan(t *testing.T) {
	told, said := planEdit(t, `
graphs    = ["prefill"]
tolerance = 0
edit "replace" {
  expect  = 2
  pattern = ["y = Relu(x)"]
  by      = ["y = Sigmoid(x)"]
}
edit "rename" {
  expect = 1
  tensors = ["x"]
  to = "y"
}
edit "insert_qdq" {
  expect = 1
  tensors = ["y"]
  type = "uint8"
  scale = 0.5
  zero_point = 0
}
edit "fix_shape" {
  expect = 1
  dims = { batch = 1 }
}
edit "replace" {
  expect  = 1
  pattern = ["y = Neg(x)"]
  by      = ["y = Abs(x)"]
  nodes   = ["last"]
}
`)
	if said != "" {
		t.Fatal(said)
	}
	want := map[string]any{"model": "in/model/net.onnx", "graphs": []any{"prefill"}, "samples": "", "random": 2., "seed": 1., "tolerance": 0., "out": "dir", "facts": "facts.json", "edits": []any{
		map[string]any{"kind": "replace", "expect": 2., "pattern": []any{"y = Relu(x)"}, "by": []any{"y = Sigmoid(x)"}},
		map[string]any{"kind": "rename", "expect": 1., "tensors": []any{"x"}, "to": "y"},
		map[string]any{"kind": "insert_qdq", "expect": 1., "tensors": []any{"y"}, "type": "uint8", "scale": 0.5, "zero_point": 0.},
		map[string]any{"kind": "fix_shape", "expect": 1., "dims": map[string]any{"batch": 1.}},
		map[string]any{"kind": "replace", "expect": 1., "pattern": []any{"y = Neg(x)"}, "by": []any{"y = Abs(x)"}, "nodes": []any{"last"}},
	}}
	if d := cmp.Diff(want, told); d != "" {
		t.Error(d)
	}
	if told, said = planEdit(t, "edit \"fold\" { expect = 1 }"); said != "" || !cmp.Equal(told["graphs"], []any{}) {
		t.Errorf("%v, %s", told, said)
	}
}

// TestONNXEditRefused: an edit that cannot be is refused before anything runs.
func TestONNXEditRefused(t *testing.T) {
	edit := func(kind string, args ...string) string {
		return "edit \"" + kind + "\" {\n  expect = 1\n  " + strings.Join(args, "\n  ") + "\n}\n"
	}
	const one, two = `tensors = ["a"]`, `nodes = ["b"]`
	for src, want := range map[string]string{
		"":                                   "edit",
		edit("delete"):                       `kind is "delete": it can be rename, fold,`,
		"edit \"fold\" {\n}\n":               `"expect" is required`,
		"edit \"fold\" {\n expect = 0\n}\n":  "expect is 0",
		edit("rename", one):                  "edit 1: rename takes to.",
		edit("rename", `to = "b"`):           "rename takes tensors, or nodes.",
		edit("rename", one, two, `to = "b"`): "rename takes tensors, or nodes, and not more than one of these.",
		edit("rename", `tensors = ["a", "b"]`, `to = "c"`): "rename takes one name",
		edit("fold", one): "fold takes no tensors.",
		edit("replace", `pattern = ["y = Relu(x)"]`):                                        "replace takes by.",
		edit("precision", one, `type = "float16"`):                                          "edit 1, precision, changes numbers: say how much",
		edit("precision", one, `type = "int8"`) + "tolerance = 1":                           "precision takes no type int8.",
		edit("precision", one, `type = "half"`) + "tolerance = 1":                           `type is "half": it can be`,
		edit("insert_qdq", one, `type = "int32"`) + "tolerance = 1":                         "insert_qdq takes no type int32.",
		edit("insert_qdq", one, `type = "int8"`):                                            "insert_qdq, changes numbers",
		edit("insert_qdq", one, `type = "int8"`, "zero_point = 1") + "tolerance = 1":        "zero_point goes with scale",
		edit("insert_qdq", one, `type = "int8"`, "scale = 0") + "tolerance = 1":             "scale is one positive number",
		edit("insert_qdq", one, `type = "int8"`, "scale = 1", "axis = 0") + "tolerance = 1": "with axis the scales come of",
		edit("remove_qdq", one):                                                             "remove_qdq, changes numbers",
		edit("fix_shape"):                                                                   "fix_shape takes dims, or tensors.",
		edit("fix_shape", one):                                                              "fix_shape takes dims, or tensors and shape.",
		edit("fix_shape", one, "shape = [1, 0]"):                                            "a size is 1 at least.",
		edit("fix_shape", "dims = { n = -1 }"):                                              "a size is 1 at least.",
		edit("split", one):                                                                  "split takes into.",
		edit("split", one, `into = ["a"]`):                                                  "into has the names of two graphs",
		edit("split", one, `into = ["a", "a"]`):                                             "into has the names of two graphs",
		edit("split", one, `into = ["a", "../b"]`):                                          "into has the names of two graphs",
		edit("split", one, `into = ["a", "b"]`) + edit("fold"):                              "edit 1: split is the last edit",
		edit("fold") + "tolerance = 2":                                                      "tolerance is 2: give a number from 0 to 1.",
		edit("fold") + edit("rename", one, `to = "b"`, "axis = 1"):                          "edit 2: rename takes no axis.",
	} {
		if _, said := planEdit(t, src); !strings.Contains(said, want) {
			t.Errorf("%s\n%q, want %q", src, said, want)
		}
	}
}
