package steps

import (
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
)

// The programs that a bundle takes along, with what they import: for boards, and for phones, which have no Python.
const (
	boardProgram = "board"
	phoneProgram = "phone"
)

// Bundle are the arguments of kind bundle.
type Bundle struct {
	Context  step.Path   `arg:"context,required"`
	Model    step.Path   `arg:"model,required"`
	Licences []step.Path `arg:"licences"`
}

func bundleSchema() step.Schema {
	return step.Schema{
		Summary: "Puts what a phone or board needs to run a compiled language model into one folder, in onnxruntime-genai's layout; none of the vendor's libraries.",
		ArgDocs: map[string]string{
			"context":  "What `htp_context` made of a language model.",
			"model":    "What `onnx_llm` made the graphs of: it knows its special tokens, how to generate, and its licence.",
			"licences": "Files with the texts of the model's licence, or folders of them, where the model's own folder has none.",
		},
		Outputs:    []step.OutputSpec{{Name: "dir", Class: action.Tree, Doc: "The shared context with its EP-context graphs, genai_config.json with the two graphs that its pipeline needs beside them, tokenizer, generation_config.json, licences, manifest.json with the oldest runtime, run.sh, and run/, with board.py, and phone.c and phone.py for phones."}},
		Toolchains: []string{onnxToolchain, htpToolchain},
		Example: `step "bundle" "lpbq" {
  context = step.htp_context.lpbq.outputs.dir
  model   = "models/SmolLM2-135M-Instruct"
}`,
	}
}

// Plan plans the putting together, one action. Of the vendor's libraries it takes the version, and nothing else.
func (b Bundle) Plan(p *step.Plan) {
	made, _ := step.Decode[struct {
		Version string `arg:"version"`
	}](p.Toolchain(htpToolchain).Attrs)
	run, licences := []string{}, []string{}
	for _, in := range programFiles(p, boardProgram, phoneProgram) {
		run = append(run, strings.TrimPrefix(in.Path, programFolder+"/"))
	}
	inputs := []action.Input{b.Context.Input(), b.Model.Input()}
	for _, l := range b.Licences {
		licences, inputs = append(licences, l.InRoot()), append(inputs, l.Input())
	}
	args := map[string]any{"context": b.Context.InRoot(), "model": b.Model.InRoot(), "licences": licences, "run": run,
		"packages": map[string]string{"onnxruntime-qnn": made.Version}, "out": "dir"}
	p.Tree("dir", program(p, "bundle", args, false, "bundle", boardProgram, phoneProgram).In(inputs...).OutTree("dir"))
}
