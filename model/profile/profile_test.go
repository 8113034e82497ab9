package profile_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/tool/tooltest"
	"github.com/hexmage/hexmage/model/profile"
)

// The profiles in testdata are of Qualcomm's emulator 2.51.0, of eight runs of modules/onnx-htp/example.py, quantized, and the trace is its compiler's.
func real(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func of(t *testing.T, csv []byte, made map[string]profile.Node) profile.Profile {
	t.Helper()
	p, err := profile.Parse(bytes.NewReader(csv), made)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestReal: a profile of Qualcomm's emulator is read whole, with each node of the compiler's graph.
func TestReal(t *testing.T) {
	t.Parallel()
	made, err := profile.ParseTrace(real(t, "net.trace.json"))
	if err != nil || len(made) != 7 || made["conv_token_1"].Op != "Conv2d" || !slices.Contains(made["conv_token_1"].ONNX, "kept_QuantizeLinear") {
		t.Fatalf("%v, %v", made, err)
	}
	for _, level := range []string{"detailed.csv", "optrace.csv"} {
		p := of(t, real(t, level), made)
		if p.Runs != 8 || len(p.Nodes) != 9 {
			t.Errorf("%s: %+v", level, p)
		}
		var names []string
		share := 0.0
		for i, n := range p.Nodes {
			names = append(names, n.Name)
			share += n.Share
			if i > 0 && n.Cycles > p.Nodes[i-1].Cycles {
				t.Errorf("%s: %+v", level, n)
			}
		}
		if names[0] != "head" || p.Nodes[0].Op != "FullyConnected" || math.Abs(share-1) > 1e-9 {
			t.Errorf("%s: shares add up to %v, %q", level, share, names)
		}
		slices.Sort(names)
		if got := strings.Join(names, " "); got != "Input Output Transpose_token_4 Transpose_token_6 conv_token_1 head image_QuantizeLinear reshape scores_DequantizeLinear" {
			t.Errorf("%s: %s", level, got)
		}
	}
	p := of(t, real(t, "basic.csv"), made)
	if p.Runs != 8 || len(p.Nodes) != 0 || p.Cycles != 0 || len(p.Totals) != 5 || p.Totals[1].Name != "QNN (load binary) time" {
		t.Errorf("basic: %+v", p)
	}
}

// viewers is a profile as qnn-profile-viewer writes it, by what its users have published: lines before the table, spaces in its head, EXECUTE for each event.
const viewers = `Input log: qnn-profiling-data_0.log
Backend version,v2.47.0.260601114230

Msg Timestamp, Message, Time, Unit of Measurement, Timing Source, Event Level, Event Identifier
1000,INIT,331158,US,NETRUN,ROOT,null
1001,EXECUTE,3301,US,NETRUN,ROOT,Graph 0: block
1001,EXECUTE,4,COUNT,BACKEND,ROOT,Number of HVX threads used
1001,EXECUTE,1851,US,BACKEND,ROOT,QNN accelerator (execute) time
1001,EXECUTE,100,CYCLES,BACKEND,ROOT,Accelerator (execute) time (cycles)
1001,EXECUTE,70,CYCLES,BACKEND,SUB-EVENT,/layer, 0/MatMul_3:OpId_120 (cycles)
1001,EXECUTE,20,CYCLES,BACKEND,SUB-EVENT,/layer, 0/MatMul_3:OpId_121 (cycles)
1001,EXECUTE,10,CYCLES,BACKEND,SUB-EVENT,OpId_25 (cycles)
1001,EXECUTE,3278,US,BACKEND,ROOT,QNN (execute) time
1002,EXECUTE,3001,US,NETRUN,ROOT,Graph 0: block
1002,EXECUTE,400,CYCLES,BACKEND,ROOT,Accelerator (execute) time (cycles)
1002,EXECUTE,300,CYCLES,BACKEND,SUB-EVENT,/layer, 0/MatMul_3:OpId_120 (cycles)
1002,EXECUTE,80,CYCLES,BACKEND,SUB-EVENT,/layer, 0/MatMul_3:OpId_121 (cycles)
1002,EXECUTE,20,CYCLES,BACKEND,SUB-EVENT,OpId_25 (cycles)
1003,EXECUTE,0,OBJECT,BACKEND,SUB-EVENT,opaque
1003,EXECUTE,550.1000,INF/SEC,NETRUN,ROOT,NetRun IPS
`

func TestViewers(t *testing.T) {
	t.Parallel()
	p := of(t, []byte(strings.ReplaceAll(viewers, "\n", "\r\n")), map[string]profile.Node{"/layer, 0/MatMul_3": {Op: "MatMul"}})
	if p.Runs != 2 || p.Cycles != 100 || len(p.Nodes) != 3 {
		t.Fatalf("%+v", p)
	}
	if n := p.Nodes[0]; n.Name != "/layer, 0/MatMul_3" || n.Cycles != 70 || n.Op != "MatMul" {
		t.Errorf("%+v", n)
	}
	if n := p.Nodes[2]; n.Name != "OpId_25" || n.Cycles != 10 || n.Share != 0.1 {
		t.Errorf("%+v", n)
	}
}

// TestONNXColumn: a column more, which the provider writes where it finds a trace, is no part of names.
func TestONNXColumn(t *testing.T) {
	t.Parallel()
	csv := "Msg Timestamp,Message,Time,Unit of Measurement,Timing Source,Event Level,Event Identifier,ONNX Source Ops\n" +
		"0,BACKEND,5,CYCLES,BACKEND,ROOT,Accelerator (execute) time (cycles),\n0,NODE,5,CYCLES,BACKEND,SUB-EVENT,a,b:OpId_1 (cycles),x;y\n"
	if p := of(t, []byte(csv), nil); len(p.Nodes) != 1 || p.Nodes[0].Name != "a,b" || p.Totals[0].Name != "Accelerator (execute) time (cycles)" {
		t.Errorf("%+v", p)
	}
}

func TestHostile(t *testing.T) {
	t.Parallel()
	const head = "Msg Timestamp,Message,Time,Unit of Measurement,Timing Source,Event Level,Event Identifier\n"
	for csv, want := range map[string]string{
		"":                                      `no line "Msg Timestamp`,
		"QNN\x00\x01log":                        "qnn-profile-viewer --input_log",
		strings.Repeat("x\n", 1000):             "no line",
		head:                                    "the graph did not run",
		head + "0,NODE,5\n":                     "line 2: found 3 columns, expected 7: the file may be truncated",
		head + "0,NODE,5,CYCLES,B,SOME,x\n":     `event level "SOME" is not ROOT`,
		head + "0,NODE,five,CYCLES,B,ROOT,x\n":  `value "five" of event "x" is not a number`,
		head + "\n0,NODE,-1,CYCLES,B,ROOT,x\n":  "line 3: value",
		head + "0,NODE,NaN,CYCLES,B,ROOT,x\n":   "not a number",
		head + "0,NODE,1e999,CYCLES,B,ROOT,x\n": "not a number",
		head + strings.Repeat("x", 70_000):      "a line has more than 65536 bytes",
	} {
		if _, err := profile.Parse(strings.NewReader(csv), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %s", csv, err, want)
		}
	}
	for raw, want := range map[string]string{"": "unexpected end", "{}": "no graphs", `{"subgraph_traces": [{"op_mappings": [{"dst_name": 1}]}]}`: "dst_name"} {
		if _, err := profile.ParseTrace([]byte(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", raw, err, want)
		}
	}
}

// TestTool: the table has the nodes with most cycles, and says whose cycles they are.
func TestTool(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, from := range map[string]string{"profile/net.csv": "detailed.csv", "graphs/net.trace.json": "net.trace.json"} {
		if err := os.MkdirAll(filepath.Dir(at(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(name), real(t, from), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run := func(change func(*profile.Spec)) (table, nodes, said string) {
		t.Helper()
		s := profile.Spec{Title: "net", Profile: at("profile/net.csv"), Graphs: at("graphs"), Top: 2, Table: at("table.json"), Out: at("nodes.json")}
		change(&s)
		_, said, code := tooltest.Run(t, profile.Tool, profile.Run, s)
		if (code == 0) != (said == "") {
			t.Errorf("exit code %d: %s", code, said)
		}
		var out [2]string
		for i, name := range []string{s.Table, s.Out} {
			if b, err := os.ReadFile(name); err == nil && code == 0 {
				out[i] = string(b)
			}
		}
		return out[0], out[1], said
	}
	has := func(what, text string, parts ...string) {
		t.Helper()
		for _, p := range parts {
			if !strings.Contains(text, p) {
				t.Errorf("%s: no %s in\n%s", what, p, text)
			}
		}
	}

	table, nodes, said := run(func(s *profile.Spec) { s.Emulator = true })
	if said != "" {
		t.Fatal(said)
	}
	has("table", table, `"emulator's cycles"`, "not of a device", `"head"`, "7 other nodes", "QNN (load binary) time")
	has("nodes", nodes, "not of a device", `"emulator": true`, `"runs": 8`)
	var shown struct{ Lines [][]string }
	var all profile.Profile
	if err := json.Unmarshal([]byte(table), &shown); err != nil || len(shown.Lines) != 2 || shown.Lines[0][0] != "head" {
		t.Errorf("%v, %v", shown, err)
	}
	if err := json.Unmarshal([]byte(nodes), &all); err != nil || len(all.Nodes) != 9 {
		t.Errorf("%+v, %v", all, err)
	}
	table, nodes, _ = run(func(s *profile.Spec) { s.Graphs = "" })
	has("phone", table, `"cycles"`)
	if strings.Contains(table+nodes, "emulator's") || strings.Contains(table, "not of a device") {
		t.Errorf("of a phone:\n%s", table)
	}
	if err := os.WriteFile(at("other.csv"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, _, said = run(func(s *profile.Spec) { s.Profile, s.Graphs = at("other.csv"), "" })
	has("empty", said, "other.csv: no line")
}

// Whatever a profile and a trace hold, they are read or refused, and what was read makes a table.
func FuzzProfile(f *testing.F) {
	f.Add(real(f, "detailed.csv"), real(f, "net.trace.json"))
	f.Add(real(f, "basic.csv"), []byte("{}"))
	f.Add([]byte(viewers), []byte(`{"subgraph_traces": [{}]}`))
	f.Fuzz(func(t *testing.T, csv, trace []byte) {
		made, err := profile.ParseTrace(trace)
		if err != nil {
			made = nil
		}
		p, err := profile.Parse(bytes.NewReader(csv), made)
		if err != nil {
			return
		}
		share := 0.0
		for _, n := range p.Nodes {
			share += n.Share
			if n.Name == "" || n.Cycles < 0 || n.Share < 0 || n.Share > 1 {
				t.Errorf("%+v", n)
			}
		}
		if share > 1.000001 {
			t.Errorf("shares add up to %v", share)
		}
		if _, err := json.Marshal(p); err != nil {
			t.Error(err)
		}
	})
}
