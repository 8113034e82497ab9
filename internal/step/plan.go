package step

import (
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/tool"
)

// New returns the kind whose arguments are the tagged fields of an A, and which plans a step by calling plan. The
// schema says the rest: its Args and Arguments are filled in.
func New[A any](s Schema, plan func(A, *Plan)) Kind {
	args := argumentsOf(reflect.TypeFor[A]())
	s.Args, s.Arguments = args.spec(), args.list(s.ArgDocs)
	return &kind[A]{s, args, plan}
}

type kind[A any] struct {
	schema Schema
	args   *arguments
	plan   func(A, *Plan)
}

func (k *kind[A]) Schema() Schema { return k.schema }

func (k *kind[A]) Plan(r Request) (Planned, hcl.Diagnostics) {
	p := &Plan{Request: r}
	var a A
	if k.args.decode(p, "", r.Args, reflect.ValueOf(&a).Elem()); !p.Failed() {
		k.plan(a, p)
	}
	return p.end()
}

// Decode reads an object, such as that of a target, into a struct with the tags of arguments.
func Decode[A any](v cty.Value) (A, hcl.Diagnostics) {
	var a A
	p := &Plan{}
	if v != cty.NilVal && v.Type().IsObjectType() && !v.IsNull() {
		argumentsOf(reflect.TypeFor[A]()).decode(p, "", v.AsValueMap(), reflect.ValueOf(&a).Elem())
	}
	return a, p.diags
}

// DecodeBody reads a body without references, such as that of a file of data, into a struct with the tags of
// arguments.
func DecodeBody[A any](body hcl.Body) (A, hcl.Diagnostics) {
	v, diags := hcldec.Decode(body, argumentsOf(reflect.TypeFor[A]()).spec(), nil)
	if diags.HasErrors() {
		var none A
		return none, diags
	}
	return Decode[A](v)
}

// Plan is a step being planned: what its kind says with the methods of Plan becomes a Planned. When anything is
// wrong, the rest does not count.
type Plan struct {
	Request
	out     Planned
	actions []*Action
	diags   hcl.Diagnostics
}

func (p *Plan) end() (Planned, hcl.Diagnostics) {
	if p.diags.HasErrors() {
		return Planned{Reads: p.out.Reads}, p.diags
	}
	p.out.Specs = p.specs()
	return p.out, p.diags
}

func (p *Plan) specs() []action.Spec {
	specs := make([]action.Spec, len(p.actions))
	for i, a := range p.actions {
		specs[i] = a.Spec
	}
	return specs
}

// Fail says that something is wrong with an argument, or with the step as a whole where there is no such argument.
func (p *Plan) Fail(arg, summary, detail string, args ...any) {
	p.Report(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(detail, args...),
		Subject: p.ArgRange(arg)})
}

// Shared is the Extra of an error about something outside the step, such as a file: if several steps find it, the
// planner reports one.
type Shared struct{}

// FailOnce is Fail of an error that other steps may find too.
func (p *Plan) FailOnce(arg, summary, detail string) {
	p.Fail(arg, summary, "%s", detail)
	p.diags[len(p.diags)-1].Extra = Shared{}
}

// Report adds errors and warnings.
func (p *Plan) Report(diags ...*hcl.Diagnostic) { p.diags = append(p.diags, diags...) }

// Failed tells whether anything is wrong.
func (p *Plan) Failed() bool { return p.diags.HasErrors() }

// Undeclared is the Extra of an error about a block that a step cannot do without and nobody wrote: who plans many
// steps says it once.
type Undeclared struct {
	By        addrs.Instance
	Toolchain string // "": a target
}

// Toolchain returns a toolchain that the kind cannot do without; that it is not there is an error, which says which
// block to add.
func (p *Plan) Toolchain(name string) Toolchain {
	t, ok := p.Toolchains[name]
	if !ok {
		p.lack(name, "Toolchain not declared", "A step of kind %q needs toolchain %q. Add a block: toolchain %q {}.",
			p.At.Kind, name, name)
	}
	return t
}

// NoTarget says that the step has no target, and its kind cannot do without.
func (p *Plan) NoTarget(detail string, args ...any) { p.lack("", "No target", detail, args...) }

func (p *Plan) lack(toolchain, summary, detail string, args ...any) {
	p.Fail("", summary, detail, args...)
	p.diags[len(p.diags)-1].Extra = Undeclared{p.At, toolchain}
}

// Open opens a file or folder of this machine, at an absolute path or one relative to the workspace. The plan depends
// on what is there from then on, also when it is nothing.
func (p *Plan) Open(name string) (fs.File, error) {
	p.out.Reads.Paths = append(p.out.Reads.Paths, name)
	if p.Request.Open == nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return p.Request.Open(name)
}

// Read adds to what planning depends on.
func (p *Plan) Read(r Reads) {
	own := &p.out.Reads
	own.Paths, own.Env = append(own.Paths, r.Paths...), append(own.Env, r.Env...)
}

