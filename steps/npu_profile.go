package steps

import (
	"cmp"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/model/profile"
)

// NPUProfile holds the arguments of an npu_profile step.
type NPUProfile struct {
	Profile  step.Path `arg:"profile,required"`
	Graphs   step.Path `arg:"graphs"`
	Emulator bool      `arg:"emulator"`
	Top      int       `arg:"top" default:"20" range:"1..100000"`
	Title    string    `arg:"title"`
}

func npuProfileSchema() step.Schema {
	return step.Schema{
		Summary: "Reads a QNN profile and reports a graph's time, in total and per node, most cycles first.",
		ArgDocs: map[string]string{
			"profile": "CSV of `htp_emulate` with `profiling`, or of qnn-profile-viewer.",
			"graphs":  "Folder `graphs/` of `htp_context`, which adds each node's operation and its ONNX nodes.",
			"emulator": "Whether the profile comes from Qualcomm's emulator. The table and the JSON then say that " +
				"its cycles and times are not a device's.",
			"top":   "Number of nodes in the table.",
			"title": "Title of the table.",
		},
		Outputs: []step.OutputSpec{
			step.File("table", "The table (JSON)."),
			step.File("nodes", "All nodes and totals (JSON)."),
			step.Value("rows", "Nodes and totals for checks: { emulator, note, runs, cycles, totals, nodes = [{ "+
				"name, op, onnx, cycles, share }] }."),
		},
		Example: `step "npu_profile" "net" {
  profile  = "${step.htp_emulate.lpbq.outputs.profile}/decode.csv"
  graphs   = "${step.htp_context.lpbq.outputs.dir}/graphs"
  emulator = true
}`,
	}
}

// Plan plans one action.
func (n NPUProfile) Plan(p *step.Plan) {
	s := profile.Spec{Profile: n.Profile.InRoot(), Graphs: n.Graphs.InRoot(), Emulator: n.Emulator, Top: n.Top,
		Title: cmp.Or(n.Title, p.At.Title()), Table: "table.json", Out: "nodes.json"}
	a := step.Tool(p, "", "read the profile", profile.Tool, s).In(n.Profile.Input(), n.Graphs.Input())
	p.File("table", a.Out(s.Table))
	p.File("nodes", a.Out(s.Out))
	p.Output("rows", action.Value, a.Out(s.Out))
}
