package profile

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/tool"
)

// Tool is the tool's name, and its behaviour version: raise it whenever an output changes.
const Tool tool.Name[Spec] = "npu-profile/1"

// maxFile bounds a profile and a trace, in bytes.
const maxFile = 512 << 20

// Spec says what to read.
type Spec struct {
	Title    string             `json:"title"`              // of the table
	Profile  string             `json:"profile"`            // GRAPH.csv, or a folder with one
	Graphs   string             `json:"graphs,omitempty"`   // a folder with GRAPH.trace.json: of which ONNX nodes the compiler made which of its own
	Emulator bool               `json:"emulator,omitempty"` // the vendor's emulator ran it
	Sampled  map[string]float64 `json:"sampled,omitempty"`  // what a phone was asked for meanwhile, by metric
	Top      int                `json:"top"`                // nodes that the table shows
	Table    string             `json:"table"`              // the file for the table
	Out      string             `json:"out"`                // the file for the Profile
}

// Run is the tool.
func Run(_ context.Context, s Spec, _ tool.Env) error {
	file, err := find(s.Profile)
	if err != nil {
		return err
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	events, err := Parse(f)
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(file), err)
	}
	var made map[string]Node
	if s.Graphs != "" {
		if made, err = traced(filepath.Join(s.Graphs, strings.TrimSuffix(filepath.Base(file), ".csv")+".trace.json")); err != nil {
			return err
		}
	}
	p, err := Of(events, made)
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(file), err)
	}
	if p.Note = proof(s.Sampled); s.Emulator {
		p.Emulator, p.Note = true, strings.TrimSpace(p.Note+" "+Emulated)
	}
	if err := write(s.Out, p); err != nil {
		return err
	}
	return write(s.Table, p.show(s.Title, s.Top, s.Sampled))
}

// find returns the CSV: the file itself, or the one in a folder.
func find(at string) (string, error) {
	st, err := os.Stat(at)
	if err != nil || !st.IsDir() {
		return at, err
	}
	names, err := filepath.Glob(filepath.Join(at, "*.csv"))
	if err != nil || len(names) == 1 {
		return strings.Join(names, ""), err
	}
	for i := range names {
		names[i] = filepath.Base(names[i])
	}
	if len(names) == 0 {
		return "", fmt.Errorf("%s has no *.csv: was it run with profiling?", filepath.Base(at))
	}
	return "", fmt.Errorf("%s has a profile of each of %d graphs: name one, such as profile/%s. There are %s", filepath.Base(at), len(names), names[0], strings.Join(names, ", "))
}

// traced reads of which nodes of an ONNX graph the compiler made which of its own, as ONNX Runtime's QNN provider writes it down.
func traced(file string) (map[string]Node, error) {
	raw, err := boundedfile.Read(file, maxFile)
	if err != nil {
		return nil, err
	}
	made, err := ParseTrace(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(file), err)
	}
	return made, nil
}

// ParseTrace reads a trace (qnn_op_trace.json of ONNX Runtime's QNN provider): the compiler's nodes by name.
func ParseTrace(raw []byte) (map[string]Node, error) {
	var t struct {
		Graphs []struct {
			Ops []struct {
				Name    string `json:"dst_name"`
				Op      string `json:"dst_qnn_op_type"`
				Sources []struct {
					Name string `json:"name"`
					Type string `json:"type"` // OP or TENSOR
				} `json:"sources"`
			} `json:"op_mappings"`
		} `json:"subgraph_traces"`
	}
	if err := json.Unmarshal(raw, &t); err != nil {
		return nil, err
	}
	if len(t.Graphs) == 0 {
		return nil, fmt.Errorf("there are no graphs in it")
	}
	made := map[string]Node{}
	for _, g := range t.Graphs {
		for _, o := range g.Ops {
			n := Node{Name: o.Name, Op: o.Op, ONNX: []string{}}
			for _, s := range o.Sources {
				if s.Type == "OP" {
					n.ONNX = append(n.ONNX, s.Name)
				}
			}
			made[o.Name] = n
		}
	}
	return made, nil
}

func write(file string, v any) error {
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(b, '\n'), 0o644)
}
