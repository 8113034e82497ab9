package steps

import (
	"maps"
	"slices"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/internal/version"
	"github.com/hexmage/hexmage/steps/probe"
)

// SDKMatrix are the arguments of kind sdk_matrix.
type SDKMatrix struct {
	Cells map[string]step.Path `arg:"cells,required"`
	Title string               `arg:"title"`
}

func sdkMatrixSchema() step.Schema {
	return step.Schema{
		Summary: "Puts what several SDKs compile of an op package into one table: a line for each SDK, a column for each target, and of what does not compile the first error and the rule that mends it.",
		ArgDocs: map[string]string{
			"cells": "By the SDK's release, the outputs `cells` of `oppackage_probe`.",
			"title": "What stands over the table.",
		},
		Outputs: []step.OutputSpec{{Name: "table", Class: action.File, Doc: "The table (JSON)."}},
		Example: `step "sdk_matrix" "llama" {
  cells = { "2.41.0.251128" = step.oppackage_probe.llama.outputs.cells }
}`,
	}
}

// Plan plans the table, its lines in the order of releases.
func (m SDKMatrix) Plan(p *step.Plan) {
	s := probe.MatrixSpec{Title: m.Title, Out: "table.json"}
	var in []action.Input
	for _, sdk := range slices.SortedFunc(maps.Keys(m.Cells), version.Compare) {
		s.SDKs = append(s.SDKs, probe.Of{SDK: sdk, Cells: m.Cells[sdk].InRoot()})
		in = append(in, m.Cells[sdk].Input())
	}
	p.File("table", step.Tool(p, "", "make the table", probe.Matrix, s).In(in...).Out(s.Out))
}
