package steps

import (
	"path"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/oppackage"
	"github.com/hexmage/hexmage/patches"
	"github.com/hexmage/hexmage/steps/probe"
)

// OpProbe are the arguments of kind oppackage_probe.
type OpProbe struct {
	opSource
	Targets []string `arg:"targets,required"`
	HVX     string   `arg:"hvx"`
	Tools   string   `arg:"tools_version"`
}

func opProbeSchema() step.Schema {
	return step.Schema{
		Summary: "Compiles every source of an op package for every target with one SDK, and says what compiles and which line does not. What does not is no failure.",
		ArgDocs: withOpDocs(map[string]string{
			"source":        "As of `oppackage`.",
			"targets":       "What to compile for: htp_aarch64, htp_v79, …",
			"hvx":           "As of `oppackage`.",
			"tools_version": "As of `oppackage`.",
		}),
		Outputs: []step.OutputSpec{
			{Name: "cells", Class: action.File, Doc: "By target how many sources compile, the first error, and the rule that mends it (JSON): for `sdk_matrix`."},
			{Name: "found", Class: action.Value, Doc: "The same, for checks: { htp_v79 = { compiled, of, first, rule } }."},
		},
		Toolchains: []string{"qairt", "hexagon", "ndk", "llvm"},
		Example: `step "oppackage_probe" "llama" {
  source  = "LLaMAPackage"
  package = "LLaMAPackage"
  targets = ["htp_aarch64", "htp_v79"]
}`,
	}
}

// Plan plans a compilation of each source, once they are known.
func (o OpProbe) Plan(p *step.Plan, all oppackage.Targets) {
	if err := all.CheckHVX(o.HVX); err != nil {
		p.Fail("hvx", "Unknown HVX version", "%v.", err)
		return
	}
	b := newBuild(p, all, o.opSource, o.Targets, "targets", o.Tools)
	if p.Failed() {
		return
	}
	b.hvx, b.config = oppackage.HVXFlags(o.HVX), new(string)
	b.probe(b.preview())
	p.Await(b.trees(), func(p *step.Plan, l action.Listing) error {
		b := b.on(p)
		pkg, err := b.find(l)
		if err != nil {
			return err
		}
		pkg.Interface = "" // a made one is no source of the package
		b.probe(pkg)
		return nil
	})
}

// probe plans the compilations, each by a tool that says what came of it in the object's place.
func (b opBuild) probe(pkg oppackage.Package) {
	pkg = b.place(pkg)
	rules := patches.Digest()
	var results []string
	var said []action.Input
	for _, a := range b.arches {
		compiles, _ := oppackage.Lines(a, pkg, b.roots)
		for _, c := range compiles {
			rel := strings.TrimPrefix(c.Source, pkg.Dir+"/")
			s := probe.CompileSpec{Args: c.Args, Target: a.Target, Source: rel, Rules: rules, Out: strings.TrimSuffix(c.Object, ".o") + ".json"}
			act := step.Tool(b.p, a.Target+"/"+rel, "try "+rel+" for "+a.Target, probe.Compile, s).In(b.source.Below(rel))
			b.compiler(act)
			b.reads(act, a, pkg)
			results, said = append(results, s.Out), append(said, act.Out(s.Out).As(s.Out))
		}
	}
	out := path.Join(b.p.At.Dir(), "cells.json")
	cells := step.Tool(b.p, "cells", "see what compiles", probe.Gather, probe.GatherSpec{Results: results, Out: out}).In(said...).Out(out)
	b.p.File("cells", cells)
	b.p.Output("found", action.Value, cells)
}
