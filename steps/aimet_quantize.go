package steps

import (
	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
)

// aimetToolchain is the environment that AIMET runs in.
const aimetToolchain = "aimet"

// AIMETQuantize are the arguments of kind aimet_quantize.
type AIMETQuantize struct {
	Calibrated
	Activations int    `arg:"activations" default:"16" oneof:"8 16"`
	Weights     int    `arg:"weights" default:"8" oneof:"4 8 16"`
	Config      string `arg:"config" default:"htp_v79"`
	Ranges      string `arg:"ranges" default:"min_max" oneof:"min_max tf_enhanced"`
}

func aimetQuantizeSchema() step.Schema {
	return step.Schema{
		Summary: "Quantises graphs with Qualcomm's AIMET, after training: graphs with QuantizeLinear and DequantizeLinear, and AIMET's encodings beside the float ones.",
		ArgDocs: calibratedDocs(map[string]string{
			"activations": "Bits of activations.",
			"weights":     "Bits of weights.",
			"config":      "AIMET's name for what a Hexagon can do, such as htp_v79, or `default`.",
			"ranges":      "How a range comes of what was seen: its least and greatest value, or what loses least.",
		}),
		Outputs: []step.OutputSpec{
			{Name: "dir", Class: action.Tree, Doc: "The graphs quantised, for `htp_context`. The key/value cache stays float."},
			{Name: "encodings", Class: action.Tree, Doc: "The float graphs, and 0.6.1/GRAPH.encodings, 1.0.0/… and 2.0.0/…, the formats that the vendor's converters read."},
		},
		Toolchains: []string{onnxToolchain, aimetToolchain},
		Example: `step "aimet_quantize" "smollm2" {
  graphs = step.onnx_llm.smollm2.outputs.dir
  config = "htp_v79"
}`,
	}
}

// Plan plans the samples and the quantising.
func (q AIMETQuantize) Plan(p *step.Plan) {
	a := q.quantise(p, aimetToolchain, "quantise with AIMET", "aimet_quantize", map[string]any{"activations": q.Activations, "weights": q.Weights,
		"config": q.Config, "ranges": q.Ranges, "encodings": "encodings"})
	p.Tree("dir", a.OutTree("dir"))
	p.Tree("encodings", a.OutTree("encodings"))
}
