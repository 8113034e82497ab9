package steps

import "github.com/hexmage/hexmage/internal/step"

// ONNXLLM holds the arguments of an onnx_llm step.
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
		Summary: "Exports a language model as two static ONNX graphs, prefill and decode. The key/value cache is an " +
			"input and an output of each.",
		ArgDocs: map[string]string{
			"model": "Folder in the Hugging Face layout, or GGUF file, of Llama, Qwen2 or Qwen3 architecture.",
			"licenses": "Files or folders with the model's license, besides those in the model's folder. " +
				"`htp_context` copies them to device/.",
			"context_len": "Number of tokens that the cache holds, prompt and answer together.",
			"ar_len":      "Tokens per prefill call. A longer prompt takes several calls.",
			"layers": "Number of layers, from the first, of a truncated model. Truncated models show in which " +
				"layer a difference begins.",
			"embedding": "`inside`: the graphs look up token embeddings. `outside`: the CPU looks them up in a " +
				"file of 16-bit floats beside the contexts. The table may be the largest part of a small model.",
		},
		Outputs: []step.OutputSpec{step.Tree("dir", "prefill.onnx and decode.onnx, which share weights.bin; "+
			"arch.json, tokenizer.json, licenses/. For a model with a chat template: chat_template.jinja and "+
			"special_tokens.json. With the embedding outside: embedding.bin.")},
		Toolchains: []string{onnxToolchain},
		Example:    `step "onnx_llm" "smollm2" { model = "models/SmolLM2-135M-Instruct" }`,
	}
}

// Plan plans one action.
func (o ONNXLLM) Plan(p *step.Plan) {
	given := args{"model": o.Model, "licenses": append([]step.Path{}, o.Licenses...), "context_len": o.ContextLen,
		"ar_len": o.ARLen, "layers": o.Layers, "embedding": o.Embedding, "out": "dir"}
	p.Tree("dir", program(p, onnxToolchain, "export static graphs", given, "onnx_llm").OutTree("dir"))
}
