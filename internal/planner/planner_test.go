package planner_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"
	"golang.org/x/tools/txtar"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/planner"
	"github.com/hexmage/hexmage/internal/step"
)

var update = flag.Bool("update", false, "write what came out into testdata")

func kindsForTest() map[string]step.Kind {
	return map[string]step.Kind{"exec": step.New(step.Schema{OwnOutputs: true, Secrets: true}, command.plan),
		addrs.Toolchain: sdk{}, "compile": compile{}, "patch": patch{}, "aim": aim{}}
}

// command makes one action, whose inputs are what the arguments refer to, and files.
type command struct {
	Argv    []string `arg:"argv,required,nonull"`
	Inputs  []string `arg:"inputs"`
	Stdin   string   `arg:"stdin"`
	Network bool     `arg:"network"`
}

func (c command) plan(p *step.Plan) {
	a := p.Action("", "", c.Argv...)
	a.Env, a.Stdin = p.Env, c.Stdin
	seen := make(map[string]bool)
	add := func(in action.Input) {
		if !seen[in.Path] {
			seen[in.Path] = true
			a.Inputs = append(a.Inputs, in)
		}
	}
	for _, u := range p.Uses {
		add(action.Input{Path: u.Output.Path(), Artifact: u.Output, Shared: u.Output.Kind == addrs.Toolchain})
	}
	for _, name := range append(c.Inputs, c.Stdin) {
		if name != "" && !strings.HasPrefix(name, "steps/") { // there are the outputs
			add(action.Input{Path: strings.TrimPrefix(name, "/"), Host: &action.HostPath{Path: name}})
		}
	}
	if c.Network {
		a.Set(action.PropertyNetwork, "true")
	}
	for property, text := range p.Secrets {
		a.Set(property, text)
	}
	for _, o := range p.Outputs {
		a.Outputs = append(a.Outputs, action.Output{Path: o.Path, Tree: o.Class == action.Tree})
		p.Output(o.Name, o.Class, action.Input{Spec: &action.SpecOutput{Path: o.Path}})
	}
}

// sdk is a toolchain of which the version is known at plan time.
type sdk struct{}

func (sdk) Schema() step.Schema {
	return step.Schema{
		Args: hcldec.ObjectSpec{
			"version": &hcldec.AttrSpec{Name: "version", Type: cty.String, Required: true},
			"release": &hcldec.AttrSpec{Name: "release", Type: cty.String},
			"host":    &hcldec.AttrSpec{Name: "host", Type: cty.String},
		},
		Outputs: []step.OutputSpec{{Name: "dir", Class: action.Tree}},
	}
}

func (sdk) Plan(r step.Request) (step.Planned, hcl.Diagnostics) {
	args := []string{action.ToolArg0, "tool", "get", r.At.Name, r.Args["version"].AsString()}
	if v := r.Args["release"]; !v.IsNull() {
		args = append(args, v.AsString())
	}
	var ins []action.Input
	for _, u := range r.Uses {
		ins = append(ins, action.Input{Path: u.Output.Path(), Artifact: u.Output, Shared: true})
	}
	return step.Planned{
		Specs: []action.Spec{{Args: args, Inputs: ins, Outputs: []action.Output{{Path: "out", Tree: true}}}},
		Outputs: map[string]action.Artifact{"dir": {Class: action.Tree,
			Parts: []action.Input{{Spec: &action.SpecOutput{Path: "out"}}}}},
		Attrs: map[string]cty.Value{"version": r.Args["version"]},
	}, nil
}

// patch has one required argument and one tree. It takes toolchain git for a source that is a repository.
type patch struct{}

func (patch) Schema() step.Schema {
	return step.Schema{
		Args:    hcldec.ObjectSpec{"source": &hcldec.AttrSpec{Name: "source", Type: cty.String, Required: true}},
		Outputs: []step.OutputSpec{{Name: "dir", Class: action.Tree}}, Toolchains: []string{"git"},
	}
}

