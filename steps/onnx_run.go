package steps

import (
	"maps"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
)

// Said are the arguments of the kinds that run graphs: a language model answers a prompt, any other graph gets samples.
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
		"prompt":  "What a language model is asked, put into its chat template.",
		"system":  "What the template's system message says, if anything.",
		"tokens":  "Tokens of the answer, at most; it ends before where the model says so. With the prompt they must fit into the cache.",
		"text":    "A text file that the model reads, as much as its cache holds, to compare what it thinks of each token. By default a few lines of ours.",
		"choices": "Whether a language model answers three dozen questions of ours, too: which of three words goes on with a sentence.",
		"inputs":  "For any other graph, in place of a prompt: a folder of samples, *.npz files with the graph's inputs by name.",
	}
	maps.Copy(docs, more)
	return docs
}

func saidOutputs() []step.OutputSpec {
	return []step.OutputSpec{
		{Name: "dir", Class: action.Tree, Doc: "said.json: prompt, tokens and words, and with `choices` which word was taken for the likeliest, of each question, 0 being right; said.npy and text.npy: logits before each token of the answer, and after each of the text. Of samples: their outputs, by the samples' names."},
		{Name: "words", Class: action.Value, Doc: "The same as said.json, for checks and other steps; of samples how many there were."},
		{Name: "times", Class: action.File, Doc: "Seconds a chunk of the prompt and a token of the answer, or a sample (JSON)."},
	}
}

// plan plans the run, nil where it cannot; more are arguments for the vendor's emulator, nil for ONNX Runtime's own kernels.
func (s Said) plan(p *step.Plan, graphs step.Path, more map[string]any) *step.Action {
	if (s.Prompt == "") != s.Inputs.IsSet() {
		p.Fail("prompt", "Neither prompt nor inputs, or both", "A language model takes a prompt, any other graph inputs: a folder of samples.")
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
		on, programs = "on the vendor's emulator", []string{"guarded", of}
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
		Summary: "Runs graphs on ONNX Runtime's own kernels, on this machine's CPU: the reference for what an NPU says. A language model answers a prompt.",
		ArgDocs: saidDocs(map[string]string{"graphs": "What `onnx_llm` or `onnx_quantize` made, or any ONNX graph."}),
		Outputs: saidOutputs(), Toolchains: []string{onnxToolchain},
		Example: `step "onnx_run" "float" {
  graphs = step.onnx_llm.smollm2.outputs.dir
  prompt = "What is the capital of France?"
}`,
	}
}

// Plan plans the answering.
func (o ONNXRun) Plan(p *step.Plan) { o.plan(p, o.Graphs, nil) }