// Missing says what this machine lacks to run the step, and how to get it.
func (p *Plan) Missing(texts ...string) {
	for _, t := range texts {
		if !slices.Contains(p.out.Missing, t) {
			p.out.Missing = append(p.out.Missing, t)
		}
	}
}

// OutputBytes says how large the outputs are at least.
func (p *Plan) OutputBytes(n int64) { p.out.OutputBytes = n }

// Programs names programs of the host that the actions start without naming them as argv[0].
func (p *Plan) Programs(names ...string) { p.out.Programs = append(p.out.Programs, names...) }

// Attrs are what is known of a toolchain.
func (p *Plan) Attrs(attrs map[string]cty.Value) { p.out.Attrs = attrs }

// Explain sets what turns a failed action's output into hints for people.
func (p *Plan) Explain(f func(spec string, output []byte) []string) { p.out.Explain = f }

// Await has the step planned again when the files in some trees are known: then says what there is to do with them.
// What is said otherwise is a preview.
func (p *Plan) Await(trees []action.Input, then func(p *Plan, l action.Listing) error) {
	p.out.Await = trees
	p.out.Expand = func(l action.Listing) ([]action.Spec, map[string]action.Artifact, error) {
		q := &Plan{Request: p.Request}
		if err := then(q, l); err != nil {
			return nil, nil, err
		}
		if q.Failed() {
			return nil, nil, q.diags
		}
		return q.specs(), q.out.Outputs, nil
	}
}

// File gives an output of the step.
func (p *Plan) File(name string, in action.Input) { p.Output(name, action.File, in) }

// Tree gives an output of the step that is put together of parts.
func (p *Plan) Tree(name string, parts ...action.Input) { p.Output(name, action.Tree, parts...) }

// Output gives an output of the step.
func (p *Plan) Output(name string, class action.Class, parts ...action.Input) {
	if p.out.Outputs == nil {
		p.out.Outputs = make(map[string]action.Artifact)
	}
	p.out.Outputs[name] = action.Artifact{Class: class, Parts: parts}
}

// Action is an action of the step. Its name tells it from the others of the step, "" where there are none.
type Action struct{ action.Spec }

// Action adds an action; the description is a few words for people.
func (p *Plan) Action(name, description string, argv ...string) *Action {
	a := &Action{action.Spec{Name: name, Description: description, Args: argv}}
	p.actions = append(p.actions, a)
	return a
}

// Tool adds an action of a built-in tool.
func Tool[S any](p *Plan, name, description string, t tool.Name[S], args S) *Action {
	doc, err := tool.Encode(args)
	if err != nil {
		p.Fail("", "Arguments of a tool", "%s: %v.", t, err)
	}
	a := p.Action(name, description, action.ToolArg0, "tool", t.String(), tool.ArgsFile)
	a.Set(action.PropertyTool, string(t))
	return a.In(action.Input{Path: tool.ArgsFile, Content: &action.Content{Data: doc}})
}

// In adds inputs. What is nothing, or at a path where there is an input already, is left out.
func (a *Action) In(inputs ...action.Input) *Action {
	for _, in := range inputs {
		nothing := in.Artifact == nil && in.Spec == nil && in.Host == nil && in.Content == nil
		if !nothing && !slices.ContainsFunc(a.Inputs, func(h action.Input) bool { return h.Path == in.Path }) {
			a.Inputs = append(a.Inputs, in)
		}
	}
	return a
}

// Out says that the action writes a file, and returns it as an input of others.
func (a *Action) Out(path string) action.Input { return a.out(action.Output{Path: path}) }

// OutTree says that the action writes a folder, and returns it as an input of others.
func (a *Action) OutTree(path string) action.Input {
	return a.out(action.Output{Path: path, Tree: true})
}

// Vary says why two runs may leave different bytes in outputs that the action was given, by path; in all of them if
// none is named. One that it was said of before stays as it is.
func (a *Action) Vary(why string, paths ...string) *Action {
	for i := range a.Outputs {
		if o := &a.Outputs[i]; o.Varies == "" && (len(paths) == 0 || slices.Contains(paths, o.Path)) {
			o.Varies = why
		}
	}
	return a
}

func (a *Action) out(o action.Output) action.Input {
	if !slices.ContainsFunc(a.Outputs, func(x action.Output) bool { return x.Path == o.Path && x.Tree == o.Tree }) {
		a.Outputs = append(a.Outputs, o)
	}
	return action.Input{Spec: &action.SpecOutput{Spec: a.Name, Path: o.Path}}
}

// Set gives the action a property of its platform.
func (a *Action) Set(property, value string) *Action {
	if a.Platform == nil {
		a.Platform = make(map[string]string)
	}
	a.Platform[property] = value
	return a
}

// SetEnv gives the action variables beside those that it has.
func (a *Action) SetEnv(vars map[string]string) *Action {
	if a.Env == nil && len(vars) > 0 {
		a.Env = make(map[string]string, len(vars))
	}
	maps.Copy(a.Env, vars)
	return a
}
