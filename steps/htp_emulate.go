package steps

import "github.com/hexmage/hexmage/internal/step"

// HTPEmulate holds the arguments of an htp_emulate step.
type HTPEmulate struct {
	Context   step.Path `arg:"context,required"`
	Profiling string    `arg:"profiling" oneof:"basic detailed optrace"`
	Said
}

func htpEmulateSchema() step.Schema {
	return step.Schema{
		Summary: "Runs contexts on Qualcomm's HTP emulator for x86, more slowly than a phone. A language model " +
			"answers a prompt.",
		ArgDocs: saidDocs(map[string]string{
			"context": "Folder of `htp_context`. If one context has several graphs and is not a language model, " +
				"the folder of one graph: `emulator/GRAPH`.",
			"profiling": "Level of a QNN profile: `basic` for the whole graph, `detailed` per node, `optrace` for " +
				"Qualcomm's viewer. `optrace` needs a context compiled with `optrace = true`.",
		}),
		Outputs: append(saidOutputs(), step.Tree("profile", "With `profiling`, for each graph: GRAPH.csv for "+
			"`npu_profile`, and GRAPH_qnn.log for Qualcomm's viewer. Otherwise empty. Cycles and times are not a "+
			"device's.")),
		Toolchains: []string{onnxToolchain, htpToolchain, runtimeToolchain},
		Example: `step "htp_emulate" "lpbq" {
  context = step.htp_context.lpbq.outputs.dir
  prompt  = "Name the capital of France."
}`,
	}
}

// Plan plans the run in Qualcomm's emulator.
func (h HTPEmulate) Plan(p *step.Plan) {
	given, of := h.program(p, h.Context)
	given["program"] = of
	if h.Profiling != "" {
		given["profiling"], given["profile"] = h.Profiling, "profile"
	}
	a := onHTP(p, "run on Qualcomm's emulator", given, "guarded", of)
	h.outputs(p, a)
	if h.Profiling == "" {
		p.Tree("profile")
		return
	}
	p.Tree("profile", a.OutTree("profile"))
	a.Vary(measured, "profile")
}
