package steps

import (
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
)

// Environments that methods of onnx_quantize run in, by the method's name.
const (
	aimetToolchain = "aimet"
	quarkToolchain = "quark"
)

// ONNXQuantize are the arguments of kind onnx_quantize.
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
		Summary: "Quantizes ONNX graphs for the HTP: inserts QuantizeLinear and DequantizeLinear by one of seven methods.",
		ArgDocs: map[string]string{
			"graphs": "Graphs of `onnx_llm`, or one float ONNX graph with fixed shapes: the file, or a folder with it.",
			"method": "`a16w8`: 16-bit activations, int8 weights with one scale per output channel. `a16w4`: int4 weights. " +
				"`lpbq`: int4 weights in blocks with 4-bit block scales, as mllm has. `mobilequant`: int8 weights, 8-bit inputs and " +
				"outputs of the layers' matrices. `ort`: ONNX Runtime's quantizer for QNN. `aimet`: Qualcomm's AIMET, with toolchain " +
				"`aimet`. `quark`: AMD's Quark, with toolchain `quark`. A graph that is no language model takes `a16w8`, `ort`, `aimet` or `quark`.",
			"rotate": "Rotates the residual stream of a language model before quantization (QuaRot): no activation channel is an outlier.",
			"high_precision_layers": "Layers, such as \"17\", or matrices, such as \"17.down\", that are quantized as `a16w8` does. " +
				"For `a16w4`, `lpbq` and `mobilequant`.",
			"block_size":      "Inputs that share a scale, for `lpbq`.",
			"kv":              "Type of a language model's key/value cache: `uint16`, or `uint8` as in mllm. `ort`, `aimet` and `quark` leave it in floats.",
			"num_shards":      "Number of contexts that the layers of a language model are cut into.",
			"activation_bits": "Bits of activations, for `aimet` and `quark`.",
			"weight_bits":     "Bits of weights, for `aimet` and `quark`; 4 for `aimet` alone.",
			"symmetric": "Signed activations that are symmetric about zero, for `quark`. Qualcomm's compiler miscompiles softmaxes of 8 bits " +
				"with a symmetric output: `accuracy` with `cpu_outputs` detects that.",
			"ranges":       "How calibration sets a range: `min_max`; `tf_enhanced`, for `aimet`; `percentile` or `entropy`, for `quark`.",
			"aimet_config": "AIMET's name for a Hexagon, such as htp_v79, or `default`, for `aimet`.",
			"calibration": "Text file with one prompt per line for a language model; by default a dozen lines that hexmage has. " +
				"For any other graph a folder of *.npz files with the graph's inputs by name.",
			"samples": "Number of lines of the text, from the first.",
		},
		Outputs: []step.OutputSpec{
			{Name: "dir", Class: action.Tree, Doc: "The quantized graphs; with `num_shards` GRAPH_0.onnx, GRAPH_1.onnx and so on. " +
				"cache.json has scale and zero point of a quantized key/value cache."},
			{Name: "encodings", Class: action.Tree, Doc: "For `aimet` the float graphs with AIMET's encodings for Qualcomm's converters: " +
				"0.6.1/GRAPH.encodings, 1.0.0/… and 2.0.0/…; else empty."},
		},
		Toolchains: []string{onnxToolchain, aimetToolchain, quarkToolchain},
		Example: `step "onnx_quantize" "lpbq" {
  graphs = step.onnx_llm.smollm2.outputs.dir
  method = "lpbq"
}`,
	}
}

// Plan plans one action, and for a quantizer with its own environment one that collects samples before.
func (o ONNXQuantize) Plan(p *step.Plan) {
	o.check(p)
	at, in := text(p, o.Calibration, "calibration.txt")
	args := map[string]any{"graphs": o.Graphs.InRoot(), "calibration": at, "samples": o.Samples, "out": "samples"}
	if o.Method == aimetToolchain || o.Method == quarkToolchain {
		samples := program(p, "collect samples for calibration", args, false, "onnx_samples").In(o.Graphs.Input(), in)
		samples.Name = "samples"
		o.foreign(p, computes(p, samples).OutTree("samples").As("samples"))
		return
	}
	args["method"], args["rotate"], args["kv"] = o.Method, o.Rotate, o.KV
	args["high_precision_layers"], args["num_shards"] = append([]string{}, o.HighPrecisionLayers...), o.NumShards
	args["checkpoint"], args["out"] = quantizeCheckpoint, "dir"
	if o.Method == "lpbq" {
		args["block_size"] = o.BlockSize
	}
	a := computes(p, program(p, "quantize, "+o.Method, args, false, "onnx_quantize"))
	if o.Method != "ort" {
		a.Set(action.PropertyCheckpoint, quantizeCheckpoint)
	}
	p.Tree("dir", a.In(o.Graphs.Input(), in).OutTree("dir"))
	p.Tree("encodings")
}

// foreign plans a quantizer that runs in an environment of its own.
func (o ONNXQuantize) foreign(p *step.Plan, samples action.Input) {
	args := map[string]any{"graphs": o.Graphs.InRoot(), "samples": "samples", "activation_bits": o.ActivationBits, "ranges": o.Ranges, "out": "dir"}
	if o.Method == aimetToolchain {
		args["weight_bits"], args["config"], args["encodings"] = o.WeightBits, o.AIMETConfig, "encodings"
	} else {
		args["symmetric"] = o.Symmetric
	}
	a := computes(p, programIn(p, o.Method, "quantize, "+o.Method, args, o.Method+"_quantize")).In(o.Graphs.Input(), samples)
	p.Tree("dir", a.OutTree("dir"))
	if o.Method == aimetToolchain {
		p.Tree("encodings", a.OutTree("encodings"))
	} else {
		p.Tree("encodings")
	}
}

// check rejects arguments that the method would ignore.
func (o ONNXQuantize) check(p *step.Plan) {
	for _, c := range []struct {
		arg     string
		set     bool
		methods []string
	}{
		{"rotate", o.Rotate, []string{"a16w8", "a16w4", "lpbq", "mobilequant", "ort"}},
		{"high_precision_layers", len(o.HighPrecisionLayers) > 0, []string{"a16w4", "lpbq", "mobilequant"}},
		{"block_size", o.BlockSize != 32, []string{"lpbq"}},
		{"kv", o.KV != "uint16", []string{"a16w8", "a16w4", "lpbq", "mobilequant"}},
		{"num_shards", o.NumShards > 1, []string{"a16w8", "a16w4", "lpbq", "mobilequant"}},
		{"activation_bits", o.ActivationBits != 16, []string{aimetToolchain, quarkToolchain}},
		{"weight_bits", o.WeightBits != 8, []string{aimetToolchain}},
		{"aimet_config", o.AIMETConfig != "htp_v79", []string{aimetToolchain}},
		{"symmetric", o.Symmetric, []string{quarkToolchain}},
		{"ranges", o.Ranges == "tf_enhanced", []string{aimetToolchain}},
		{"ranges", o.Ranges == "percentile" || o.Ranges == "entropy", []string{quarkToolchain}},
	} {
		if c.set && !slices.Contains(c.methods, o.Method) {
			p.Fail(c.arg, "Argument of another method", "method %q ignores %s; it is for %s. Remove it or change method.",
				o.Method, c.arg, strings.Join(c.methods, ", "))
		}
	}
}
