package steps

import "github.com/hexmage/hexmage/internal/step"

// ONNXLLM are the arguments of kind onnx_llm.
type ONNXLLM struct {
	Model      step.Path   `arg:"model,required"`
	Licenses   []step.Path `arg:"licenses"`
	ContextLen int         `arg:"context_len" default:"256" range:"2..32768"`
	ARLen      int         `arg:"ar_len" default:"32" range:"1..4096"`
	Layers     *int        `arg:"layers" range:"1..1000"`
	Embedding  string      `arg:"embedding" default:"inside" oneof:"inside outside"`
}

func onnxLLMSchema() step.Schema {
	return step.Schema{
		Summary: "Exports a language model as two static ONNX graphs, prefill and decode, " +
			"with the key/value cache as inputs and outputs.",
		ArgDocs: map[string]string{
			"model": "A folder in the Hugging Face layout, or a GGUF file: of Llama, Qwen2 or Qwen3 architecture.",
			"licenses": "Files or folders with the texts of the model's license, beside those in the model's folder. " +
				"`htp_context` copies them to device/.",
			"context_len": "Tokens that the cache holds: prompt and answer together.",
			"ar_len":      "Tokens per prefill call. A longer prompt takes several calls.",
			"layers":      "Number of layers of a truncated model, from the first: shows in which layer a difference begins.",
			"embedding": "`inside`: the graphs look up the rows of tokens. `outside`: the CPU does, in a file beside the " +
				"contexts, with 16-bit floats. The table may be the largest part of a small model.",
		},
		Outputs: []step.OutputSpec{step.Tree("dir", "prefill.onnx, decode.onnx, weights.bin that both share, arch.json, "+
			"tokenizer.json, and chat_template.jinja and special_tokens.json if the model has a chat template; licenses/; "+
			"with the embedding outside embedding.bin.")},
		Toolchains: []string{onnxToolchain},
		Example:    `step "onnx_llm" "smollm2" { model = "models/SmolLM2-135M-Instruct" }`,
	}
}

// Plan plans the making.
func (o ONNXLLM) Plan(p *step.Plan) {
	given := args{"model": o.Model, "licenses": append([]step.Path{}, o.Licenses...), "context_len": o.ContextLen,
		"ar_len": o.ARLen, "layers": o.Layers, "embedding": o.Embedding, "out": "dir"}
	p.Tree("dir", program(p, onnxToolchain, "export static graphs", given, "onnx_llm").OutTree("dir"))
}
