package steps

import (
	"maps"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
)

// Said holds arguments that several kinds of steps share: a prompt for a language model, or samples for any other
// graph.
type Said struct {
	Prompt  string    `arg:"prompt"`
	System  string    `arg:"system"`
	Tokens  int       `arg:"tokens" default:"16" range:"1..4096"`
	Text    step.Path `arg:"text"`
	Choices bool      `arg:"choices"`
	Inputs  step.Path `arg:"inputs"`
}

func saidDocs(docs map[string]string) map[string]string {
	maps.Copy(docs, map[string]string{
		"prompt": "Prompt for a language model. The step puts it into the model's chat template.",
		"system": "System message of the chat template.",
		"tokens": "Maximum number of tokens of the answer. Prompt and answer must fit into the cache.",
		"text": "Text file for perplexity and logits. The step reads as much as the cache holds. Default: a few " +
			"lines from hexmage.",
		"choices": "Whether to also answer three dozen multiple-choice questions: which of three words continues a " +
			"sentence.",
		"inputs": "Samples for any other graph: folder of *.npz files with the graph's inputs by name.",
	})
	return docs
}

func saidOutputs() []step.OutputSpec {
	return []step.OutputSpec{
		step.Tree("dir", "said.json: prompt, tokens, text, and with `choices` the chosen word per question (0 is "+
			"right). said.npy: logits before each token of the answer. text.npy: logits after each token of the "+
			"text. With samples: their outputs, by the samples' names."),
		step.Value("words", "The content of said.json, for checks and other steps. With samples: their number."),
		step.File("times", "Seconds per prefill call and per token of the answer, or per sample (JSON)."),
	}
}

// program returns the program that runs graphs, and its arguments.
func (s Said) program(p *step.Plan, graphs step.Path) (args, string) {
	if (s.Prompt == "") != s.Inputs.IsSet() {
		p.Fail("prompt", "Conflicting prompt and inputs",
			"prompt, inputs: set exactly one. Use prompt for a language model, inputs for any other graph.")
	}
	given := args{"graphs": graphs, "out": "dir", "said": "said.json", "times": "times.json"}
	if s.Inputs.IsSet() {
		given["inputs"] = s.Inputs
		return given, "onnx_apply"
	}
	given["prompt"], given["tokens"], given["text"] = s.Prompt, s.Tokens, text(p, s.Text, "reading.txt")
	if s.Choices {
		given["choices"] = text(p, step.Path{}, "choices.txt")
	}
	if s.System != "" {
		given["system"] = s.System
	}
	return given, "onnx_say"
}

// outputs sets the step's outputs from the action that runs the program.
func (s Said) outputs(p *step.Plan, a *step.Action) {
	p.Tree("dir", a.OutTree("dir"))
	p.Output("words", action.Value, a.Out("said.json"))
	p.File("times", a.Out("times.json"))
	a.Vary(measured, "times.json")
}

// ONNXRun holds the arguments of an onnx_run step.
type ONNXRun struct {
	Graphs step.Path `arg:"graphs,required"`
	Said
}

func onnxRunSchema() step.Schema {
	return step.Schema{
		Summary: "Runs graphs on ONNX Runtime's CPU kernels, as a reference for the NPU. A language model answers " +
			"a prompt.",
		ArgDocs:    saidDocs(map[string]string{"graphs": "Graphs of `onnx_llm` or `onnx_quantize`, or any graph."}),
		Outputs:    saidOutputs(),
		Toolchains: []string{onnxToolchain},
		Example: `step "onnx_run" "float" {
  graphs = step.onnx_llm.smollm2.outputs.dir
  prompt = "Name the capital of France."
}`,
	}
}

// Plan plans the run.
func (o ONNXRun) Plan(p *step.Plan) {
	given, of := o.program(p, o.Graphs)
	o.outputs(p, computes(p, program(p, onnxToolchain, "run on the CPU", given, of)))
}
