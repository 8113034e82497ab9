package planner

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/step"
)

// maxCopies is the maximum number of instances of all steps with for_each together.
const maxCopies = 200_000

// evalStep expands a step or toolchain into its instances in a frame, plans each, and creates the value for references
// to it.
func (p *planner) evalStep(o *object, f *frame) hcl.Diagnostics {
	b := o.block
	s := &placed{p: p, object: o, frame: f, at: b.At, byAddress: make(map[addrs.Instance]*instance),
		off: make(map[string]bool)}
	s.at.Module = f.at
	keys, values, diags := p.keys(f, b.ForEach)
	if diags.HasErrors() {
		return diags
	}
	if b.ForEach != nil || f.caller != nil {
		if p.copied += len(keys); p.copied > maxCopies {
			r := b.Range
			if b.ForEach != nil {
				r = b.ForEach.Range()
			}
			return errorf(r, "Plan too large",
				"The %d instances of %s exceed the limit of %d step instances in a plan. "+
					"Use fewer steps, and pass lists to them.", len(keys), s.at, maxCopies)
		}
	}
	e := p.evaluator(s, &f.scope, &later{p: p})
	for i, k := range keys {
		in := &instance{s: s, at: addrs.Instance{Step: s.at, Key: k, Keyed: b.ForEach != nil}, value: values[i]}
		e.enter(in)
		exists, attrs, ds := e.planFirst()
		if diags = append(diags, ds...); ds.HasErrors() {
			return diags // the other instances would fail in the same way
		}
		if !exists {
			s.off[k] = true
			continue
		}
		s.add(in)
		if b.At.Kind == addrs.Toolchain {
			v := toolchainValue(in, attrs)
			f.scope.Toolchains[b.At.Name], s.attrs = v, plainAttrs(v)
		}
	}
	f.steps[b.At] = s
	if b.At.Kind != addrs.Toolchain {
		f.scope.Steps[b.At] = stepValue(s, nil)
	}
	return diags
}

// planFirst evaluates when, and plans the instance unless it is false. For a toolchain it also returns the attributes.
func (e *evaluator) planFirst() (exists bool, attrs map[string]cty.Value, diags hcl.Diagnostics) {
	in, b := e.in, e.s.block
	planned := true
	if b.When != nil {
		v, ds := e.value(b.When, cty.Bool, "when")
		planned, diags = decide(v, ds, b.When, e.label("when"))
		if diags.HasErrors() || !planned && in.at.Keyed {
			return false, nil, diags
		}
	}
	ds := e.outputs()
	if diags = append(diags, ds...); ds.HasErrors() || !planned {
		return true, nil, diags
	}
	ds = e.plan(false)
	if diags = append(diags, ds...); !ds.HasErrors() && (in.plan.Waits != plan.ForNothing || in.plan.Explains) {
		e.p.extender.instances[in.at] = in
	}
	return true, in.answer.Attrs, diags
}

// toolchainValue returns the value of a toolchain in expressions: its attributes, and dir, the path of its tree.
func toolchainValue(in *instance, attrs map[string]cty.Value) cty.Value {
	obj := make(map[string]cty.Value, len(attrs)+1)
	for name, v := range attrs {
		obj[name] = located(in.at, v)
	}
	out := addrs.Output{Instance: in.at, Name: "dir"}
	obj["dir"] = cty.StringVal(out.Path()).Mark(out)
	if in.plan == nil {
		obj["dir"] = cty.NullVal(cty.String)
	}
	return cty.ObjectVal(obj)
}

// located prepends the path of an output to strings marked as relative to it.
func located(at addrs.Instance, v cty.Value) cty.Value {
	if !v.ContainsMarked() {
		return v
	}
	v, err := cty.Transform(v, func(_ cty.Path, x cty.Value) (cty.Value, error) {
		for in := range cty.ValueMarksOfType[step.TreePath](x) {
			rel, _ := x.Unmark()
			out := addrs.Output{Instance: at, Name: string(in)}
			return cty.StringVal(out.Path() + "/" + rel.AsString()).Mark(out), nil
		}
		return x, nil
	})
	if err != nil {
		panic(err) // the function returns no error
	}
	return v
}

// plainAttrs returns a toolchain's value for kinds: all attributes but paths.
func plainAttrs(v cty.Value) cty.Value {
	attrs := v.AsValueMap()
	maps.DeleteFunc(attrs, func(_ string, v cty.Value) bool { return v.ContainsMarked() })
	return cty.ObjectVal(attrs)
}

