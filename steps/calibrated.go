package steps

import (
	"maps"

	"github.com/hexmage/hexmage/internal/step"
)

// Calibrated are the arguments of the kinds that let a quantiser of somebody else's look at what graphs are given.
type Calibrated struct {
	Graphs      step.Path `arg:"graphs,required"`
	Calibration step.Path `arg:"calibration"`
	Samples     int       `arg:"samples" default:"12" range:"1..4096"`
}

func calibratedDocs(more map[string]string) map[string]string {
	docs := map[string]string{
		"graphs":      "What `onnx_llm` made, or any float ONNX graph with fixed shapes: the file, or a folder with it. With its tensors a graph has 1.9 GB at most.",
		"calibration": "Of a language model a text file, a prompt a line; by default a dozen lines of ours. Of any other graph a folder of samples: *.npz files with its inputs by name.",
		"samples":     "Lines that are taken, from the first.",
	}
	maps.Copy(docs, more)
	return docs
}

// quantise plans two actions: what the graphs are given, in the environment that knows tokens, and the program that quantises, in its own.
func (c Calibrated) quantise(p *step.Plan, environment, description, of string, args map[string]any) *step.Action {
	at, in := text(p, c.Calibration, "calibration.txt")
	given := program(p, "let graphs read, to calibrate", map[string]any{"graphs": c.Graphs.InRoot(), "calibration": at, "samples": c.Samples, "out": "samples"}, false, "onnx_samples").
		In(c.Graphs.Input(), in)
	given.Name = "samples"
	computes(p, given)
	samples := given.OutTree("samples")
	args["graphs"], args["samples"], args["out"] = c.Graphs.InRoot(), "samples", "dir"
	return computes(p, programIn(p, environment, description, args, of)).In(c.Graphs.Input(), samples.As("samples"))
}
