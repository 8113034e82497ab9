package steps

import (
	"maps"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
)

// Said are the arguments of kinds that run graphs: a prompt for a language model, samples for any other graph.
type Said struct {
	Prompt  string    `arg:"prompt"`
	System  string    `arg:"system"`
	Tokens  int       `arg:"tokens" default:"16" range:"1..4096"`
	Text    step.Path `arg:"text"`
	Choices bool      `arg:"choices"`
	Inputs  step.Path `arg:"inputs"`
}

func saidDocs(more map[string]string) map[string]string {
	docs := map[string]string{
		"prompt":  "Prompt for a language model, put into its chat template.",
		"system":  "System message of the chat template.",
		"tokens":  "Maximum number of tokens of the answer. With the prompt they must fit into the cache.",
		"text":    "Text file for perplexity and logits, as much as the cache holds; by default a few lines that hexmage has.",
		"choices": "Also answers three dozen multiple-choice questions: which of three words continues a sentence.",
		"inputs":  "Samples for any other graph: a folder of *.npz files with the graph's inputs by name.",
	}
	maps.Copy(docs, more)
	return docs
}

func saidOutputs() []step.OutputSpec {
	return []step.OutputSpec{
		{Name: "dir", Class: action.Tree, Doc: "said.json: prompt, tokens, text, and with `choices` the chosen word per question, 0 being right. said.npy and text.npy: logits before each token of the answer, and after each of the text. For samples their outputs, by the samples' names."},
		{Name: "words", Class: action.Value, Doc: "The same as said.json, for checks and other steps; for samples their number."},
		{Name: "times", Class: action.File, Doc: "Seconds per prefill call and per token of the answer, or per sample (JSON)."},
	}
}

// plan plans the run, nil where it cannot; more has arguments of Qualcomm's emulator, nil for ONNX Runtime's CPU kernels.
func (s Said) plan(p *step.Plan, graphs step.Path, more map[string]any) *step.Action {
	if (s.Prompt == "") != s.Inputs.IsSet() {
		p.Fail("prompt", "Neither prompt nor inputs, or both", "prompt or inputs: set prompt for a language model, inputs for any other graph.")
		return nil
	}
	of, on := "onnx_say", "on the CPU"
	args := map[string]any{"graphs": graphs.InRoot(), "out": "dir", "said": "said.json", "times": "times.json"}
	inputs := []action.Input{graphs.Input()}
	if s.Inputs.IsSet() {
		of = "onnx_apply"
		args["inputs"] = s.Inputs.InRoot()
		inputs = append(inputs, s.Inputs.Input())
	} else {
		at, in := text(p, s.Text, "reading.txt")
		inputs = append(inputs, in)
		args["prompt"], args["tokens"], args["text"] = s.Prompt, s.Tokens, at
		if s.Choices {
			at, in := text(p, step.Path{}, "choices.txt")
			inputs = append(inputs, in)
			args["choices"] = at
		}
		if s.System != "" {
			args["system"] = s.System
		}
	}
	programs := []string{of}
	if maps.Copy(args, more); more != nil {
		args["program"] = of
		on, programs = "on Qualcomm's emulator", []string{"guarded", of}
	}
	a := computes(p, program(p, "run "+on, args, more != nil, programs[0], programs[1:]...)).In(inputs...) // the emulator's graphs may have nodes for the CPU
	p.Tree("dir", a.OutTree("dir"))
	p.Output("words", action.Value, a.Out("said.json"))
	p.File("times", a.Out("times.json"))
	return a.Vary(measured, "times.json")
}

// ONNXRun are the arguments of kind onnx_run.
type ONNXRun struct {
	Graphs step.Path `arg:"graphs,required"`
	Said
}

func onnxRunSchema() step.Schema {
	return step.Schema{
		Summary: "Runs graphs on ONNX Runtime's CPU kernels, as a reference for the NPU. A language model answers a prompt.",
		ArgDocs: saidDocs(map[string]string{"graphs": "Graphs of `onnx_llm` or `onnx_quantize`, or any ONNX graph."}),
		Outputs: saidOutputs(), Toolchains: []string{onnxToolchain},
		Example: `step "onnx_run" "float" {
  graphs = step.onnx_llm.smollm2.outputs.dir
  prompt = "What is the capital of France?"
}`,
	}
}

// Plan plans the run.
func (o ONNXRun) Plan(p *step.Plan) { o.plan(p, o.Graphs, nil) }
