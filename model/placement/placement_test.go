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
	"github.com/hexmage/hexmage/model/pte/ptetest"
	"github.com/hexmage/hexmage/model/tflite/tflitetest"
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

func remedies() []placement.Remedy {
	return []placement.Remedy{{Op: "Cosh", Format: "tflite", Change: "nothing"}, {Op: "Cosh", Format: "onnx", Change: "Exp", Sure: "observed", Source: "tried"}}
}

// takes says that the arch has Sinh in other types.
func takes() []placement.Taken {
	return []placement.Taken{{Op: "Sinh", Types: []string{"a16"}, Sure: "observed", Source: "tried"}}
}

func TestOf(t *testing.T) {
	t.Parallel()
	got := placement.Of([]placement.Graph{between()}, remedies(), takes())
	const elements = 8 * 64
	want := placement.Placed{
		NPUNodes: 5, CPUNodes: 2, Partitions: 2, Crossings: 3, ToNPU: 2 * elements, ToCPU: 2*elements + elements, Between: 2 * elements, In: 4 * elements, Out: 2 * elements,
		Nodes: []placement.Stays{{Graph: "net", Name: "bend", Op: "Cosh", Takes: []string{"uint16 [1×8×64]", "float32 [1×8×64]"}, Rank: 3, Why: "no such op"},
			{Graph: "net", Name: "end", Op: "Sinh", Takes: []string{"uint8 [1×8×64]"}, Rank: 3}},
		Instead: remedies()[1:], Taken: takes(), Unknown: []string{},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	g := between()
	g.Tensors["bent"] = placement.Tensor{Type: "float16", Shape: []int64{math.MaxInt64, 3}}
	g.Tensors["kept"] = placement.Tensor{Type: "float128", Shape: []int64{1}}
	if got := placement.Of([]placement.Graph{g}, nil, nil); got.Open != 4 || got.ToNPU != 0 || !slices.Equal(got.Unknown, []string{"Cosh", "Sinh"}) {
		t.Errorf("%+v", got)
	}
}

// TestRead: what LiteRT and ExecuTorch leave, and what of it tells why.
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
	compiled := tflitetest.Make(tflitetest.Compiled())
	at("litert/net.tflite", compiled)
	at("litert/refused.json", []byte(`[{"index": 3, "op": "Atan2", "why": "not supported"}, {"index": 4, "op": "Atan2", "why": "another"}]`))
	document, err := json.Marshal([]placement.Graph{between()})
	if err != nil {
		t.Fatal(err)
	}
	at("onnx/placed.json", document)
	const bytes = 8 * 64
	for name, want := range map[string]placement.Placed{
		"litert":                     {CPUNodes: 1, Partitions: 2, Crossings: 2, ToNPU: 4 * bytes, ToCPU: 4 * bytes, In: 4 * bytes, Out: bytes, Nodes: []placement.Stays{{Graph: "main", Name: "bent", Op: "ATAN2", Takes: []string{"float32 [1×8×64]"}, Rank: 3, Why: "not supported"}}},
		at("alone.tflite", compiled): {CPUNodes: 1, Partitions: 2, Crossings: 2, ToNPU: 4 * bytes, ToCPU: 4 * bytes, In: 4 * bytes, Out: bytes, Nodes: []placement.Stays{{Graph: "main", Name: "bent", Op: "ATAN2", Takes: []string{"float32 [1×8×64]"}, Rank: 3}}},
		at("net.pte", ptetest.Make(ptetest.Fallback(), nil)): {CPUNodes: 1, Partitions: 2, Crossings: 2, ToNPU: 2 * bytes, ToCPU: 2 * bytes, In: 4 * bytes, Out: 4 * bytes, Nodes: []placement.Stays{{Graph: "forward", Name: "call 1", Op: "aten::erfinv.out", Takes: []string{"float16 [1×8×64]"}, Rank: 3}}},
		"onnx": placement.Of([]placement.Graph{between()}, nil, nil),
	} {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		graphs, err := placement.Read(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := placement.Of(graphs, nil, nil)
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
		filepath.Join(dir, "nowhere"):                       "no such file",
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
	s := placement.Spec{Title: "net", Compiled: dir, Remedies: remedies(), Arch: "v79", Taken: takes()[:0], Top: 1, Table: filepath.Join(dir, "table.json"), Out: filepath.Join(dir, "nodes.json")}
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

func FuzzParse(f *testing.F) {
	document, err := json.Marshal([]placement.Graph{between()})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(document)
	f.Fuzz(func(t *testing.T, b []byte) {
		if graphs, err := placement.Parse(b); err == nil {
			p := placement.Of(graphs, remedies(), takes())
			if p.ToNPU < 0 || p.ToCPU < 0 || p.In < 0 || p.Out < 0 || p.Between < 0 {
				t.Errorf("%+v", p)
			}
		}
	})
}