func (patch) Plan(r step.Request) (step.Planned, hcl.Diagnostics) {
	in := action.Input{Path: "src"}
	if len(r.Uses) > 0 {
		in.Artifact = r.Uses[0].Output
	} else {
		in.Host = &action.HostPath{Path: r.Args["source"].AsString()}
	}
	ins := []action.Input{in}
	if git, ok := r.Toolchains["git"]; ok && strings.HasSuffix(r.Args["source"].AsString(), ".git") {
		ins = append(ins, git.Input())
	}
	return step.Planned{
		Specs: []action.Spec{{Args: []string{action.ToolArg0, "tool", "patch"}, Inputs: ins,
			Outputs: []action.Output{{Path: "out", Tree: true}}}},
		Outputs: map[string]action.Artifact{"dir": {Class: action.Tree,
			Parts: []action.Input{{Spec: &action.SpecOutput{Path: "out"}}}}},
	}, nil
}

// aim needs the target.
type aim struct{}

func (aim) Schema() step.Schema { return step.Schema{Args: hcldec.ObjectSpec{}} }

func (aim) Plan(r step.Request) (step.Planned, hcl.Diagnostics) {
	if r.Target.IsNull() {
		return step.Planned{}, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "No target",
			Detail: "Add a target block.", Subject: &r.Range}}
	}
	return step.Planned{}, nil
}

// compile makes one action per source file and target, once the sources are there; it uses toolchain llvm by itself.
type compile struct{}

func (compile) Schema() step.Schema {
	return step.Schema{
		Args: hcldec.ObjectSpec{
			"source":  &hcldec.AttrSpec{Name: "source", Type: cty.String, Required: true},
			"targets": &hcldec.AttrSpec{Name: "targets", Type: cty.List(cty.String), Required: true},
		},
		OutputsFrom: "targets", Toolchains: []string{"llvm"},
	}
}

func (compile) Plan(r step.Request) (step.Planned, hcl.Diagnostics) {
	src := *r.Uses[0].Output
	make1 := func(files []string) ([]action.Spec, map[string]action.Artifact, error) {
		var specs []action.Spec
		outs := make(map[string]action.Artifact)
		for _, t := range r.Args["targets"].AsValueSlice() {
			target := t.AsString()
			for _, f := range files {
				specs = append(specs, action.Spec{Name: target + "/" + f, Args: []string{"clang", "-c", "src/" + f},
					Inputs: []action.Input{{Path: "src/" + f, Artifact: &src, Sub: f}, r.Toolchains["llvm"].Input()}})
			}
			outs[target] = action.Artifact{Class: action.File,
				Parts: []action.Input{{Spec: &action.SpecOutput{Spec: target + "/" + files[0], Path: target}}}}
		}
		return specs, outs, nil
	}
	specs, outs, _ := make1([]string{"*"})
	return step.Planned{Specs: specs, Outputs: outs, Await: []action.Input{{Path: "src", Artifact: &src}},
			Expand: func(l action.Listing) ([]action.Spec, map[string]action.Artifact,
				error) {
				return make1(l["src"])
			}},
		nil
}

func boards(name string, args map[string]lang.Argument) (cty.Value, hcl.Diagnostics) {
	cores := map[string]string{"Alpha7": "v15", "Beta7": "v16", "8a": "v15", "8b": "v16"}
	if cores[name] == "" {
		return cty.UnknownVal(cty.DynamicPseudoType),
			hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Unknown board",
				Detail: "There is no " + name + ". Did you mean Alpha7?"}}
	}
	attrs := map[string]cty.Value{"core": cty.StringVal(cores[name]), "number": cty.NumberIntVal(69)}
	for argument, v := range args {
		attrs[argument] = v.Value
	}
	return cty.ObjectVal(attrs), nil
}

// load plans the pipeline named p of the archive's files. Its comment may hold "profile=x", "var x=1" and "env x=1"
// lines.
func load(t testing.TB, a *txtar.Archive) (*plan.Plan, *planner.Resolver, hcl.Diagnostics, *config.Pipeline) {
	t.Helper()
	o := unpack(t, a)
	cfg, diags := config.Load(os.DirFS(o.Workspace), "p", nil)
	if diags.HasErrors() {
		return nil, nil, diags, cfg
	}
	o.Config = cfg
	p, x, ds := planner.Plan(o)
	return p, x, append(diags, ds...), cfg
}

