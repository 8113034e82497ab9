package placement_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/internal/tool/tooltest"
	"github.com/hexmage/hexmage/model/placement"
	"github.com/hexmage/hexmage/qnn"
)

// row is a tensor of 1 × 8 × 64.
func row(kind string) placement.Tensor { return placement.Tensor{Type: kind, Shape: []int64{1, 8, 64}} }

// between is a graph with a node on the CPU between two parts, which also reads what the application gives, and one behind them.
func between() placement.Graph {
	return placement.Graph{
		Name: "net", Inputs: []string{"x"}, Outputs: []string{"y", "kept"},
		Tensors: map[string]placement.Tensor{"x": row("float32"), "kept": row("uint16"), "bent": row("float16"), "one": {Type: "float32", Shape: []int64{}, Constant: true},
			"z": row("uint8"), "y": {Type: "float32", Shape: []int64{1, -1, 64}}},
		Parts: []placement.Part{{Nodes: 2, Inputs: []string{"x"}, Outputs: []string{"kept"}}, {Nodes: 3, Inputs: []string{"bent", "kept", "one"}, Outputs: []string{"z"}}},
		CPU: []placement.Node{{Name: "bend", Op: "Cosh", Inputs: []string{"kept", "x", "one"}, Outputs: []string{"bent"}, Why: "no  such\nop"},
			{Name: "end", Op: "Sinh", Inputs: []string{"z"}, Outputs: []string{"y"}}},
	}
}

// known has a replacement for Cosh, and types that v79 supports for Sinh.
func known() *qnn.Facts {
	return &qnn.Facts{
		UnsupportedOps: []*qnn.UnsupportedOp{{Op: "Cosh", Format: "aten", Change: "nothing"}, {Op: "Cosh", Format: "onnx", Change: "Exp", Confidence: "observed", Source: "tried"}},
		Precisions:     []*qnn.Precision{{Name: "bent", Ops: []string{"Sinh"}, Takes: map[string][]string{"v79": {"a16"}}, Confidence: "observed", Source: "tried"}},
	}
}

func TestOf(t *testing.T) {
	t.Parallel()
	got := placement.Of([]placement.Graph{between()}, known(), "v79")
	const elements = 8 * 64
	want := placement.Report{
		NPUNodes: 5, CPUNodes: 2, Partitions: 2, Crossings: 3, ToNPU: 2 * elements, ToCPU: 2*elements + elements, Between: 2 * elements,
		Nodes: []placement.CPUNode{{Graph: "net", Name: "bend", Op: "Cosh", Takes: []string{"uint16 [1×8×64]", "float32 [1×8×64]"}, Rank: 3, Why: "no such op"},
			{Graph: "net", Name: "end", Op: "Sinh", Takes: []string{"uint8 [1×8×64]"}, Rank: 3}},
		Replacements: known().UnsupportedOps[1:], SupportedTypes: known().Precisions, UnknownReplacement: []string{},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	g := between()
	g.Tensors["bent"] = placement.Tensor{Type: "float16", Shape: []int64{math.MaxInt64, 3}}
	g.Tensors["kept"] = placement.Tensor{Type: "float128", Shape: []int64{1}}
	if got := placement.Of([]placement.Graph{g}, &qnn.Facts{}, "v79"); got.UnknownSize != 3 || got.ToNPU != 0 || !slices.Equal(got.UnknownReplacement, []string{"Cosh", "Sinh"}) {
		t.Errorf("%+v", got)
	}
}

// TestTool: the table, and the document beside it.
func TestTool(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	g := between()
	g.CPU[0].Why, g.CPU[0].Name = strings.Repeat("because ", 40), "be\x1b[31mnd"
	document, err := json.Marshal([]placement.Graph{g, g})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "placed.json"), document, 0o644); err != nil {
		t.Fatal(err)
	}
	s := placement.Spec{Title: "net", Dir: dir, UnsupportedOps: known().UnsupportedOps, Arch: "v79", Table: filepath.Join(dir, "table.json"), Out: filepath.Join(dir, "nodes.json")}
	if _, said, code := tooltest.Run(t, placement.Tool, placement.Run, s); code != 0 {
		t.Fatalf("%d: %s", code, said)
	}
	for name, wants := range map[string][]string{
		"table.json": {`"be\u001b[31mnd"`, "bec…", "Replace Cosh by Exp (observed: tried).", "No replacement is known for Sinh.", `"value": 4`},
		"nodes.json": {`"partitions": 4`, `"cpu_nodes": 4`, strings.TrimSpace(strings.Repeat("because ", 40))},
	} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(string(b), want) {
				t.Errorf("%s has no %q: %s", name, want, b)
			}
		}
	}
}

// TestReplacements: a fact about the operation precedes one about any, a higher rank a lower one, and one about another format does not apply.
func TestReplacements(t *testing.T) {
	t.Parallel()
	of := func(op, format string, rank int) *qnn.UnsupportedOp {
		return &qnn.UnsupportedOp{Op: op, Format: format, Rank: rank, Change: "x"}
	}
	all := &qnn.Facts{UnsupportedOps: []*qnn.UnsupportedOp{of("*", "onnx", 6), of("Own", "onnx", 0), of("Own", "onnx", 5), of("aten::add", "aten", 0)}}
	for _, c := range []struct {
		op   string
		rank int
		want []int
	}{{"Own", 6, []int{2}}, {"Own", 4, []int{1}}, {"Other", 7, []int{0}}, {"Other", 5, nil}, {"aten::add", 0, nil}} {
		g := placement.Graph{Tensors: map[string]placement.Tensor{"x": {Type: "int8", Shape: make([]int64, c.rank)}}, CPU: []placement.Node{{Op: c.op, Inputs: []string{"x"}}}}
		var want []*qnn.UnsupportedOp
		for _, i := range c.want {
			want = append(want, all.UnsupportedOps[i])
		}
		got := placement.Of([]placement.Graph{g, g}, all, "")
		if !slices.Equal(want, got.Replacements) || (want == nil) != (len(got.UnknownReplacement) == 1) {
			t.Errorf("%+v: %+v, %q", c, got.Replacements, got.UnknownReplacement)
		}
	}
}

func FuzzOf(f *testing.F) {
	document, err := json.Marshal([]placement.Graph{between()})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(document)
	f.Fuzz(func(t *testing.T, b []byte) {
		var graphs []placement.Graph
		if err := json.Unmarshal(b, &graphs); err == nil {
			p := placement.Of(graphs, known(), "v79")
			if p.ToNPU < 0 || p.ToCPU < 0 || p.Between < 0 {
				t.Errorf("%+v", p)
			}
		}
	})
}
