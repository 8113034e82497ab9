package profile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/report"
	"github.com/hexmage/hexmage/internal/tool"
)

// Tool is this tool's name and version. Raise the version whenever the output changes.
const Tool tool.Name[Spec] = "npu-profile/3"

// maxTrace bounds a trace, in bytes.
const maxTrace = 512 << 20

// Spec holds the arguments of the tool.
type Spec struct {
	Title    string `json:"title"`              // title of the table
	Profile  string `json:"profile"`            // GRAPH.csv
	Graphs   string `json:"graphs,omitempty"`   // folder with GRAPH.trace.json, which lists the ONNX nodes of each node
	Emulator bool   `json:"emulator,omitempty"` // whether Qualcomm's emulator ran the graph
	Top      int    `json:"top"`                // number of nodes in the table
	Table    string `json:"table"`              // output file for the table
	Out      string `json:"out"`                // output file for the Profile
}

// Run writes the profile and a table of nodes.
func Run(_ context.Context, s Spec, _ tool.Env) error {
	name := filepath.Base(s.Profile)
	var made map[string]Node
	if s.Graphs != "" {
		trace := filepath.Join(s.Graphs, strings.TrimSuffix(name, ".csv")+".trace.json")
		raw, err := boundedfile.Read(trace, maxTrace)
		if err != nil {
			return err
		}
		if made, err = ParseTrace(raw); err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(trace), err)
		}
	}
	f, err := os.Open(s.Profile)
	if err != nil {
		return err
	}
	defer f.Close()
	p, err := Parse(f, made)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if s.Emulator {
		p.Emulator, p.Note = true, Emulated
	}
	if err := tool.WriteJSON(s.Out, p); err != nil {
		return err
	}
	return tool.WriteJSON(s.Table, p.table(s.Title, s.Top))
}

// ParseTrace reads the qnn_op_trace.json of ONNX Runtime's QNN provider. It returns the compiled graph's nodes by name.
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
		return nil, errors.New("no graphs")
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

// table shows the nodes with most cycles, then the totals.
func (p Profile) table(title string, top int) report.Table {
	t := report.Table{Title: title, Note: p.Note}
	rest := 0.0
	for i, n := range p.Nodes {
		if i < top {
			t.Lines = append(t.Lines, []string{n.Name, n.Op, strconv.Itoa(len(n.ONNX)), strconv.FormatFloat(n.Cycles, 'f', -1, 64), percent(n.Share)})
		} else {
			rest += n.Share
		}
	}
	if len(t.Lines) > 0 {
		cycles := "cycles"
		if p.Emulator {
			cycles = "emulator's cycles"
		}
		t.Columns = []report.Column{{Name: "node"}, {Name: "op"}, {Name: "onnx", Label: "ONNX nodes"},
			{Name: "cycles", Label: cycles}, {Name: "share", Unit: "%"}}
	}
	if more := len(p.Nodes) - top; more > 0 {
		t.Add("others", fmt.Sprintf("%d other nodes", more), percent(rest), "%")
	}
	t.Add("runs", "runs", p.Runs, "")
	for _, x := range p.Totals {
		t.Add(key(x.Name), x.Name, x.Value, x.Unit)
	}
	return t
}

func percent(share float64) string { return strconv.FormatFloat(100*share, 'f', 1, 64) }

// key is a name for programs: "QNN (execute) time" is "qnn_execute_time".
func key(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }), "_")
}
