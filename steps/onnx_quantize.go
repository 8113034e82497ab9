package steps

import (
	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
)

// ONNXQuantize are the arguments of kind onnx_quantize.
type ONNXQuantize struct {
	Graphs      step.Path `arg:"graphs,required"`
	Scheme      string    `arg:"scheme" default:"a16w8" oneof:"a16w8 a16w4 lpbq mobilequant a8w8_shadow ort"`
	Rotate      bool      `arg:"rotate"`
	Keep        []string  `arg:"keep,nonull"`
	BlockSize   int       `arg:"block_size" default:"32" oneof:"16 32 64 128"`
	KV          string    `arg:"kv" default:"uint16" oneof:"uint16 uint8"`
	Splits      int       `arg:"splits" default:"1" range:"1..1000"`
	Calibration step.Path `arg:"calibration"`
	Samples     int       `arg:"samples" default:"12" range:"1..4096"`
}

func onnxQuantizeSchema() step.Schema {
	return step.Schema{
		Summary: "Quantises graphs as the HTP's compiler takes them, those of a language model or any other: QuantizeLinear and DequantizeLinear around everything.",
		ArgDocs: map[string]string{
			"graphs":      "What `onnx_llm` made, or any ONNX graph with fixed shapes: the file, or a folder with it.",
			"scheme":      "Activations have 16 bits. Weights: `a16w8` int8 and `a16w4` int4, a scale each output; `lpbq` int4 in blocks whose scales are integers of 4 bits, the scheme of mllm. `mobilequant`: int8, and what goes into the layers' matrices and comes out has 8 bits, too; `a8w8_shadow`: likewise, and the few columns that reach furthest go through the matrix beside it, in 16 bits. `ort`: int8 by ONNX Runtime's own quantiser, with a float cache.",
			"rotate":      "Whether a language model is turned before: the same words, and no column of an activation that is much larger than the others.",
			"keep":        "Of the schemes of ours but `a16w8`, exceptions: layers, such as \"17\", or matrices, such as \"17.down\", that are quantised as `a16w8` does. `onnx_bisect` finds which.",
			"block_size":  "Inputs that share a scale, of `lpbq`.",
			"kv":          "Type of a language model's key/value cache: `uint16`, or `uint8`, which is half as large, and what mllm has.",
			"splits":      "Parts that a language model's layers are cut into, each for a context of its own: a context may take so much, and no more.",
			"calibration": "Of a language model a text file, a prompt a line; the model answers them while ranges are noted; by default a dozen lines of ours. Of any other graph a folder of samples: *.npz files with its inputs by name.",
			"samples":     "Lines that are taken, from the first. A step that was killed goes on after the last one that it read; ONNX Runtime's own quantiser, which has `ort` and all other graphs, begins anew.",
		},
		Outputs:    []step.OutputSpec{{Name: "dir", Class: action.Tree, Doc: "The graphs quantised, with `splits` GRAPH_0.onnx, GRAPH_1.onnx and so on in place of each, and cache.json: scale and zero point of the key/value cache."}},
		Toolchains: []string{onnxToolchain},
		Example: `step "onnx_quantize" "lpbq" {
  graphs = step.onnx_llm.smollm2.outputs.dir
  scheme = "lpbq"
}`,
	}
}

// Plan plans the quantising.
func (o ONNXQuantize) Plan(p *step.Plan) {
	at, in := text(p, o.Calibration, "calibration.txt")
	a := program(p, "quantise, "+o.Scheme, map[string]any{"graphs": o.Graphs.InRoot(), "scheme": o.Scheme, "block_size": o.BlockSize, "rotate": o.Rotate, "keep": some(o.Keep),
		"kv": o.KV, "splits": o.Splits, "calibration": at, "samples": o.Samples, "checkpoint": quantizeCheckpoint, "out": "dir"}, false, "onnx_quantize")
	computes(p, a)
	if o.Scheme != "ort" {
		a.Set(action.PropertyCheckpoint, quantizeCheckpoint)
	}
	p.Tree("dir", a.In(o.Graphs.Input(), in).OutTree("dir"))
}

// some is a list that JSON has as one, if it is empty too.
func some(list []string) []string { return append([]string{}, list...) }
