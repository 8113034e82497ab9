package steps

import (
	"maps"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
)

// Toolchains of methods that run in their own environment, by the method's name.
const (
	aimetToolchain = "aimet"
	quarkToolchain = "quark"
)

// ONNXQuantize holds the arguments of an onnx_quantize step.
type ONNXQuantize struct {
	Graphs              step.Path `arg:"graphs,required"`
	Method              string    `arg:"method" default:"a16w8" oneof:"a16w8 a16w4 lpbq mobilequant ort aimet quark"`
	Rotate              bool      `arg:"rotate"`
	HighPrecisionLayers []string  `arg:"high_precision_layers,nonull"`
	BlockSize           int       `arg:"block_size" default:"32" oneof:"16 32 64 128"`
	KV                  string    `arg:"kv" default:"uint16" oneof:"uint16 uint8"`
	NumShards           int       `arg:"num_shards" default:"1" range:"1..1000"`
	ActivationBits      int       `arg:"activation_bits" default:"16" oneof:"8 16"`
	WeightBits          int       `arg:"weight_bits" default:"8" oneof:"4 8"`
	Symmetric           bool      `arg:"symmetric"`
	Ranges              string    `arg:"ranges" default:"min_max" oneof:"min_max tf_enhanced percentile entropy"`
	AIMETConfig         string    `arg:"aimet_config" default:"htp_v79"`
	Calibration         step.Path `arg:"calibration"`
	Samples             int       `arg:"samples" default:"12" range:"1..4096"`
}

func onnxQuantizeSchema() step.Schema {
	return step.Schema{
		Summary: "Quantizes ONNX graphs for the HTP: inserts QuantizeLinear and DequantizeLinear by one of seven " +
			"methods.",
		ArgDocs: map[string]string{
			"graphs": "Graphs of `onnx_llm`, or one float ONNX graph with fixed shapes: the file, or " +
				"a folder with it.",
			"method": "`a16w8`: 16-bit activations, int8 weights with one scale per output channel. " +
				"`a16w4`: int4 weights. `lpbq`: int4 weights in blocks with 4-bit block scales, as in mllm. " +
				"`mobilequant`: int8 weights, 8-bit inputs and outputs of the layers' matrices. `ort`: ONNX " +
				"Runtime's quantizer for QNN. `aimet`: Qualcomm's AIMET, with toolchain `aimet`. `quark`: AMD's " +
				"Quark, with toolchain `quark`. Graphs other than language models support `a16w8`, `ort`, `aimet` " +
				"and `quark`.",
			"rotate": "Whether to rotate the residual stream of a language model before quantization " +
				"(QuaRot), which removes outlier activation channels.",
			"high_precision_layers": "Layers, such as \"17\", or matrices, such as \"17.down\", to quantize as " +
				"`a16w8` does. For `a16w4`, `lpbq` and `mobilequant`.",
			"block_size": "Number of inputs that share a scale, for `lpbq`.",
			"kv": "Type of a language model's key/value cache: `uint16`, or `uint8` as in mllm. " +
				"`ort`, `aimet` and `quark` keep floats.",
			"num_shards":      "Number of contexts to split the layers of a language model into.",
			"activation_bits": "Bits of activations, for `aimet` and `quark`.",
			"weight_bits":     "Bits of weights, for `aimet` and `quark`; 4 for `aimet` alone.",
			"symmetric": "Whether signed activations are symmetric about zero, for `quark`. Qualcomm's " +
				"compiler miscompiles 8-bit softmaxes with a symmetric output; `accuracy` with `cpu_outputs` detects " +
				"that.",
			"ranges": "Method by which calibration sets a range: `min_max`; `tf_enhanced`, for " +
				"`aimet`; `percentile` or `entropy`, for `quark`.",
			"aimet_config": "AIMET's name for a Hexagon, such as htp_v79, or `default`, for `aimet`.",
			"calibration": "For a language model: text file with one prompt per line; default: a dozen " +
				"lines from hexmage. For any other graph: folder of *.npz files with the graph's inputs by name.",
			"samples": "Number of lines of the text to use, from the first.",
		},
		Outputs: []step.OutputSpec{
			step.Tree("dir", "The quantized graphs; with `num_shards` GRAPH_0.onnx, GRAPH_1.onnx and so on. "+
				"cache.json: scale and zero point of a quantized key/value cache."),
			step.Tree("encodings", "For `aimet`: the float graphs with AIMET's encodings for Qualcomm's converters, "+
				"in 0.6.1/GRAPH.encodings, 1.0.0/… and 2.0.0/…. Otherwise empty."),
		},
		Toolchains: []string{onnxToolchain, aimetToolchain, quarkToolchain},
		Example: `step "onnx_quantize" "lpbq" {
  graphs = step.onnx_llm.smollm2.outputs.dir
  method = "lpbq"
}`,
	}
}

