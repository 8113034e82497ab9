package steps

import "github.com/hexmage/hexmage/internal/step"

// HFFolder holds the arguments of an hf_folder step.
type HFFolder struct {
	Model step.Path `arg:"model,required"`
}

func hfFolderSchema() step.Schema {
	return step.Schema{
		Summary: "Writes a model as a Hugging Face folder in float32, from a GGUF file or a folder with other float " +
			"types.",
		ArgDocs: map[string]string{
			"model": "GGUF file, or folder in the Hugging Face layout, of Llama, Qwen2 or Qwen3 architecture.",
		},
		Outputs: []step.OutputSpec{step.Tree("dir", "config.json, model.safetensors (F32), tokenizer.json, "+
			"tokenizer_config.json, and chat_template.jinja if the model has a chat template.")},
		Toolchains: []string{onnxToolchain},
		Example:    `step "hf_folder" "smollm2" { model = "models/SmolLM2-135M-Instruct.Q4_1.gguf" }`,
	}
}

// Plan plans one action.
func (h HFFolder) Plan(p *step.Plan) {
	a := program(p, onnxToolchain, "write a Hugging Face folder", args{"model": h.Model, "out": "dir"}, "hf_folder")
	p.Tree("dir", a.OutTree("dir"))
}
