package steps

import (
	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
)

// HTPEmulate are the arguments of kind htp_emulate.
type HTPEmulate struct {
	Context   step.Path `arg:"context,required"`
	Profiling string    `arg:"profiling" oneof:"basic detailed optrace"`
	Said
}

func htpEmulateSchema() step.Schema {
	return step.Schema{
		Summary: "Runs contexts on the vendor's emulator of the HTP, on this machine, at no phone's speed. A language model answers a prompt.",
		ArgDocs: saidDocs(map[string]string{
			"context":   "What `htp_context` made. Of several graphs in one context, other than a language model's, the folder of one: `emulator/GRAPH` in it.",
			"profiling": "Has the vendor's runtime say where the time goes: `basic`, of the whole graph; `detailed`, of each node; `optrace`, for the vendor's viewer, of a context compiled with `optrace = true`.",
		}),
		Outputs: append(saidOutputs(), step.OutputSpec{Name: "profile", Class: action.Tree,
			Doc: "With `profiling` for each graph GRAPH.csv, which `npu_profile` reads, and GRAPH_qnn.log, for the vendor's viewer; else empty. Its cycles are the emulator's: no performance."}),
		Toolchains: []string{onnxToolchain, htpToolchain, runtimeToolchain},
		Example: `step "htp_emulate" "lpbq" {
  context = step.htp_context.lpbq.outputs.dir
  prompt  = "What is the capital of France?"
}`,
	}
}

// Plan plans the answering.
func (h HTPEmulate) Plan(p *step.Plan) {
	args := map[string]any{"libraries": htpLibraries(p.Toolchain(htpToolchain))}
	if h.Profiling != "" {
		args["profiling"], args["profile"] = h.Profiling, "profile"
	}
	a := h.plan(p, h.Context, args)
	switch {
	case a == nil:
	case h.Profiling == "":
		p.Tree("profile")
	default:
		p.Tree("profile", a.OutTree("profile"))
		a.Vary(measured, "profile")
	}
}
