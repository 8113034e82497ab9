package placement

import (
	"fmt"
	"strings"
)

// table is what a report shows: report.Table.
type table struct {
	Title   string     `json:"title"`
	Note    string     `json:"note,omitempty"`
	Columns []column   `json:"columns,omitempty"`
	Lines   [][]string `json:"lines,omitempty"`
	Rows    []row      `json:"rows"`
}

type column struct {
	Name  string `json:"name"`
	Label string `json:"label"`
}

type row struct {
	Name  string `json:"name"`
	Label string `json:"label"`
	Value any    `json:"value"`
	Unit  string `json:"unit,omitempty"`
}

// maxWhy is what a line has of a compiler's reason, in letters; the document has all of it.
const maxWhy = 100

// show makes the table: the nodes that stay on the CPU, how many there are and what crosses, and what to change.
func (p Placed) show(title, arch string, top int, several bool) table {
	t := table{Title: title, Rows: []row{}}
	if len(p.Nodes) > 0 {
		t.Columns = []column{{"node", "on the CPU"}, {"op", "op"}, {"takes", "takes"}, {"why", "why"}}
	}
	for _, n := range p.Nodes[:min(top, len(p.Nodes))] {
		name := n.Name
		if several {
			name = n.Graph + ": " + name
		}
		t.Lines = append(t.Lines, []string{name, n.Op, strings.Join(n.Takes, ", "), cut(n.Why, maxWhy)})
	}
	add := func(name, label string, value any, unit string) {
		t.Rows = append(t.Rows, row{name, label, value, unit})
	}
	if more := len(p.Nodes) - top; more > 0 {
		add("more", "other nodes on the CPU", more, "")
	}
	if p.NPUNodes > 0 {
		add("npu_nodes", "nodes on the NPU", p.NPUNodes, "")
	}
	add("cpu_nodes", "nodes on the CPU", p.CPUNodes, "")
	add("partitions", "partitions on the NPU", p.Partitions, "")
	add("to_npu_bytes", "from the CPU to the NPU", p.ToNPU, "bytes")
	add("to_cpu_bytes", "from the NPU to the CPU", p.ToCPU, "bytes")
	if p.Between > 0 {
		add("between_bytes", "from partition to partition", p.Between, "bytes")
	}
	if p.Open > 0 {
		add("open_tensors", "tensors that cross, of unknown size", p.Open, "")
	}
	t.Note = p.changes(arch)
	return t
}

// changes says what to put in the place of operations, a line each.
func (p Placed) changes(arch string) string {
	var lines []string
	for _, r := range p.Instead {
		op := r.Op
		if r.Rank > 0 {
			op = fmt.Sprintf("tensors of %d dimensions or more", r.Rank)
		}
		lines = append(lines, fmt.Sprintf("In place of %s: %s (%s: %s).", op, r.Change, r.Confidence, r.Source))
	}
	for _, t := range p.Taken {
		lines = append(lines, fmt.Sprintf("%s takes %s as %s (%s: %s).", arch, t.Op, strings.Join(t.Types, ", "), t.Confidence, t.Source))
	}
	if len(p.Unknown) > 0 {
		lines = append(lines, fmt.Sprintf("No fact says what to put in place of %s.", strings.Join(p.Unknown, ", ")))
	}
	return strings.Join(lines, "\n")
}
