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

// New returns a kind. The fields of A with argument tags are the kind's arguments, and the function plan plans a step.
// New sets Args and Arguments in the schema.
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

// Decode decodes an object, such as a target, into a struct whose fields have argument tags.
func Decode[A any](v cty.Value) (A, hcl.Diagnostics) {
	var a A
	p := &Plan{}
	if v != cty.NilVal && v.Type().IsObjectType() && !v.IsNull() {
		argumentsOf(reflect.TypeFor[A]()).decode(p, "", v.AsValueMap(), reflect.ValueOf(&a).Elem())
	}
	return a, p.diags
}

// DecodeBody decodes an HCL body without references, such as a data file, into a struct whose fields have argument
// tags.
func DecodeBody[A any](body hcl.Body) (A, hcl.Diagnostics) {
	v, diags := hcldec.Decode(body, argumentsOf(reflect.TypeFor[A]()).spec(), nil)
	if diags.HasErrors() {
		var none A
		return none, diags
	}
	return Decode[A](v)
}

// Plan collects the actions, outputs and errors of a step while a kind plans the step. After an error, the planner
// ignores the actions and outputs.
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

// Fail reports an error at the argument arg. If the step does not set the argument, the error is at the step.
func (p *Plan) Fail(arg, summary, detail string, args ...any) {
	p.Report(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(detail, args...),
		Subject: p.ArgRange(arg)})
}

// Shared marks an error that several steps may report, such as an error in a file. The planner prints the error once.
// Shared is the value of the diagnostic's field Extra.
type Shared struct{}

// FailOnce is like Fail, for an error that other steps may also report. The planner prints such an error once.
func (p *Plan) FailOnce(arg, summary, detail string) {
	p.Fail(arg, summary, "%s", detail)
	p.diags[len(p.diags)-1].Extra = Shared{}
}

// Report adds errors and warnings to the plan.
func (p *Plan) Report(diags ...*hcl.Diagnostic) { p.diags = append(p.diags, diags...) }

// Failed reports whether the kind has reported an error.
func (p *Plan) Failed() bool { return p.diags.HasErrors() }

// MissingBlockError marks an error about a missing toolchain or target block. If many steps need the block, the planner
// prints the error once. MissingBlockError is the value of the diagnostic's field Extra.
type MissingBlockError struct {
	By        addrs.Instance
	Toolchain string // "" for a target
}

// Toolchain returns the toolchain with the given name. If the pipeline does not declare the toolchain, the method
// reports an error that names the block to add.
func (p *Plan) Toolchain(name string) Toolchain {
	t, ok := p.Toolchains[name]
	if !ok {
		p.lack(name, "Undeclared toolchain", "A step of kind %q needs toolchain %q. Add toolchain %q {} "+
			"to the pipeline.", p.At.Kind, name, name)
	}
	return t
}

// NoTarget reports an error: the kind requires a target, but the step has none.
func (p *Plan) NoTarget(detail string, args ...any) { p.lack("", "Missing target", detail, args...) }

func (p *Plan) lack(toolchain, summary, detail string, args ...any) {
	p.Fail("", summary, detail, args...)
	p.diags[len(p.diags)-1].Extra = MissingBlockError{p.At, toolchain}
}

// Open opens a file or folder on this machine. The path is absolute, or relative to the workspace. The plan then
// depends on the path, even if the path does not exist.
func (p *Plan) Open(name string) (fs.File, error) {
	p.out.Reads.Paths = append(p.out.Reads.Paths, name)
	if p.Request.Open == nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return p.Request.Open(name)
}

// Read adds files and environment variables that the plan depends on.
func (p *Plan) Read(r Reads) {
	own := &p.out.Reads
	own.Paths, own.Env = append(own.Paths, r.Paths...), append(own.Env, r.Env...)
}

// Missing adds requirements of the step that this machine does not meet. Each text includes a remedy.
func (p *Plan) Missing(texts ...string) {
	for _, t := range texts {
		if !slices.Contains(p.out.Missing, t) {
			p.out.Missing = append(p.out.Missing, t)
		}
	}
}

