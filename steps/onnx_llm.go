package steps

import (
	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
)

// ONNXLLM are the arguments of kind onnx_llm.
type ONNXLLM struct {
	Model     step.Path   `arg:"model,required"`
	Licenses  []step.Path `arg:"licenses"`
	Context   int         `arg:"context" default:"256" range:"2..32768"`
	Chunk     int         `arg:"chunk" default:"32" range:"1..4096"`
	Layers    int         `arg:"layers" range:"1..1000"`
	Embedding string      `arg:"embedding" default:"inside" oneof:"inside outside"`
}

func onnxLLMSchema() step.Schema {
	return step.Schema{
		Summary: "Makes static ONNX graphs of a language model: prefill of a chunk and decode of a token, with the key/value cache as inputs and outputs.",
		ArgDocs: map[string]string{
			"model":     "A folder in the Hugging Face layout, or a GGUF file: of Llama, Qwen2 or Qwen3 architecture.",
			"licenses":  "Files with the texts of the model's license, or folders of them. Those of the model's own folder need no argument. All go along to device/ of `htp_context`.",
			"context":   "Tokens that the cache holds: prompt and answer together.",
			"chunk":     "Tokens that prefill takes at once; a longer prompt takes several.",
			"layers":    "Only the first layers: a truncated twin, to find out where a difference begins.",
			"embedding": "Whether the graphs look the rows of tokens up (`inside`), or are given them (`outside`): then the table, which may be the largest part of a small model, is a file beside the contexts, in 16-bit floats.",
		},
		Outputs: []step.OutputSpec{{Name: "dir", Class: action.Tree,
			Doc: "prefill.onnx, decode.onnx, weights.bin that both share, arch.json, tokenizer.json, and chat_template.jinja and special_tokens.json if the model has a chat template; licenses/; with the embedding outside embedding.bin."}},
		Toolchains: []string{onnxToolchain},
		Example:    `step "onnx_llm" "smollm2" { model = "models/SmolLM2-135M-Instruct" }`,
	}
}

// Plan plans the making.
func (o ONNXLLM) Plan(p *step.Plan) {
	licenses, inputs := []string{}, []action.Input{o.Model.Input()}
	for _, l := range o.Licenses {
		licenses, inputs = append(licenses, l.InRoot()), append(inputs, l.Input())
	}
	args := map[string]any{"model": o.Model.InRoot(), "licenses": licenses, "context": o.Context, "chunk": o.Chunk, "embedding": o.Embedding, "out": "dir"}
	if o.Layers > 0 {
		args["layers"] = o.Layers
	}
	p.Tree("dir", program(p, "make static graphs", args, false, "onnx_llm").In(inputs...).OutTree("dir"))
}
