package steps

import (
	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/simulated/mllm/toymodel"
)

// ToyModel holds the arguments of a toy_model step.
type ToyModel struct{ toymodel.MakeSpec }

func toyModelSchema() step.Schema {
	return step.Schema{
		Summary: "Writes a small model of one of mllm's architectures with seeded weights, in the Hugging Face layout.",
		ArgDocs: map[string]string{
			"seed": "Seed of the weights.",
			"architecture": "Architecture: qwen3, qwen2 (without head norms, with biases) or llama (without both). " +
				"qwen2 and llama need block_size 32.",
			"layers":     "Number of transformer layers.",
			"block_size": "Block size, `linear_block_size` in config.json.",
		},
		Outputs: []step.OutputSpec{{Name: "dir", Class: action.Tree, Doc: "config.json, tokenizer.json, " +
			"model.safetensors"}},
		Example: `step "toy_model" "toy" { seed = 79 }`,
	}
}

// Plan plans one action.
func (m ToyModel) Plan(p *step.Plan) {
	m.Out = "dir"
	p.Tree("dir", step.Tool(p, "", "make seeded weights", toymodel.MakeTool, m.MakeSpec).OutTree(m.Out))
}
