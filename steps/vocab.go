package steps

import (
	"path"

	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/model/vocab"
)

// Vocab holds the arguments of a vocab step.
type Vocab struct {
	Tokenizer step.Path `arg:"tokenizer,required"`
}

func vocabSchema() step.Schema {
	return step.Schema{
		Summary: "Writes the vocabulary and merges for mllm v1's programs from a tokenizer.json.",
		ArgDocs: map[string]string{
			"tokenizer": "The model's tokenizer.json, or a folder with it.",
		},
		Outputs: []step.OutputSpec{
			step.File("vocab", "The vocabulary, such as qwen_vocab.mllm."),
			step.File("merges", "The merges, such as qwen_merges.txt. Without them mllm's programs print \"merge "+
				"file is broken\"."),
		},
		Example: `step "vocab" "qwen" {
  tokenizer = "Qwen1.5-1.8B-Chat/tokenizer.json"
}`,
	}
}

// Plan plans one action.
func (v Vocab) Plan(p *step.Plan) {
	s := vocab.Spec{Tokenizer: v.Tokenizer.InRoot(), Vocab: "vocab.mllm", Merges: "merges.txt"}
	if path.Ext(s.Tokenizer) != ".json" {
		s.Tokenizer += "/tokenizer.json"
	}
	a := step.Tool(p, "", "write vocabulary and merges for mllm v1", vocab.Tool, s).In(v.Tokenizer.Input())
	p.File("vocab", a.Out(s.Vocab))
	p.File("merges", a.Out(s.Merges))
}
