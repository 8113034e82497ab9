package steps

import (
	"maps"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
)

// ONNXEdit are the arguments of kind onnx_edit.
type ONNXEdit struct {
	Model     step.Path `arg:"model,required"`
	Graphs    []string  `arg:"graphs,nonull"`
	Edits     []edit    `block:"edit,required"`
	Samples   step.Path `arg:"samples"`
	Random    int       `arg:"random" default:"2" range:"1..1000"`
	Seed      int       `arg:"seed" default:"1" range:"0..2147483647"`
	Tolerance *float64  `arg:"tolerance" range:"0..1"`
}

// edit is one change. What it is says which of the others it has.
type edit struct {
	Kind      string         `arg:"kind,label" oneof:"rename fold replace precision insert_qdq remove_qdq fix_shape split" json:"kind"`
	Expect    int            `arg:"expect,required" range:"1..1000000" json:"expect"`
	Tensors   []string       `arg:"tensors,nonull" json:"tensors,omitempty"`
	Nodes     []string       `arg:"nodes,nonull" json:"nodes,omitempty"`
	To        string         `arg:"to" json:"to,omitempty"`
	Pattern   []string       `arg:"pattern,nonull" json:"pattern,omitempty"`
	By        []string       `arg:"by,nonull" json:"by,omitempty"`
	Type      string         `arg:"type" oneof:"float16 bfloat16 float32 float64 int32 int64 int4 uint4 int8 uint8 int16 uint16" json:"type,omitempty"`
	Scale     *float64       `arg:"scale" json:"scale,omitempty"`
	ZeroPoint *int           `arg:"zero_point" json:"zero_point,omitempty"`
	Axis      *int           `arg:"axis" json:"axis,omitempty"`
	Dims      map[string]int `arg:"dims" json:"dims,omitempty"`
	Shape     []int          `arg:"shape" json:"shape,omitempty"`
	Into      []string       `arg:"into,nonull" json:"into,omitempty"`
}

func onnxEditSchema() step.Schema {
	return step.Schema{
		Summary: "Edits ONNX graphs, one edit after the other, and runs what it was and what it is on the same samples: a graph that says something else is refused.",
		ArgDocs: map[string]string{
			"model":  "An ONNX graph, or a folder of them with their data, such as `onnx_llm` made; what else is in the folder goes along.",
			"graphs": "Which graphs of the folder are edited, such as [\"prefill\"]; by default all, each by all edits. The others stay as they are.",
			"edit": "What is done, in this order, and at how many places: `expect`. Names in `tensors` and `nodes` may have `*`, which is any letters. " +
				"`rename` one name `to` another; `fold` nodes that take constants alone; `replace` the nodes of a `pattern` `by` others; `precision`: the `type` that tensors have, or that nodes compute in; " +
				"`insert_qdq` and `remove_qdq`; `fix_shape`: `dims` by name, or the `shape` of an input; `split` at tensors `into` two graphs. See [onnx.md](onnx.md#edits).",
			"samples":   "A folder of samples, *.npz files with the graph's inputs by name, to compare with; by default they are made up.",
			"random":    "How many samples are made up, where none are given.",
			"seed":      "What they are made up from.",
			"tolerance": "How much an output may differ, as a part of its largest absolute value. By default not at all; edits that change numbers, `precision`, `insert_qdq` and `remove_qdq`, want it said.",
		},
		Outputs: []step.OutputSpec{
			{Name: "dir", Class: action.Tree, Doc: "The graphs, weights.bin with their large tensors, what else was beside them, manifest.json, and diff.txt: what was done, for people."},
			{Name: "graphs", Class: action.Value, Doc: "What was done, for checks and other steps: { net = { nodes = { before, after }, edits = [{ kind, places }], samples, difference, outputs } }."},
		},
		Toolchains: []string{onnxToolchain},
		Example: `step "onnx_edit" "smollm2" {
  model = step.onnx_llm.smollm2.outputs.dir
  edit "replace" {
    expect  = 30
    pattern = ["s = Sigmoid(x)", "y = Mul(x, s)"]
    by      = ["y = com.microsoft.QuickGelu(x, alpha=1.0)"]
  }
  tolerance = 1e-5
}`,
	}
}

// editArguments are the arguments of each edit beside expect: those that it needs, and those that it may have. Of those with a | it takes one.
func editArguments() map[string][2]string {
	return map[string][2]string{
		"rename":     {"tensors|nodes to", ""},
		"fold":       {"", "nodes"},
		"replace":    {"pattern by", "nodes"},
		"precision":  {"tensors|nodes type", ""},
		"insert_qdq": {"tensors type", "scale zero_point axis"},
		"remove_qdq": {"tensors", ""},
		"fix_shape":  {"dims|tensors", "shape"},
		"split":      {"tensors into", ""},
	}
}

