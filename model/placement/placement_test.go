package placement_test

import (
	"bytes"
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
	"github.com/hexmage/hexmage/model/pte"
	"github.com/hexmage/hexmage/model/pte/ptetest"
	"github.com/hexmage/hexmage/qnn"
)

// row is a tensor of 1 × 8 × 64.
func row(kind string) placement.Tensor { return placement.Tensor{Type: kind, Shape: []int64{1, 8, 64}} }

// between is a graph with a node on the CPU between two parts, which also reads what the application gives, and one behind them.
func between() placement.Graph {
	return placement.Graph{
		Name: "net", Format: "onnx", Inputs: []string{"x"}, Outputs: []string{"y", "kept"},
		Tensors: map[string]placement.Tensor{"x": row("float32"), "kept": row("uint16"), "bent": row("float16"), "one": {Type: "float32", Shape: []int64{}, Constant: true},
			"z": row("uint8"), "y": {Type: "float32", Shape: []int64{1, -1, 64}}},
		Parts: []placement.Part{{Nodes: 2, Inputs: []string{"x"}, Outputs: []string{"kept"}}, {Nodes: 3, Inputs: []string{"bent", "kept", "one"}, Outputs: []string{"z"}}},
		CPU: []placement.Node{{Name: "bend", Op: "Cosh", Inputs: []string{"kept", "x", "one"}, Outputs: []string{"bent"}, Why: "no  such\nop"},
			{Name: "end", Op: "Sinh", Inputs: []string{"z"}, Outputs: []string{"y"}}},
	}
}

// known says what to put in place of Cosh, and that v79 has Sinh in another type.
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
	want := placement.Placed{
		NPUNodes: 5, CPUNodes: 2, Partitions: 2, Crossings: 3, ToNPU: 2 * elements, ToCPU: 2*elements + elements, Between: 2 * elements, In: 4 * elements, Out: 2 * elements,
		Nodes: []placement.Stays{{Graph: "net", Name: "bend", Op: "Cosh", Takes: []string{"uint16 [1×8×64]", "float32 [1×8×64]"}, Rank: 3, Why: "no such op"},
			{Graph: "net", Name: "end", Op: "Sinh", Takes: []string{"uint8 [1×8×64]"}, Rank: 3}},
		Instead: known().UnsupportedOps[1:], Taken: []placement.Taken{{Op: "Sinh", Types: []string{"a16"}, Confidence: "observed", Source: "tried"}}, Unknown: []string{},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	g := between()
	g.Tensors["bent"] = placement.Tensor{Type: "float16", Shape: []int64{math.MaxInt64, 3}}
	g.Tensors["kept"] = placement.Tensor{Type: "float128", Shape: []int64{1}}
	if got := placement.Of([]placement.Graph{g}, &qnn.Facts{}, "v79"); got.Open != 4 || got.ToNPU != 0 || !slices.Equal(got.Unknown, []string{"Cosh", "Sinh"}) {
		t.Errorf("%+v", got)
	}
}

