package steps

import (
	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/model/profile"
)

// NPUProfile are the arguments of kind npu_profile.
type NPUProfile struct {
	Profile  step.Path          `arg:"profile,required"`
	Graphs   step.Path          `arg:"graphs"`
	Emulator bool               `arg:"emulator"`
	Sampled  map[string]float64 `arg:"sampled"`
	Top      int                `arg:"top" default:"20" range:"1..100000"`
	Title    string             `arg:"title"`
}

func npuProfileSchema() step.Schema {
	return step.Schema{
		Summary: "Reads what the vendor's runtime has written of where a graph's time goes: of the whole, and a line for each node, those that take most first.",
		ArgDocs: map[string]string{
			"profile":  "The CSV, of `htp_emulate` with `profiling` or of qnn-profile-viewer, or a folder with one.",
			"graphs":   "What the compiler made of the graph, `graphs/` of `htp_context`: it has the nodes' operations, and those that the profile does not name.",
			"emulator": "Whether the profile is of the vendor's emulator. Whatever is made of it says then that its cycles are no performance.",
			"sampled":  "What was sampled beside, on a phone: mean_gpu_busy, mean_cpu, peak_rss, peak_dmabuf, mem_available_drop of a step run's `measured`; others are not looked at.",
			"top":      "Nodes that the table shows.",
			"title":    "What stands over the table.",
		},
		Outputs: []step.OutputSpec{
			{Name: "table", Class: action.File, Doc: "The table (JSON)."},
			{Name: "nodes", Class: action.File, Doc: "All that was read, with every node (JSON)."},
			{Name: "rows", Class: action.Value, Doc: "The same, for checks: { emulator, note, runs, cycles, assigned, totals, nodes = [{ name, op, onnx, cycles, share, … }], ops, silent }."},
		},
		Example: `step "npu_profile" "net" {
  profile  = step.htp_emulate.lpbq.outputs.profile
  graphs   = "${step.htp_context.lpbq.outputs.dir}/graphs"
  emulator = true
}`,
	}
}

// Plan plans the reading.
func (n NPUProfile) Plan(p *step.Plan) {
	s := profile.Spec{Profile: n.Profile.InRoot(), Emulator: n.Emulator, Sampled: n.Sampled, Top: n.Top, Title: n.Title, Table: "table.json", Out: "nodes.json"}
	in := []action.Input{n.Profile.Input()}
	if n.Graphs.IsSet() {
		s.Graphs = n.Graphs.InRoot()
		in = append(in, n.Graphs.Input())
	}
	if s.Title == "" {
		s.Title = p.At.Name
	}
	a := step.Tool(p, "", "read the profile", profile.Tool, s).In(in...)
	p.File("table", a.Out(s.Table))
	p.File("nodes", a.Out(s.Out))
	p.Output("rows", action.Value, a.Out(s.Out))
}