// unpack returns the options to plan the archive's pipeline with, but for its configuration.
func unpack(t testing.TB, a *txtar.Archive) planner.Options {
	t.Helper()
	dir := t.TempDir()
	for _, f := range a.Files {
		if strings.HasPrefix(f.Name, "want") {
			continue
		}
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	o := planner.Options{Kinds: kindsForTest(), Targets: boards, Workspace: dir, EnvVars: map[string]string{},
		FlagVars: map[string]string{}}
	for _, line := range strings.Split(string(a.Comment), "\n") {
		key, value, _ := strings.Cut(line, "=")
		switch word, name, _ := strings.Cut(key, " "); word {
		case "profile":
			o.Profile = value
		case "var":
			o.FlagVars[name] = value
		case "target":
			o.TargetNames = append(o.TargetNames, value)
		case "env":
			o.EnvVars[name] = value
		}
	}
	return o
}

// Every testdata/*.txtar has the files of a workspace, and what must come out: the plan as text, as mermaid, or the
// diagnostics.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no goldens: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			p, _, diags, cfg := load(t, a)
			got := map[string]string{}
			if len(diags) > 0 {
				got["want.diagnostics"] = config.Render(diags, cfg.Files, 100, false)
			}
			if p != nil {
				got["want.plan"] = plan.Text(p, plan.Notes{})
				got["want.mermaid"] = plan.Mermaid(p)
				for _, f := range a.Files { // the longer forms only where the golden asks for them
					switch f.Name {
					case "want.json":
						got[f.Name] = jsonText(t, wholeJSON, p)
					case "want.graph.json":
						got[f.Name] = jsonText(t, plan.GraphJSON, p)
					}
				}
			}
			if (p == nil) != diags.HasErrors() {
				t.Fatalf("plan %v with diagnostics %v", p, diags)
			}
			compare(t, file, a, got)
		})
	}
}

// loadAndBuild plans a pipeline that is not read yet.
func loadAndBuild(workspace fs.FS, name string,
	o planner.Options) (*plan.Plan, *planner.Resolver, *config.Pipeline, hcl.Diagnostics) {
	cfg, diags := config.Load(workspace, name, nil)
	if diags.HasErrors() {
		return nil, nil, cfg, diags
	}
	o.Config = cfg
	p, x, ds := planner.Plan(o)
	return p, x, cfg, append(diags, ds...)
}

func wholeJSON(p *plan.Plan) ([]byte, error) { return plan.JSON(p, nil) }

func jsonText(t *testing.T, f func(*plan.Plan) ([]byte, error), p *plan.Plan) string {
	t.Helper()
	b, err := f(p)
	if err != nil || bytes.ContainsRune(b, '\n') {
		t.Fatalf("%v, or more than a line:\n%s", err, b)
	}
	var text bytes.Buffer
	if err := json.Indent(&text, b, "", "  "); err != nil {
		t.Fatal(err)
	}
	return text.String() + "\n"
}

func compare(t *testing.T, file string, a *txtar.Archive, got map[string]string) {
	t.Helper()
	if *update {
		kept := a.Files[:0]
		for _, f := range a.Files {
			if !strings.HasPrefix(f.Name, "want") {
				kept = append(kept, f)
			}
		}
		a.Files = kept
		for _, name := range []string{"want.diagnostics", "want.plan", "want.mermaid", "want.json", "want.graph.json"} {
			if s, ok := got[name]; ok {
				a.Files = append(a.Files, txtar.File{Name: name, Data: []byte(s)})
			}
		}
		if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, f := range a.Files {
		if !strings.HasPrefix(f.Name, "want") {
			continue
		}
		if got[f.Name] != string(f.Data) {
			t.Errorf("%s differs.\ngot:\n%s\nwant:\n%s", f.Name, got[f.Name], f.Data)
		}
		delete(got, f.Name)
	}
	for name, s := range got {
		t.Errorf("%s is not wanted:\n%s", name, s)
	}
}