// TestRead: what htp_context and ExecuTorch leave.
func TestRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	document, err := json.Marshal([]placement.Graph{between()})
	if err != nil {
		t.Fatal(err)
	}
	at("onnx/placed.json", document)
	long := strings.Repeat("1,", 64) + "1"
	const row = 8 * 64
	for name, want := range map[string]placement.Placed{
		at("net.pte", ptetest.Make(ptetest.Fallback(), nil)): {CPUNodes: 1, Partitions: 2, Crossings: 2, ToNPU: 2 * row, ToCPU: 2 * row, In: 4 * row, Out: 4 * row, Nodes: []placement.Stays{{Graph: "forward", Name: "call 1", Op: "aten::erfinv.out", Takes: []string{"float16 [1×8×64]"}, Rank: 3}}},
		"onnx": placement.Of([]placement.Graph{between()}, &qnn.Facts{}, ""),
	} {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		graphs, err := placement.Read(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := placement.Of(graphs, &qnn.Facts{}, "")
		got.Instead, got.Taken, got.Unknown, want.Instead, want.Taken, want.Unknown = nil, nil, nil, nil, nil, nil
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	for name, want := range map[string]string{
		at("empty/x", nil):                                  "give what htp_context made",
		filepath.Dir(at("none/x", nil)):                     "it has no placed.json",
		filepath.Dir(at("none2/placed.json", []byte("[]"))): "there is no graph in it",
		filepath.Dir(at("no/placed.json", []byte("{"))):     "unexpected end",
		filepath.Dir(at("rank/placed.json", []byte(`[{"tensors": {"x": {"type": "int8", "shape": [`+long+`]}}}]`))): "65 dimensions",
		filepath.Join(dir, "nowhere"): "no such file",
	} {
		if _, err := placement.Read(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
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
	s := placement.Spec{Title: "net", Compiled: dir, UnsupportedOps: known().UnsupportedOps, Arch: "v79", Top: 1, Table: filepath.Join(dir, "table.json"), Out: filepath.Join(dir, "nodes.json")}
	if _, said, code := tooltest.Run(t, placement.Tool, placement.Run, s); code != 0 {
		t.Fatalf("%d: %s", code, said)
	}
	for name, wants := range map[string][]string{
		"table.json": {`"net: be_[31mnd"`, "bec…", `"other nodes on the CPU"`, "In place of Cosh: Exp (observed: tried).", "No fact says what to put in place of Sinh.", `"value": 4`},
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

// TestChange: what is said of an operation itself comes before what is said of any, of more dimensions before of fewer; ATen's need no overload.
func TestChange(t *testing.T) {
	t.Parallel()
	of := func(op, format string, rank int) *qnn.UnsupportedOp {
		return &qnn.UnsupportedOp{Op: op, Format: format, Rank: rank, Change: "x"}
	}
	all := &qnn.Facts{UnsupportedOps: []*qnn.UnsupportedOp{of("*", "onnx", 6), of("Own", "onnx", 0), of("Own", "onnx", 5), of("aten::erfinv", "aten", 0), of("aten::add.out", "aten", 0), of("aten::add", "aten", 0)}}
	for _, c := range []struct {
		op, format string
		rank       int
		want       []int
	}{{"Own", "onnx", 6, []int{2}}, {"Own", "onnx", 4, []int{1}}, {"Other", "onnx", 7, []int{0}}, {"Other", "onnx", 5, nil}, {"Own.x", "onnx", 1, nil}, {"aten::erfinv.out", "aten", 0, []int{3}}, {"aten::add.out", "aten", 0, []int{4}}, {"aten::add", "onnx", 0, nil}} {
		g := placement.Graph{Format: c.format, Tensors: map[string]placement.Tensor{"x": {Type: "int8", Shape: make([]int64, c.rank)}}, CPU: []placement.Node{{Op: c.op, Inputs: []string{"x"}}}}
		var want []*qnn.UnsupportedOp
		for _, i := range c.want {
			want = append(want, all.UnsupportedOps[i])
		}
		got := placement.Of([]placement.Graph{g, g}, all, "")
		if !slices.Equal(want, got.Instead) || (want == nil) != (len(got.Unknown) == 1) {
			t.Errorf("%+v: %+v, %q", c, got.Instead, got.Unknown)
		}
	}
}

// TestLong: a name that is long once may stand a million times, and is cut; a reason is whole.
func TestLong(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 4000)
	p := placement.Of([]placement.Graph{{Name: long, CPU: []placement.Node{{Name: long, Op: long, Why: long}}}}, &qnn.Facts{}, "")
	for _, name := range []string{p.Nodes[0].Graph, p.Nodes[0].Name, p.Nodes[0].Op, p.Unknown[0]} {
		if name != strings.Repeat("é", 199)+"…" {
			t.Errorf("%d bytes", len(name))
		}
	}
	if p.Nodes[0].Why != long {
		t.Error("the reason is cut")
	}
}

// TestState: a tensor that is read and that nothing has written is a state and given; what a call names again at its end it writes, in place if it was written.
func TestState(t *testing.T) {
	t.Parallel()
	v := func(constant bool) pte.Value { return pte.Value{Type: "int8", Shape: []int64{4}, Constant: constant} }
	const x, state, weight, mid, y, pair = 0, 1, 2, 3, 4, 6
	m := pte.Method{Name: "forward", Inputs: []int{x}, Outputs: []int{y}, Delegates: []string{"QnnBackend"}, Operators: []pte.Operator{{Name: "aten::f"}},
		Values: []pte.Value{v(false), v(false), v(true), v(false), v(false), v(false), {List: []int{3, 5}}},
		Calls: []pte.Call{
			{Operator: 0, Delegate: -1, Args: []int{state, x, mid, mid}},   // an out variant: state is given
			{Operator: 0, Delegate: -1, Args: []int{state, weight, state}}, // in place
			{Operator: -1, Delegate: 0, Args: []int{state, mid, 5}},
			{Operator: 0, Delegate: -1, Args: []int{x, pair, pair}}, // in place, of a list
			{Operator: -1, Delegate: 0, Args: []int{mid, y}},
		}}
	graphs, err := placement.OfPTE(&pte.Program{Methods: []pte.Method{m}})
	if err != nil {
		t.Fatal(err)
	}
	value := func(list ...string) (of []string) {
		for _, n := range list {
			of = append(of, "value "+n)
		}
		return of
	}
	g := graphs[0]
	node := func(name string, in, out []string) placement.Node {
		return placement.Node{Name: name, Op: "aten::f", Inputs: in, Outputs: out}
	}
	if d := cmp.Diff([]placement.Node{node("call 0", value("1", "0"), value("3")), node("call 1", value("1", "2"), value("1")), node("call 3", value("0", "3", "5"), value("3", "5"))}, g.CPU); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]placement.Part{{Inputs: value("1", "3"), Outputs: value("5")}, {Inputs: value("3"), Outputs: value("4")}}, g.Parts); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(value("0", "1"), g.Inputs); d != "" {
		t.Error(d)
	}
	if p := placement.Of(graphs, &qnn.Facts{}, ""); p.ToNPU != 3*4 || p.ToCPU != 4 || p.Between != 0 {
		t.Errorf("%+v", p)
	}
}

// TestHostile: lists of a program that are one place of the file add up to any size, and are an error before they do.
func TestHostile(t *testing.T) {
	t.Parallel()
	const n = 1 << 14
	m := pte.Method{Operators: []pte.Operator{{Name: "f"}}, Values: []pte.Value{{Type: "int8"}, {List: make([]int, n)}}}
	same := make([]int, n)
	for i := range same {
		same[i] = 1
	}
	m.Calls = []pte.Call{{Delegate: -1, Args: same}} // a list named n times is expanded once
	if _, err := placement.OfPTE(&pte.Program{Methods: []pte.Method{m}}); err != nil {
		t.Error(err)
	}
	m.Calls = nil
	for range n {
		m.Calls = append(m.Calls, pte.Call{Delegate: -1, Args: []int{1}})
	}
	if _, err := placement.OfPTE(&pte.Program{Methods: []pte.Method{m}}); err == nil || !strings.Contains(err.Error(), "more than 1048576") {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	document, err := json.Marshal([]placement.Graph{between()})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(document)
	f.Fuzz(func(t *testing.T, b []byte) {
		if graphs, err := placement.Parse(b); err == nil {
			p := placement.Of(graphs, known(), "v79")
			if p.ToNPU < 0 || p.ToCPU < 0 || p.In < 0 || p.Out < 0 || p.Between < 0 {
				t.Errorf("%+v", p)
			}
		}
	})
}

func FuzzOfPTE(f *testing.F) {
	f.Add(ptetest.Make(ptetest.Fallback(), []byte("segment")))
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, err := pte.Parse(bytes.NewReader(b), int64(len(b))); err == nil {
			if graphs, err := placement.OfPTE(p); err == nil {
				placement.Of(graphs, known(), "v79")
			}
		}
	})
}
