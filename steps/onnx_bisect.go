package steps

import (
	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
)

// ONNXBisect are the arguments of kind onnx_bisect.
type ONNXBisect struct {
	Calibrated
	Scheme    string    `arg:"scheme" default:"lpbq" oneof:"a16w4 lpbq mobilequant a8w8_shadow"`
	BlockSize int       `arg:"block_size" default:"32" oneof:"16 32 64 128"`
	Text      step.Path `arg:"text"`
	Least     float64   `arg:"least" default:"0.95" range:"0..1"`
	Most      int       `arg:"most" default:"4" range:"1..1000"`
	Title     string    `arg:"title"`
}

func onnxBisectSchema() step.Schema {
	return step.Schema{
		Summary: "Finds the first layer of a language model that a way of quantising breaks, and the exceptions with which it does not, as HCL to paste. On the CPU.",
		ArgDocs: calibratedDocs(map[string]string{
			"graphs":     "What `onnx_llm` made, float.",
			"scheme":     "As of `onnx_quantize`.",
			"block_size": "Likewise, of `lpbq`.",
			"text":       "A text file that the model reads; by default a few lines of ours.",
			"least":      "The mean cosine to the float model that is good enough.",
			"most":       "Layers that may be exceptions. Where more stand out, the first is named, and that is all.",
			"title":      "What stands over the table.",
		}),
		Outputs: []step.OutputSpec{
			{Name: "found", Class: action.Value, Doc: "{ first, keep, before, after, hcl, says }: the first layer that breaks, \"\" if none does, the exceptions, the cosine without and with them, the exceptions as an argument of `onnx_quantize`, and all of it in words."},
			{Name: "table", Class: action.File, Doc: "Each layer's own error: of the layer alone, with what the float model gives it (JSON)."},
		},
		Toolchains: []string{onnxToolchain},
		Example: `step "onnx_bisect" "smollm2" {
  graphs = step.onnx_llm.smollm2.outputs.dir
  scheme = "a16w4"
}`,
	}
}

// Plan plans the search, one action.
func (o ONNXBisect) Plan(p *step.Plan) {
	at, in := text(p, o.Calibration, "calibration.txt")
	read, reading := text(p, o.Text, "reading.txt")
	a := program(p, "look for layers that "+o.Scheme+" breaks", map[string]any{"graphs": o.Graphs.InRoot(), "scheme": o.Scheme, "block_size": o.BlockSize,
		"calibration": at, "samples": o.Samples, "text": read, "least": o.Least, "most": o.Most, "title": o.Title, "found": "found.json", "table": "table.json"}, false, "onnx_bisect")
	computes(p, a).In(o.Graphs.Input(), in, reading)
	p.Output("found", action.Value, a.Out("found.json"))
	p.File("table", a.Out("table.json"))
}