// outputs lists the outputs of the instance: those of the kind, those named by an argument, and its own.
func (e *evaluator) outputs() hcl.Diagnostics {
	in, s := e.in, e.s
	for _, o := range s.schema.Outputs {
		in.outputs = append(in.outputs, step.DeclaredOutput{Name: o.Name, Class: o.Class})
	}
	var diags hcl.Diagnostics
	if a := attribute(s.block.Body, s.schema.OutputsFrom); a != nil {
		v, ds := e.value(a.Expr, cty.List(cty.String), a.Name)
		if diags = append(diags, ds...); ds.HasErrors() {
			return diags
		}
		seen := make(map[string]bool)
		if !v.IsNull() {
			for _, e := range v.AsValueSlice() {
				if !e.IsNull() && !seen[e.AsString()] {
					seen[e.AsString()] = true
					in.outputs = append(in.outputs, step.DeclaredOutput{Name: e.AsString(), Class: action.File})
				}
			}
		}
	}
	for _, o := range s.block.Outputs {
		v, ds := e.value(o.Path, cty.String, "The path of output "+o.Name)
		if diags = append(diags, ds...); ds.HasErrors() {
			continue
		}
		name := ""
		if !v.IsNull() {
			name = v.AsString()
		}
		clean := path.Clean(name)
		out := clean == "." || clean == ".." || strings.HasPrefix(clean, "../")
		if name == "" || path.IsAbs(name) || out || strings.ContainsAny(name, "\\\x00") {
			diags = append(diags, errorf(o.Path.Range(), "Invalid output path",
				"The output path %q must be relative, use / as the separator, and stay below the command's "+
					"working folder.",
				name)...)
			continue
		}
		in.outputs = append(in.outputs, step.DeclaredOutput{Name: o.Name, Class: o.Class, Path: clean})
	}
	return diags
}

// resolve returns the instance planned again, with the awaited values.
func (in *instance) resolve(values map[addrs.Output][]byte) (*instance, hcl.Diagnostics) {
	s := in.s
	l, diags := s.p.laterWith(values)
	if diags.HasErrors() {
		return nil, diags
	}
	scope, diags := l.settle(s.object, s.frame)
	if diags.HasErrors() {
		return nil, s.frame.inside(diags)
	}
	again := *in
	e := s.p.evaluator(s, scope, l)
	e.enter(&again)
	return &again, append(diags, s.frame.inside(e.plan(true))...)
}

// plan plans the instance, during planning or to resolve a deferred one. It sets the kind's answer, if the kind was
// asked.
func (e *evaluator) plan(resolving bool) (diags hcl.Diagnostics) {
	p, s, b, in := e.p, e.s, e.s.block, e.in
	n := &plan.Instance{
		At: in.at, Description: b.Description, Where: config.Where(b.Range), Source: p.cfg.Source(b.Whole),
		Classes: make(map[string]action.Class, len(in.outputs)),
	}
	for _, o := range in.outputs {
		n.Classes[o.Name] = o.Class
	}
	in.plan, in.answer = n, step.Planned{}
	diags = e.metaArguments(n)
	if diags.HasErrors() {
		return diags
	}
	args, env, files, ds := e.arguments()
	if diags = append(diags, ds...); ds.HasErrors() {
		return diags
	}
	ds = append(e.checkArguments(args), e.checkAxes(args)...)
	ce, more := e.commandEnv(env, files)
	if ds = append(ds, more...); ds.HasErrors() {
		return append(diags, ds...)
	}
	if !resolving { // reported during planning otherwise
		diags = append(diags, p.dummies.tooShort(ce.refs)...)
		e.noteArguments(args)
	}
	req, known := e.request(args, env, files, ce)
	if !known {
		if resolving {
			return append(diags, errorf(b.Range, "Missing value",
				"%s depends on a value that no step has produced.", b.At)...)
		}
		e.asDeferred(req, args, env, files)
		return diags
	}
	if len(p.targets) > 0 && s.frame.scope.Target == cty.NilVal { // errors of the target were reported there
		return diags
	}
	req.Target, ds = e.targetOf()
	if diags = append(diags, ds...); ds.HasErrors() {
		return diags
	}
	in.answer, ds = p.ask(s, req)
	p.noteReads(in.answer.Reads)
	for _, d := range ds {
		if d.Subject == nil {
			d.Subject = b.Range.Ptr()
		}
	}
	if diags = append(diags, ds...); ds.HasErrors() {
		return diags
	}
	fill(n, in.answer)
	if ds := in.check(); ds.HasErrors() {
		return append(diags, ds...)
	}
	if n.Waits == plan.ForNothing {
		spare(n, s.schema.Toolchains)
	}
	return diags
}