// OutputBytes sets the minimum total size of the step's outputs in bytes.
func (p *Plan) OutputBytes(n int64) { p.out.OutputBytes = n }

// Programs adds the host programs that the plan's actions start, except the programs in argv[0].
func (p *Plan) Programs(names ...string) { p.out.Programs = append(p.out.Programs, names...) }

// Attrs sets the attributes of a toolchain that are known during planning.
func (p *Plan) Attrs(attrs map[string]cty.Value) { p.out.Attrs = attrs }

// Explain sets a function that returns hints for users about a failed action. The arguments are the action's name and
// output.
func (p *Plan) Explain(f func(spec string, output []byte) []string) { p.out.Explain = f }

// Await defers the rest of the plan until hexmage knows the names of the files in the trees. hexmage then passes the
// names to the callback, which completes the plan. Until then, the plan is a preview.
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

// File adds an output of class File to the step.
func (p *Plan) File(name string, in action.Input) { p.Output(name, action.File, in) }

// Tree adds an output of class Tree to the step. The parts together form the tree.
func (p *Plan) Tree(name string, parts ...action.Input) { p.Output(name, action.Tree, parts...) }

// Output adds an output of the given class to the step.
func (p *Plan) Output(name string, class action.Class, parts ...action.Input) {
	if p.out.Outputs == nil {
		p.out.Outputs = make(map[string]action.Artifact)
	}
	p.out.Outputs[name] = action.Artifact{Class: class, Parts: parts}
}

// Action is an action of the step. Each action has a unique name in the step. If the step has only one action, the name
// may be "".
type Action struct{ action.Spec }

// Action adds an action to the step. The description is a few words for users.
func (p *Plan) Action(name, description string, argv ...string) *Action {
	a := &Action{action.Spec{Name: name, Description: description, Args: argv}}
	p.actions = append(p.actions, a)
	return a
}

// Tool adds an action that runs a built-in tool with the arguments args.
func Tool[S any](p *Plan, name, description string, t tool.Name[S], args S) *Action {
	doc, err := tool.Encode(args)
	if err != nil {
		p.Fail("", "Invalid tool arguments", "%s: %v.", t, err)
	}
	a := p.Action(name, description, action.ToolArg0, "tool", t.String(), tool.ArgsFile)
	a.Set(action.PropertyTool, string(t))
	return a.In(action.Input{Path: tool.ArgsFile, Content: &action.Content{Data: doc}})
}

// In adds inputs to the action. It ignores an empty input, and an input whose path another input already uses.
func (a *Action) In(inputs ...action.Input) *Action {
	for _, in := range inputs {
		nothing := in.Artifact == nil && in.Spec == nil && in.Host == nil && in.Content == nil
		if !nothing && !slices.ContainsFunc(a.Inputs, func(h action.Input) bool { return h.Path == in.Path }) {
			a.Inputs = append(a.Inputs, in)
		}
	}
	return a
}

// Out declares a file that the action writes. The result is an input for other actions.
func (a *Action) Out(path string) action.Input { return a.out(action.Output{Path: path}) }

// OutTree declares a folder that the action writes. The result is an input for other actions.
func (a *Action) OutTree(path string) action.Input {
	return a.out(action.Output{Path: path, Tree: true})
}

// Vary records the reason why two runs of the action may write different bytes to the outputs at paths. Without paths,
// the reason applies to all outputs. Earlier reasons remain.
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

// Set sets a platform property of the action.
func (a *Action) Set(property, value string) *Action {
	if a.Platform == nil {
		a.Platform = make(map[string]string)
	}
	a.Platform[property] = value
	return a
}

// SetEnv adds environment variables to the action.
func (a *Action) SetEnv(vars map[string]string) *Action {
	if a.Env == nil && len(vars) > 0 {
		a.Env = make(map[string]string, len(vars))
	}
	maps.Copy(a.Env, vars)
	return a
}