// Plan plans one action. For a quantizer with its own Python environment, Plan adds an earlier action that collects
// samples.
func (o ONNXQuantize) Plan(p *step.Plan) {
	o.check(p)
	given := args{"graphs": o.Graphs, "calibration": text(p, o.Calibration, "calibration.txt"), "samples": o.Samples}
	if o.Method == aimetToolchain || o.Method == quarkToolchain {
		given["out"] = "samples"
		samples := computes(p, program(p, onnxToolchain, "collect samples for calibration", given, "onnx_samples"))
		samples.Name = "samples"
		o.foreign(p, samples.OutTree("samples").As("samples"))
		return
	}
	maps.Copy(given, args{"method": o.Method, "rotate": o.Rotate, "kv": o.KV, "num_shards": o.NumShards, "out": "dir",
		"high_precision_layers": append([]string{}, o.HighPrecisionLayers...), "checkpoint": quantizeCheckpoint})
	if o.Method == "lpbq" {
		given["block_size"] = o.BlockSize
	}
	a := computes(p, program(p, onnxToolchain, "quantize, "+o.Method, given, "onnx_quantize"))
	if o.Method != "ort" {
		a.Set(action.PropertyCheckpoint, quantizeCheckpoint)
	}
	p.Tree("dir", a.OutTree("dir"))
	p.Tree("encodings")
}

// foreign plans a quantizer that runs in its own environment.
func (o ONNXQuantize) foreign(p *step.Plan, samples action.Input) {
	given := args{"graphs": o.Graphs, "samples": samples, "activation_bits": o.ActivationBits, "ranges": o.Ranges,
		"out": "dir"}
	if o.Method == aimetToolchain {
		given["weight_bits"], given["config"], given["encodings"] = o.WeightBits, o.AIMETConfig, "encodings"
	} else {
		given["symmetric"] = o.Symmetric
	}
	a := computes(p, program(p, o.Method, "quantize, "+o.Method, given, o.Method+"_quantize"))
	p.Tree("dir", a.OutTree("dir"))
	if o.Method == aimetToolchain {
		p.Tree("encodings", a.OutTree("encodings"))
	} else {
		p.Tree("encodings")
	}
}

// check rejects arguments that the method ignores.
func (o ONNXQuantize) check(p *step.Plan) {
	for _, c := range []struct {
		arg     string
		set     bool
		methods string
	}{
		{"rotate", o.Rotate, "a16w8, a16w4, lpbq, mobilequant, ort"},
		{"high_precision_layers", len(o.HighPrecisionLayers) > 0, "a16w4, lpbq, mobilequant"},
		{"block_size", o.BlockSize != 32, "lpbq"},
		{"kv", o.KV != "uint16", "a16w8, a16w4, lpbq, mobilequant"},
		{"num_shards", o.NumShards > 1, "a16w8, a16w4, lpbq, mobilequant"},
		{"activation_bits", o.ActivationBits != 16, "aimet, quark"},
		{"weight_bits", o.WeightBits != 8, "aimet"},
		{"aimet_config", o.AIMETConfig != "htp_v79", "aimet"},
		{"symmetric", o.Symmetric, "quark"},
		{"ranges", o.Ranges == "tf_enhanced", "aimet"},
		{"ranges", o.Ranges == "percentile" || o.Ranges == "entropy", "quark"},
	} {
		if c.set && !slices.Contains(strings.Split(c.methods, ", "), o.Method) {
			p.Fail(c.arg, "Argument of another method", "method %q ignores %s; it is for %s. Remove it or change "+
				"method.",
				o.Method, c.arg, c.methods)
		}
	}
}