// withKind adds to errors about arguments the command that describes the kind.
func withKind(kind string, diags hcl.Diagnostics) hcl.Diagnostics {
	for _, d := range diags {
		if d.Summary == "Missing required argument" || d.Summary == "Incorrect attribute value type" {
			d.Detail += fmt.Sprintf(" For all arguments, run `hexmage show kind %s`.", kind)
		}
	}
	return diags
}

// checkArguments rejects sensitive values, and null for required arguments.
func (e *evaluator) checkArguments(args []*argument) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, a := range args {
		if !a.Sensitive {
			continue
		}
		r, instead := e.argRange(a.name), "Use a variable that is not sensitive."
		if e.s.schema.Secrets {
			instead = "Pass the value in env or in a secret_file block."
		}
		diags = append(diags, errorf(r, "Sensitive value not allowed",
			"%s of %s contains a sensitive value, but hexmage shows and logs commands. %s", a.name, e.s.block.At,
			instead)...)
	}
	for _, a := range args {
		if !a.required || !a.plain.IsNull() {
			continue
		}
		detail := fmt.Sprintf("%s of %s is null.", a.name, e.s.block.At)
		if len(a.uses) == 0 {
			detail += " Outputs of a step or module are null if its when is false. " +
				"Use coalesce(…), or the same when in this step."
		}
		diags = append(diags, errorf(e.argRange(a.name), "Null required argument", "%s", detail)...)
	}
	return diags
}

func (e *evaluator) argRange(name string) hcl.Range {
	if r, ok := argRange(e.s.block, name); ok {
		return r
	}
	return e.s.block.Range
}

// argRange returns the range of an argument or block of a step, if the step has it.
func argRange(b *config.Block, name string) (hcl.Range, bool) {
	for _, n := range slices.Backward(b.Names) { // the profile's names come last
		if n.Name == name {
			return n.Range, true
		}
	}
	switch {
	case name == "env" && b.Env != nil:
		return b.Env.Range(), true
	case name == "secret_file" && len(b.SecretFiles) > 0:
		return b.SecretFiles[0].Range, true
	}
	return hcl.Range{}, false
}

// request creates the request for the kind, and the instance's dependencies. It reports whether all arguments are
// known.
func (e *evaluator) request(args []*argument, env, files *argument, ce commandEnv) (step.Request, bool) {
	p, s, in := e.p, e.s, e.in
	req := step.Request{
		At: in.at, Profile: p.profileName(), CPULevel: p.o.CPULevel, Target: cty.NullVal(cty.DynamicPseudoType),
		Range: s.block.Range, Open: p.files.Open, Roots: p.roots,
		ArgAt:      func(name string) (hcl.Range, bool) { return argRange(s.block, name) },
		Toolchains: make(map[string]step.Toolchain), Args: make(map[string]cty.Value), Env: ce.env, Secrets: ce.secrets,
	}
	for _, a := range args {
		if !a.plain.IsNull() {
			req.Args[a.name] = a.plain
		}
	}
	for _, o := range in.outputs {
		if o.Path != "" {
			req.Outputs = append(req.Outputs, o)
		}
	}
	known := true
	var used []addrs.Instance
	i := 0
	for i < len(args) && args[i].name <= "env" {
		i++
	}
	for _, a := range slices.Concat(args[:i], []*argument{env, files}, args[i:]) {
		known = known && !a.Unknown
		for _, u := range a.uses {
			used = append(used, u.output.Instance)
			if u.output.Kind == addrs.Toolchain {
				p.useToolchain(req.Toolchains, s.frame, u.output.Step.Name)
			}
			if p.class(*u.output) != action.Value {
				req.Uses = append(req.Uses, step.OutputRef{Path: u.at, Output: u.output})
			}
		}
	}
	for _, name := range s.schema.Toolchains {
		p.useToolchain(req.Toolchains, s.frame, name)
	}
	for _, t := range req.Toolchains {
		used = append(used, t.Output.Instance)
	}
	in.plan.Deps = p.dependencies(s, used, known)
	return req, known
}

// targetOf returns the target of an instance, or null without a single target.
func (e *evaluator) targetOf() (cty.Value, hcl.Diagnostics) {
	x := e.s.block.Target
	if x == nil {
		if t := e.s.frame.target; t != cty.NilVal {
			return t, nil
		}
		return cty.NullVal(cty.DynamicPseudoType), nil
	}
	v, diags := e.value(x, cty.DynamicPseudoType, "target")
	if diags.HasErrors() {
		return cty.NilVal, diags
	}
	return v, append(diags, e.p.checkTarget(v, x, e.label("target"))...)
}
