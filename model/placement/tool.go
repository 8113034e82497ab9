package placement

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/report"
	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/qnn"
)

// Tool is this tool's name and version. Raise the version whenever the output changes.
const Tool tool.Name[Spec] = "placement/2"

// Spec holds the arguments of the tool.
type Spec struct {
	Title          string               `json:"title"` // title of the table
	Dir            string               `json:"dir"`   // output of htp_context, with placed.json
	UnsupportedOps []*qnn.UnsupportedOp `json:"unsupported_ops,omitempty"`
	Arch           string               `json:"arch,omitempty"` // arch of the graphs, for example v79
	Precisions     []*qnn.Precision     `json:"precisions,omitempty"`
	Table          string               `json:"table"` // output file for the table
	Out            string               `json:"out"`   // output file for the Report
}

// Limits of input and output.
const (
	maxDocument = 256 << 20 // bytes
	maxLines    = 20
	maxWhy      = 100 // runes of a reason in the table
)

// Run writes the report on graphs.
func Run(_ context.Context, s Spec, _ tool.Env) error {
	raw, err := boundedfile.Read(filepath.Join(s.Dir, "placed.json"), maxDocument)
	if err != nil {
		return err
	}
	var graphs []Graph
	if err := json.Unmarshal(raw, &graphs); err != nil {
		return fmt.Errorf("placed.json: %w", err)
	}
	r := Of(graphs, &qnn.Facts{UnsupportedOps: s.UnsupportedOps, Precisions: s.Precisions}, s.Arch)
	if err := tool.WriteJSON(s.Out, r); err != nil {
		return err
	}
	return tool.WriteJSON(s.Table, r.table(s.Title, s.Arch))
}

// table returns a table of the nodes on the CPU and the numbers, with facts about the operations.
func (r Report) table(title, arch string) report.Table {
	t := report.Table{Title: title, Note: r.advice(arch)}
	for _, n := range r.Nodes[:min(maxLines, len(r.Nodes))] {
		why := n.Why
		if r := []rune(why); len(r) > maxWhy {
			why = string(r[:maxWhy-1]) + "…"
		}
		t.Lines = append(t.Lines, []string{n.Graph, n.Name, n.Op, strings.Join(n.Takes, ", "), why})
	}
	if len(t.Lines) > 0 {
		t.Columns = []report.Column{{Name: "graph"}, {Name: "node", Label: "node on the CPU"}, {Name: "op"}, {Name: "takes"}, {Name: "why"}}
	}
	t.Add("npu_nodes", "nodes on the NPU", r.NPUNodes, "")
	t.Add("cpu_nodes", "nodes on the CPU", r.CPUNodes, "")
	t.Add("partitions", "partitions on the NPU", r.Partitions, "")
	t.Add("to_npu_bytes", "from the CPU to the NPU", r.ToNPU, "bytes")
	t.Add("to_cpu_bytes", "from the NPU to the CPU", r.ToCPU, "bytes")
	t.Add("between_bytes", "from partition to partition", r.Between, "bytes")
	if r.UnknownSize > 0 {
		t.Add("unknown_size", "crossing tensors of unknown size", r.UnknownSize, "")
	}
	return t
}

// advice returns a line for each operation.
func (r Report) advice(arch string) string {
	var lines []string
	for _, f := range r.Replacements {
		op := f.Op
		if f.Rank > 0 {
			op = fmt.Sprintf("tensors of %d dimensions or more", f.Rank)
		}
		lines = append(lines, fmt.Sprintf("Replace %s by %s (%s: %s).", op, f.Change, f.Confidence, f.Source))
	}
	for _, p := range r.SupportedTypes {
		lines = append(lines, fmt.Sprintf("%s runs %s as %s (%s: %s).", arch, p.Ops[0], strings.Join(p.Takes[arch], ", "), p.Confidence, p.Source))
	}
	if len(r.UnknownReplacement) > 0 {
		lines = append(lines, fmt.Sprintf("No replacement is known for %s.", strings.Join(r.UnknownReplacement, ", ")))
	}
	return strings.Join(lines, "\n")
}
