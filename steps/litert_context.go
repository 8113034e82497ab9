package steps

import (
	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
)

// litertToolchain is the environment with LiteRT and its plug-ins.
const litertToolchain = "litert"

// LiteRTContext are the arguments of kind litert_context.
type LiteRTContext struct {
	Model    step.Path `arg:"model,required"`
	Fallback bool      `arg:"fallback"`
	DLC      bool      `arg:"dlc"`
}

func litertContextSchema() step.Schema {
	return step.Schema{
		Summary: "Compiles a .tflite for the target with LiteRT's plug-in of the vendor's and the vendor's own HTP compiler for x86, and reads what came out.",
		ArgDocs: map[string]string{
			"model":    "The .tflite, with fixed shapes.",
			"fallback": "Whether operations may stay on the CPU. Otherwise one that the plug-in does not take is an error.",
			"dlc":      "Whether to write each partition as a DLC too, before it is compiled, for the vendor's own tools.",
		},
		Outputs: []step.OutputSpec{
			{Name: "dir", Class: action.Tree, Doc: "The compiled .tflite, under the model's name; contexts/: each context in it, as a file; ir/: what the plug-in made of each partition (the vendor's JSON); refused.json: which operations stay on the CPU, and what the plug-in says of each; manifest.json."},
			{Name: "dlc", Class: action.Tree, Doc: "A DLC of each partition, with `dlc = true`; else empty."},
			{Name: "times", Class: action.File, Doc: "Seconds that it took (JSON)."},
		},
		Toolchains: []string{litertToolchain, htpToolchain, runtimeToolchain},
		Example:    `step "litert_context" "net" { model = "net.tflite" }`,
	}
}

// Plan plans the compiling.
func (l LiteRTContext) Plan(p *step.Plan) {
	t, libraries, runtime := target(p, "A context is compiled for one SoC."), p.Toolchain(htpToolchain), p.Toolchain(runtimeToolchain)
	if p.Failed() {
		return
	}
	own := HTPContext{}.compiled(p, *t)
	args := map[string]any{"model": l.Model.InRoot(), "libraries": htpLibraries(libraries), "target": own, "fallback": l.Fallback, "out": "dir", "times": "times.json"}
	if l.DLC {
		args["dlc"] = "dlc"
	}
	a := programIn(p, litertToolchain, "compile for "+t.SoC, args, "litert_context", "htp_facts").In(libraries.Input(), runtime.Input(), l.Model.Input())
	a.SetEnv(htpEnv(runtime))
	a.Set(action.PropertyAddresses, action.AddressesFixed)
	p.Tree("dir", a.OutTree("dir"))
	if l.DLC {
		p.Tree("dlc", a.OutTree("dlc"))
	} else {
		p.Tree("dlc")
	}
	p.File("times", a.Out("times.json"))
	a.Vary(measured, "times.json")
}
