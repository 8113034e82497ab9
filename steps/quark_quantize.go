package steps

import (
	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
)

// quarkToolchain is the environment that Quark runs in.
const quarkToolchain = "quark"

// QuarkQuantize are the arguments of kind quark_quantize.
type QuarkQuantize struct {
	Calibrated
	Activations    string         `arg:"activations" default:"int16" oneof:"int8 uint8 int16 uint16"`
	Weights        string         `arg:"weights" default:"int8" oneof:"int8 uint8 int16 uint16"`
	Asymmetric     bool           `arg:"asymmetric"`
	PowerOfTwo     bool           `arg:"power_of_two"`
	Ranges         string         `arg:"ranges" default:"min_max" oneof:"min_max percentile entropy min_mse"`
	PerChannel     bool           `arg:"per_channel"`
	PerChannelAxes map[string]int `arg:"per_channel_axes"`
	PairsOnWeights bool           `arg:"pairs_on_weights"`
	DedicatedPairs bool           `arg:"dedicated_pairs"`
	Bias           string         `arg:"bias" default:"int32" oneof:"int8 int16 int32"`
	Adjust         []string       `arg:"adjust,nonull" oneof:"shift_cut shift_bias shift_read shift_write shift_swish hard_sigmoid"`
	ExcludeOpTypes []string       `arg:"exclude_op_types,nonull"`
}

func quarkQuantizeSchema() step.Schema {
	return step.Schema{
		Summary: "Quantises graphs with AMD's Quark, which came of Vitis AI, after training: graphs with QuantizeLinear and DequantizeLinear where Quark puts them.",
		ArgDocs: calibratedDocs(map[string]string{
			"activations":      "Integers of activations. With `int8` and `uint8` look at what comes out: of softmaxes whose zero point is not the least number the vendor's compiler makes something else, without a word (`accuracy` with `on_cpu` sees it).",
			"weights":          "Integers of weights.",
			"asymmetric":       "Whether activations have a zero point of their own, in place of ranges that are symmetric about zero.",
			"power_of_two":     "Whether scales are powers of two.",
			"ranges":           "How a range comes of what was seen: least and greatest value, a percentile, by entropy, or what loses least, which is for powers of two.",
			"per_channel":      "Whether weights have a scale each output.",
			"per_channel_axes": "Of which axis that is, by op: { MatMul = 1 }.",
			"pairs_on_weights": "Whether weights stay float, with a QuantizeLinear and a DequantizeLinear behind them, in place of integers.",
			"dedicated_pairs":  "Whether each node that takes a tensor has a pair of its own.",
			"bias":             "Integers of biases. Of a product whose bias has fewer than 32 bits the vendor's compiler makes 16-bit floats, which `htp_context` refuses without `floats = true`.",
			"adjust":           "Quark's adjustments of shifts, for powers of two: `shift_cut`, `shift_bias`, `shift_read`, `shift_write`, `shift_swish`, `hard_sigmoid`.",
			"exclude_op_types": "Ops that stay float, such as [\"Softmax\"]. The compiler then computes them in 16-bit floats.",
		}),
		Outputs:    []step.OutputSpec{{Name: "dir", Class: action.Tree, Doc: "The graphs quantised, for `htp_context`. The key/value cache stays float."}},
		Toolchains: []string{onnxToolchain, quarkToolchain},
		Example: `step "quark_quantize" "smollm2" {
  graphs      = step.onnx_llm.smollm2.outputs.dir
  per_channel = true
}`,
	}
}

// Plan plans the samples and the quantising.
func (q QuarkQuantize) Plan(p *step.Plan) {
	switch {
	case q.PowerOfTwo && q.PerChannel:
		p.Fail("per_channel", "Not with powers of two", "Quark has scales of each output for float scales alone. Leave out per_channel, or power_of_two.")
	case q.PowerOfTwo && (q.Ranges == "percentile" || q.Ranges == "entropy"), !q.PowerOfTwo && q.Ranges == "min_mse":
		p.Fail("ranges", "Not with these scales", "Quark takes min_max and min_mse for powers of two, min_max, percentile and entropy for others. Write another of them.")
	case len(q.Adjust) > 0 && !q.PowerOfTwo:
		p.Fail("adjust", "Not without powers of two", "A scale is a shift where it is a power of two alone. Write power_of_two = true, or leave out adjust.")
	}
	axes := q.PerChannelAxes
	if axes == nil {
		axes = map[string]int{}
	}
	a := q.quantise(p, quarkToolchain, "quantise with Quark", "quark_quantize", map[string]any{"activations": q.Activations, "weights": q.Weights, "symmetric": !q.Asymmetric,
		"power_of_two": q.PowerOfTwo, "ranges": q.Ranges, "per_channel": q.PerChannel, "per_channel_axes": axes, "pairs_on_weights": q.PairsOnWeights,
		"dedicated_pairs": q.DedicatedPairs, "bias": q.Bias, "adjust": some(q.Adjust), "exclude_op_types": some(q.ExcludeOpTypes)})
	p.Tree("dir", a.OutTree("dir"))
}
