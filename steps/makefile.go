package steps

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/oppackage"
	"github.com/hexmage/hexmage/oppackage/opconfig"
)

// Makefile holds the arguments of a makefile step.
type Makefile struct {
	opSource
	Targets []string `arg:"targets"`
	HVX     string   `arg:"hvx"`
	Config  string   `arg:"config"`
}

const makefileName = "Makefile"

func makefileSchema() step.Schema {
	return step.Schema{
		Summary: "Writes a standalone Makefile for an op package, beside a copy of its sources.",
		ArgDocs: withOpDocs(map[string]string{
			"source":  "Folder of the package: an output of another step, or a folder of the workspace.",
			"targets": "Targets of the Makefile. Default: all targets with a known compiler.",
			"hvx":     "Default of the Makefile's variable HVX: an HVX version, such as v66, or compiler flags.",
			"config": "Path of the op config that gives the interface of a package without src/*.cpp. Default: the " +
				"only one in config/, or the one there with HTP in its name.",
		}),
		Outputs: []step.OutputSpec{step.Tree("dir", "The package's files with the Makefile, ready for make.")},
		Example: `step "makefile" "llama" {
  source = step.patch.ops.outputs.dir
}`,
	}
}

// Plan plans the actions when the source's files are known. If an op changes, the action that writes the Makefile stays
// cached.
func (m Makefile) Plan(p *step.Plan, all oppackage.Targets) {
	if err := all.CheckHVX(m.HVX); err != nil {
		p.Fail("hvx", "Unknown HVX version", "%v.", err)
	}
	arches, err := all.Default()
	if err == nil && len(m.Targets) > 0 {
		arches, err = all.Select(m.Targets)
	}
	if err != nil {
		p.Fail("targets", "Unknown target", "%v.", err)
	}
	m.validate(p)
	extras, _ := m.extras(p, all)
	if p.Failed() {
		return
	}
	m.write(p, oppackage.Package{Name: cmp.Or(m.Package, "*"), Extras: extras}, arches)
	p.Await([]action.Input{m.Source.Input()}, func(p *step.Plan, l action.Listing) error {
		pkg, m := oppackage.Package{Files: listed(m.Source, l), Extras: extras}, m
		var err error
		if m.Config == "" {
			if m.Config, err = opconfig.File(pkg.Files); err != nil {
				return err
			}
		}
		if pkg.Name, err = oppackage.FindName(m.Package, pkg.Files); err != nil {
			return err
		}
		if err := pkg.Validate(); err != nil {
			return err
		}
		m.write(p, pkg, arches)
		return nil
	})
}

// write plans the actions and the output: the source without its own Makefile, plus the generated one.
func (m Makefile) write(p *step.Plan, pkg oppackage.Package, arches []oppackage.Arch) {
	at := addrs.Output{Instance: p.At, Name: "dir"}.Path()
	s := oppackage.Spec{Package: pkg.Name, Arches: arches, HVX: m.HVX, Extras: pkg.Exact(), Out: at}
	a := step.Tool(p, makefileName, "write the Makefile", oppackage.Tool, s)
	made := a.SetEnv(p.Env).Out(path.Join(at, makefileName)).As(makefileName)
	var parts []action.Input
	if !slices.Contains(pkg.Files, makefileName) {
		parts = append(parts, m.Source.As(""))
	} else {
		var tops []string
		for _, f := range pkg.Files {
			top, _, _ := strings.Cut(f, "/")
			tops = append(tops, top)
		}
		slices.Sort(tops)
		for _, top := range slices.Compact(tops) {
			if top != makefileName {
				parts = append(parts, m.Source.Below(top).As(top))
			}
		}
	}
	parts = append(parts, made)
	if pkg.Files != nil && !oppackage.HasInterface(pkg.Files) {
		source := "src/" + pkg.Name + "Interface.cpp"
		pkg.Interface = path.Join(at, source)
		parts = append(parts, opBuild{p: p, source: m.Source, config: &m.Config}.makeInterface(pkg).As(source))
	}
	p.Tree("dir", parts...)
}