// has are the arguments that the edit has.
func (e edit) has() map[string]bool {
	return map[string]bool{"tensors": len(e.Tensors) > 0, "nodes": len(e.Nodes) > 0, "to": e.To != "", "pattern": len(e.Pattern) > 0, "by": len(e.By) > 0, "type": e.Type != "",
		"scale": e.Scale != nil, "zero_point": e.ZeroPoint != nil, "axis": e.Axis != nil, "dims": len(e.Dims) > 0, "shape": len(e.Shape) > 0, "into": len(e.Into) > 0}
}

// check says what is wrong with the edit as it is written, whatever the graph is; last tells that no other follows.
func (e edit) check(last bool, fail func(format string, args ...any)) {
	has := e.has()
	needs, may := editArguments()[e.Kind][0], editArguments()[e.Kind][1]
	for _, need := range strings.Fields(needs) {
		n := 0
		for _, name := range strings.Split(need, "|") {
			if has[name] {
				n++
			}
		}
		if n != 1 {
			fail("%s takes %s.", e.Kind, strings.ReplaceAll(need, "|", ", or ")+map[bool]string{true: ", and not more than one of these"}[n > 1])
		}
	}
	known := strings.FieldsFunc(needs+" "+may, func(r rune) bool { return r == '|' || r == ' ' })
	for _, name := range slices.Sorted(maps.Keys(has)) {
		if has[name] && !slices.Contains(known, name) {
			fail("%s takes no %s.", e.Kind, name)
		}
	}
	quantised := strings.HasPrefix(e.Kind, "insert") // its types are others than those that are computed with
	switch {
	case e.Kind == "rename" && len(e.Tensors)+len(e.Nodes) > 1:
		fail("rename takes one name, which may have *.")
	case e.Type != "" && quantised != slices.Contains(strings.Fields("int4 uint4 int8 uint8 int16 uint16"), e.Type):
		fail("%s takes no type %s.", e.Kind, e.Type)
	case e.ZeroPoint != nil && e.Scale == nil:
		fail("zero_point goes with scale: give both, or neither, and they come of the samples.")
	case e.Scale != nil && (*e.Scale <= 0 || e.Axis != nil):
		fail("scale is one positive number; with axis the scales come of the constant's own values.")
	case e.Kind == "fix_shape" && (len(e.Tensors) > 0) != (len(e.Shape) > 0):
		fail("fix_shape takes dims, or tensors and shape.")
	case e.Kind == "split" && (len(e.Into) != 2 || e.Into[0] == e.Into[1] || !plainNames(e.Into)):
		fail("into has the names of two graphs, such as [\"front\", \"back\"]: letters, digits, _, - and dots.")
	case e.Kind == "split" && !last:
		fail("split is the last edit: what follows would not know which graph is meant. Edit the halves in a step of their own.")
	}
	sizes := slices.Concat(e.Shape, slices.Collect(maps.Values(e.Dims)))
	if slices.ContainsFunc(sizes, func(n int) bool { return n < 1 || n > 1<<31-1 }) {
		fail("a size is 1 at least.")
	}
}

// plainNames tells whether all can be names of files.
func plainNames(names []string) bool {
	return !slices.ContainsFunc(names, func(s string) bool {
		return s == "" || len(s) > 100 || s[0] == '.' || strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") != ""
	})
}

// Plan plans the editing, one action for all graphs of a folder.
func (o ONNXEdit) Plan(p *step.Plan) {
	tolerance := 0.0
	if o.Tolerance != nil {
		tolerance = *o.Tolerance
	}
	for i, e := range o.Edits {
		e.check(i == len(o.Edits)-1, func(format string, args ...any) {
			p.Fail("edit", "An edit that cannot be", "edit %d: "+format, append([]any{i + 1}, args...)...)
		})
		if o.Tolerance == nil && slices.Contains([]string{"precision", "insert_qdq", "remove_qdq"}, e.Kind) {
			p.Fail("edit", "How much may differ?", "edit %d, %s, changes numbers: say how much an output may differ by, as a part of its largest value, such as tolerance = 0.01. With 0 it may not.", i+1, e.Kind)
		}
	}
	args := map[string]any{"model": o.Model.InRoot(), "graphs": append([]string{}, o.Graphs...), "edits": o.Edits, "samples": o.Samples.InRoot(),
		"random": o.Random, "seed": o.Seed, "tolerance": tolerance, "out": "dir", "facts": "facts.json"}
	a := computes(p, program(p, "edit", args, false, "onnx_edit")).In(o.Model.Input(), o.Samples.Input())
	p.Tree("dir", a.OutTree("dir"))
	p.Output("graphs", action.Value, a.Out("facts.json"))
}
