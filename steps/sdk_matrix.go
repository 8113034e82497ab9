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

// SDKMatrix holds the arguments of an sdk_matrix step, which compiles an op package with one SDK.
type SDKMatrix struct {
	opSource
	Targets []string `arg:"targets,required"`
	HVX     string   `arg:"hvx"`
	Tools   string   `arg:"tools_version"`
}

func sdkMatrixSchema() step.Schema {
	return step.Schema{
		Summary: "Compiles each source of an op package for each target with one SDK. A compilation error does not " +
			"fail the step.",
		ArgDocs: withOpDocs(map[string]string{
			"source":        "Folder of the op package, as in `oppackage`.",
			"targets":       "Targets to compile for, such as htp_aarch64 and htp_v79.",
			"hvx":           "HVX version or compiler flags, as in `oppackage`.",
			"tools_version": "Version of the Hexagon tools, as in `oppackage`.",
		}),
		Outputs: []step.OutputSpec{step.Value("found", "For each target: number of sources that compile, number "+
			"of all sources, first error, and the rule that fixes it. { htp_v79 = { compiled, of, first, rule } }.")},
		Toolchains: []string{"qairt", "hexagon", "ndk", "llvm"},
		Example: `step "sdk_matrix" "llama" {
  source  = "LLaMAPackage"
  package = "LLaMAPackage"
  targets = ["htp_aarch64", "htp_v79"]
}`,
	}
}

// Plan plans one compilation for each source when the sources are known.
func (m SDKMatrix) Plan(p *step.Plan, all oppackage.Targets) {
	b := newBuild(p, all, m.opSource, m.Targets, "targets", m.Tools, m.HVX)
	if p.Failed() {
		return
	}
	b.config = new(string)
	b.probe(b.preview())
	b.await(func(b opBuild, pkg oppackage.Package) error {
		pkg.Interface = "" // a generated interface is not a source of the package
		b.probe(pkg)
		return nil
	})
}

// probe plans the compilations. A tool runs each one and writes the result in place of the object.
func (b opBuild) probe(pkg oppackage.Package) {
	pkg = b.place(pkg)
	s := probe.GatherSpec{Results: map[string][]string{}, Out: path.Join(b.p.At.Dir(), "found.json")}
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
	found := step.Tool(b.p, "found", "sum up what compiles", probe.Gather, s).In(results...).Out(s.Out)
	b.p.Output("found", action.Value, found)
}
