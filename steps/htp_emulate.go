package steps

import "github.com/hexmage/hexmage/internal/step"

// HTPEmulate are the arguments of kind htp_emulate.
type HTPEmulate struct {
	Context step.Path `arg:"context,required"`
	Said
}

func htpEmulateSchema() step.Schema {
	return step.Schema{
		Summary: "Runs contexts on the vendor's emulator of the HTP, on this machine, at no phone's speed. A language model answers a prompt.",
		ArgDocs: saidDocs(map[string]string{"context": "What `htp_context` made. Of several graphs in one context, other than a language model's, the folder of one: `emulator/GRAPH` in it."}),
		Outputs: saidOutputs(), Toolchains: []string{onnxToolchain, htpToolchain, runtimeToolchain},
		Example: `step "htp_emulate" "lpbq" {
  context = step.htp_context.lpbq.outputs.dir
  prompt  = "What is the capital of France?"
}`,
	}
}

// Plan plans the answering.
func (h HTPEmulate) Plan(p *step.Plan) { h.plan(p, h.Context, htpLibraries(p.Toolchain(htpToolchain))) }
