package steps

import (
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/qnn/facts"
)

// HTPContext are the arguments of kind htp_context.
type HTPContext struct {
	Graphs         step.Path `arg:"graphs,required"`
	Optimization   int       `arg:"optimization" range:"1..3"`
	VTCMMB         int       `arg:"vtcm_mb" range:"1..64"`
	FixedAddresses bool      `arg:"fixed_addresses" default:"true"`
	Fallback       bool      `arg:"fallback"`
}

func htpContextSchema() step.Schema {
	return step.Schema{
		Summary: "Compiles quantised graphs with the vendor's own HTP compiler for x86 into a context binary for the target, and reads what came out.",
		ArgDocs: map[string]string{
			"graphs":          "A folder of *.onnx with their data, such as `onnx_quantize` made.",
			"optimization":    "How hard the compiler tries; by default its own choice.",
			"vtcm_mb":         "VTCM to compile for, in MB; by default all that the target has.",
			"fixed_addresses": "Whether the compiler runs without random addresses: it orders something by address, and so two compiles give the same bytes.",
			"fallback":        "Whether nodes may stay on the CPU. Otherwise one that the compiler does not take is an error.",
		},
		Outputs: []step.OutputSpec{
			{Name: "dir", Class: action.Tree, Doc: "device/: one context of all graphs, with their weights once; emulator/GRAPH/: each graph alone, as the emulator needs it; manifest.json; nodes.json: which node runs where."},
			{Name: "times", Class: action.File, Doc: "Seconds that each compile took (JSON)."},
		},
		Toolchains: []string{onnxToolchain, htpToolchain, runtimeToolchain},
		Example:    `step "htp_context" "lpbq" { graphs = step.onnx_quantize.lpbq.outputs.dir }`,
	}
}

// Plan plans the compiling, one action for the shared context and its twins.
func (h HTPContext) Plan(p *step.Plan) {
	t := facts.TargetOf(p.Target)
	if t == nil {
		p.Fail("", "No target", "A context is compiled for one SoC. Add a block `target \"SM8750\" {}` to the pipeline.")
		return
	}
	arch, err := strconv.Atoi(strings.TrimPrefix(t.Arch, "v"))
	libraries := p.Toolchain(htpToolchain)
	if err != nil {
		p.Fail("", "No HTP", "%s has the Hexagon %s, which is no HTP that contexts are compiled for.", t.SoC, t.Arch)
	}
	if p.Failed() {
		return
	}
	args := map[string]any{"graphs": h.Graphs.InRoot(), "libraries": htpLibraries(libraries), "soc": t.SoC, "soc_model": t.SoCModel, "arch": arch, "vtcm_mb": t.VTCMMB,
		"fixed_addresses": h.FixedAddresses, "fallback": h.Fallback, "out": "dir", "times": "times.json"}
	if h.Optimization > 0 {
		args["optimization"] = h.Optimization
	}
	if h.VTCMMB > 0 {
		args["vtcm_mb"] = h.VTCMMB
	}
	a := program(p, "compile for "+t.SoC, args, true, "htp_context", "htp_compile", "htp_facts").In(h.Graphs.Input())
	p.Tree("dir", a.OutTree("dir"))
	p.File("times", a.Out("times.json"))
}
