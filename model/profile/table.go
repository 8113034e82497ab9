package profile

import (
	"fmt"
	"slices"
	"strconv"
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
	Unit  string `json:"unit,omitempty"`
}

type row struct {
	Name  string `json:"name"`
	Label string `json:"label"`
	Value any    `json:"value"`
	Unit  string `json:"unit,omitempty"`
}

// show makes the table: the nodes that take most, the operations, what was said of the whole, what was sampled beside.
func (p Profile) show(title string, top int, sampled map[string]float64) table {
	t := table{Title: title, Note: p.Note, Rows: []row{}}
	if len(p.Nodes) > 0 {
		cycles := "cycles"
		if p.Emulator {
			cycles = "emulator's cycles"
		}
		known := func(n Node) bool { return n.Op != "" || len(n.ONNX) > 0 }
		of := slices.ContainsFunc(p.Nodes, known) // whether there is something to say of what nodes are
		t.Columns = []column{{"node", "node", ""}}
		if of {
			t.Columns = append(t.Columns, column{"op", "op", ""}, column{"onnx", "of ONNX nodes", ""})
		}
		t.Columns = append(t.Columns, column{"cycles", cycles, ""}, column{"share", "share", "%"})
		for _, n := range p.Nodes[:min(top, len(p.Nodes))] {
			line := []string{n.Name}
			if of {
				line = append(line, n.Op, strconv.Itoa(len(n.ONNX)))
			}
			t.Lines = append(t.Lines, append(line, strconv.FormatFloat(n.Cycles, 'f', -1, 64), percent(n.Share)))
		}
	}
	add := func(name, label string, value any, unit string) {
		t.Rows = append(t.Rows, row{name, label, value, unit})
	}
	if more := len(p.Nodes) - top; more > 0 {
		rest := 0.0
		for _, n := range p.Nodes[top:] {
			rest += n.Share
		}
		add("others", fmt.Sprintf("the other %d nodes", more), percent(rest), "%")
	}
	if len(p.Nodes) > top { // of few nodes one sees it
		for _, o := range p.Ops {
			if o.Share < leastShare {
				break
			}
			add("op_"+o.Op, fmt.Sprintf("all of %s (%d)", o.Op, o.Nodes), percent(o.Share), "%")
		}
	}
	silent := len(p.Silent)
	for _, n := range p.Nodes {
		if n.Cycles == 0 {
			silent++
		}
	}
	if silent > 0 {
		add("silent", "nodes without cycles of their own", silent, "")
	}
	add("runs", "runs", p.Runs, "")
	for _, x := range p.Totals {
		add(key(x.Name), x.Name, x.Value, x.Unit)
	}
	if p.Cycles > 0 {
		add("assigned", "part of the cycles that nodes have", percent(p.Assigned), "%")
	}
	for _, s := range samples() {
		if v, ok := sampled[s.name]; ok {
			add(s.name, s.label, v, s.unit)
		}
	}
	return t
}

// leastShare is that of operations that the table leaves out.
const leastShare = 0.001

func percent(share float64) string { return strconv.FormatFloat(100*share, 'f', 1, 64) }

// key is a name for programs: "QNN (execute) time" is "qnn_execute_time".
func key(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }), "_")
}

// sample is a number that a phone was asked for while it ran, as runner/sample names it.
type sample struct{ name, label, unit string }

func samples() []sample {
	return []sample{{"mean_gpu_busy", "GPU busy", "percent"}, {"mean_cpu", "CPU busy", "cores"}, {"peak_rss", "peak RSS", "MB"}, {"peak_dmabuf", "peak DMA buffers", "MB"},
		{"mem_available_drop", "drop of available memory", "MB"}}
}

// idleGPU is how busy a GPU is, in percent, that draws nothing but the phone's screen now and then.
const idleGPU = 10

// proof says what GPU and processors tell of where the graph ran, since an NPU's own counters are shut to who is not root; "" where the GPU was not sampled.
func proof(sampled map[string]float64) string {
	gpu, ok := sampled["mean_gpu_busy"]
	if !ok {
		return ""
	}
	if gpu >= idleGPU {
		return fmt.Sprintf("GPU busy %.0f %%: the GPU worked too, for this or for the screen.", gpu)
	}
	says := fmt.Sprintf("GPU busy %.0f %%: the NPU or the CPU worked.", gpu)
	if cpu, ok := sampled["mean_cpu"]; ok {
		says += fmt.Sprintf(" Of the CPU %.2f cores were busy.", cpu)
	}
	return says
}
