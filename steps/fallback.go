package steps

import (
	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/model/placement"
	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/facts"
)

// Fallback are the arguments of kind fallback.
type Fallback struct {
	Compiled step.Path `arg:"compiled,required"`
	Top      int       `arg:"top" default:"20" range:"1..100000"`
	Title    string    `arg:"title"`
}

func fallbackSchema() step.Schema {
	return step.Schema{
		Summary: "Says of a compiled graph which nodes stay on the CPU and why, in how many partitions the NPU runs the rest, what crosses between the two, and what to change.",
		ArgDocs: map[string]string{
			"compiled": "What `htp_context` made with `fallback = true`; or a .pte of ExecuTorch. A .pte does not say why.",
			"top":      "Nodes that the table shows.",
			"title":    "What stands over the table.",
		},
		Outputs: []step.OutputSpec{
			{Name: "table", Class: action.File, Doc: "The table (JSON)."},
			{Name: "nodes", Class: action.File, Doc: "All of it, with every node on the CPU (JSON)."},
			{Name: "rows", Class: action.Value, Doc: "The same, for checks: { npu_nodes, cpu_nodes, partitions, crossings, to_npu_bytes, to_cpu_bytes, between_bytes, nodes = [{ graph, name, op, takes, rank, why }], instead, no_remedy_known, … }."},
		},
		Example: `step "fallback" "lpbq" { compiled = step.htp_context.lpbq.outputs.dir }`,
	}
}

// Plan plans the reading. known has the facts about operations that stay on the CPU, and about types, nil where there are none.
func (f Fallback) Plan(p *step.Plan, known *qnn.Facts) {
	s := placement.Spec{Title: f.Title, Compiled: f.Compiled.InRoot(), Top: f.Top, Table: "table.json", Out: "nodes.json"}
	if s.Title == "" {
		s.Title = p.At.Name
	}
	if known != nil {
		s.UnsupportedOps = known.UnsupportedOps
		if t := facts.TargetOf(p.Target); t != nil {
			s.Arch, s.Precisions = t.Arch, known.Precisions
		}
	}
	a := step.Tool(p, "", "say what stays on the CPU", placement.Tool, s).In(f.Compiled.Input())
	p.File("table", a.Out(s.Table))
	p.File("nodes", a.Out(s.Out))
	p.Output("rows", action.Value, a.Out(s.Out))
}
