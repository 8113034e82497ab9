package steps

import "github.com/hexmage/hexmage/internal/step"

// HTPEmulate are the arguments of kind htp_emulate.
type HTPEmulate struct {
	Context   step.Path `arg:"context,required"`
	Profiling string    `arg:"profiling" oneof:"basic detailed optrace"`
	Said
}

func htpEmulateSchema() step.Schema {
	return step.Schema{
		Summary: "Runs contexts on Qualcomm's emulator of the HTP for x86, not at a phone's speed. A language model answers " +
			"a prompt.",
		ArgDocs: saidDocs(map[string]string{
			"context": "Folder of `htp_context`. If one context has several graphs of no language model, the folder of " +
				"one: `emulator/GRAPH`.",
			"profiling": "Level of a QNN profile: `basic` for the whole graph, `detailed` per node, `optrace` for " +
				"Qualcomm's viewer, with a context compiled with `optrace = true`.",
		}),
		Outputs: append(saidOutputs(), step.Tree("profile", "With `profiling` per graph GRAPH.csv, which `npu_profile` "+
			"reads, and GRAPH_qnn.log, for Qualcomm's viewer; else empty. Cycles and times are not a device's.")),
		Toolchains: []string{onnxToolchain, htpToolchain, runtimeToolchain},
		Example: `step "htp_emulate" "lpbq" {
  context = step.htp_context.lpbq.outputs.dir
  prompt  = "What is the capital of France?"
}`,
	}
}

// Plan plans the run. "guarded" runs the program in a process of its own.
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
