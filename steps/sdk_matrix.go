package steps

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/internal/version"
	"github.com/hexmage/hexmage/oppackage"
	"github.com/hexmage/hexmage/patches"
	"github.com/hexmage/hexmage/steps/probe"
)

// SDKMatrix are the arguments of kind sdk_matrix: it compiles an op package with one SDK, or puts the results of
// several SDKs into a table.
type SDKMatrix struct {
	Source step.Path `arg:"source"`
	opFlags
	Targets []string             `arg:"targets"`
	HVX     string               `arg:"hvx"`
	Tools   string               `arg:"tools_version"`
	Cells   map[string]step.Path `arg:"cells"`
	Title   string               `arg:"title"`
}

func sdkMatrixSchema() step.Schema {
	return step.Schema{
		Summary: "With `source`: compiles each source of an op package for each target with one SDK. With `cells`: " +
			"puts the results of several SDKs into one table. A source that does not compile is not a failure.",
		ArgDocs: withOpDocs(map[string]string{
			"source":        "The op package, as of `oppackage`.",
			"hvx":           "As of `oppackage`.",
			"tools_version": "As of `oppackage`.",
			"targets":       "With `source`: what to compile for, such as htp_aarch64 and htp_v79.",
			"cells":         "Outputs `cells` of other steps of this kind, by the SDK's release.",
			"title":         "Title of the table.",
		}),
		Outputs: []step.OutputSpec{
			optional(step.File("cells", "With `source`: by target how many sources compile, the first error, and the "+
				"rule that fixes it (JSON).")),
			optional(step.Value("found", "The same, for checks: { htp_v79 = { compiled, of, first, rule } }.")),
			optional(step.File("table", "With `cells`: the table (JSON). A line for each SDK, a column for each "+
				"target.")),
		},
		Toolchains: []string{"qairt", "hexagon", "ndk", "llvm"},
		Example: `step "sdk_matrix" "llama" {
  source  = "LLaMAPackage"
  package = "LLaMAPackage"
  targets = ["htp_aarch64", "htp_v79"]
}`,
	}
}

// optional is an output that not each step plans.
func optional(o step.OutputSpec) step.OutputSpec {
	o.Optional = true
	return o
}

// Plan plans the compilations, or the table.
func (m SDKMatrix) Plan(p *step.Plan, all oppackage.Targets) {
	switch {
	case m.Source.IsSet() == (m.Cells != nil):
		p.Fail("", "Sources or a table", "Set source to compile an op package, or cells to make a table.")
	case m.Cells != nil:
		m.table(p)
	default:
		m.probe(p, all)
	}
}

// table plans the table, its lines in the order of releases.
func (m SDKMatrix) table(p *step.Plan) {
	s := probe.MatrixSpec{Title: m.Title, Out: "table.json"}
	var in []action.Input
	for _, sdk := range slices.SortedFunc(maps.Keys(m.Cells), version.Compare) {
		s.SDKs = append(s.SDKs, probe.Of{SDK: sdk, Cells: m.Cells[sdk].InRoot()})
		in = append(in, m.Cells[sdk].Input())
	}
	p.File("table", step.Tool(p, "", "make the table", probe.Matrix, s).In(in...).Out(s.Out))
}

// probe plans a compilation of each source, once they are known.
func (m SDKMatrix) probe(p *step.Plan, all oppackage.Targets) {
	b := newBuild(p, all, opSource{m.Source, m.opFlags}, m.Targets, "targets", m.Tools, m.HVX)
	if p.Failed() {
		return
	}
	b.config = new(string)
	b.probe(b.preview())
	b.await(func(b opBuild, pkg oppackage.Package) error {
		pkg.Interface = "" // a made one is no source of the package
		b.probe(pkg)
		return nil
	})
}

// probe plans the compilations, each by a tool that writes the result in the object's place.
func (b opBuild) probe(pkg oppackage.Package) {
	pkg = b.place(pkg)
	s := probe.GatherSpec{Results: map[string][]string{}, Out: path.Join(b.p.At.Dir(), "cells.json")}
	rules := patches.Digest()
	var results []action.Input
	for _, a := range b.arches {
		compiles, _ := oppackage.Lines(a, pkg, b.roots)
		for _, c := range compiles {
			rel := strings.TrimPrefix(c.Source, pkg.Dir+"/")
			try := probe.CompileSpec{Args: c.Args, Rules: rules, Out: strings.TrimSuffix(c.Object, ".o") + ".json"}
			act := step.Tool(b.p, a.Target+"/"+rel, "try "+rel+" for "+a.Target, probe.Compile, try)
			b.compiler(act)
			b.reads(act.In(b.source.Below(rel)), a, pkg)
			s.Results[a.Target] = append(s.Results[a.Target], try.Out)
			results = append(results, act.Out(try.Out).As(try.Out))
		}
	}
	cells := step.Tool(b.p, "cells", "sum up what compiles", probe.Gather, s).In(results...).Out(s.Out)
	b.p.File("cells", cells)
	b.p.Output("found", action.Value, cells)
}
