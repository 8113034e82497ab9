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

// maxCopies is how many instances all steps with for_each may have together.
const maxCopies = 200_000

// evalStep expands a step or toolchain into its instances in a frame, plans each, and makes the value that others
// see.
func (p *planner) evalStep(o *object, f *frame) hcl.Diagnostics {
	b := o.block
	s := &placed{p: p, object: o, frame: f, at: b.At, off: make(map[string]bool)}
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
			return errorf(r, "More than a plan may hold",
				"With the %d copies of %s there are more than %d of all steps. "+
					"Make fewer steps of them, which take lists.", len(keys), s.at, maxCopies)
		}
	}
	e := p.evaluator(s, &f.scope, &later{p: p})
	for i, k := range keys {
		in := &instance{s: s, at: addrs.Instance{Step: s.at, Key: k, Keyed: b.ForEach != nil}, value: values[i]}
		e.enter(in)
		exists, attrs, ds := e.planFirst()
		if diags = append(diags, ds...); ds.HasErrors() {
			return diags // the other copies would say the same
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

// planFirst evaluates whether the instance exists, and plans it if so. It returns false for a copy of which when is
// false, and for a toolchain what is known of it.
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

// toolchainValue is what expressions see of a toolchain: what is known of it, and dir, the path of its tree.
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

// located puts the paths of outputs in front of what is marked as relative to one.
func located(at addrs.Instance, v cty.Value) cty.Value {
	if !v.ContainsMarked() {
		return v
	}
	v, err := cty.Transform(v, func(_ cty.Path, x cty.Value) (cty.Value, error) {
		for in := range cty.ValueMarksOfType[step.InTree](x) {
			rel, _ := x.Unmark()
			out := addrs.Output{Instance: at, Name: string(in)}
			return cty.StringVal(out.Path() + "/" + rel.AsString()).Mark(out), nil
		}
		return x, nil
	})
	if err != nil {
		panic(err) // the function gives none
	}
	return v
}

// plainAttrs is what kinds see of a toolchain's value: all but paths.
func plainAttrs(v cty.Value) cty.Value {
	attrs := v.AsValueMap()
	maps.DeleteFunc(attrs, func(_ string, v cty.Value) bool { return v.ContainsMarked() })
	return cty.ObjectVal(attrs)
}

// outputs lists what the instance gives: the kind's outputs, those named by an argument, its own.
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
			diags = append(diags, errorf(o.Path.Range(), "Not the path of an output",
				"%q must be a relative path, with /, below the folder in which the command starts.", name)...)
			continue
		}
		in.outputs = append(in.outputs, step.DeclaredOutput{Name: o.Name, Class: o.Class, Path: clean})
	}
	return diags
}

// resolve returns the instance as it is planned anew, with values that were awaited.
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

// plan plans the instance, while planning or to resolve a deferred one. The instance also gets the kind's answer, if
// the kind was asked.
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
	if !resolving { // else it was said while planning
		diags = append(diags, p.dummies.tooShort(ce.refs)...)
		e.noteArguments(args)
	}
	req, known := e.request(args, env, files, ce)
	if !known {
		if resolving {
			return append(diags, errorf(b.Range, "A value is still not known",
				"%s depends on a value that no step has given.", b.At)...)
		}
		e.asDeferred(req, args, env, files)
		return diags
	}
	if len(p.targets) > 0 && s.frame.scope.Target == cty.NilVal { // what is wrong with the target was said there
		return diags
	}
	req.Target, ds = e.targetOf()
	if diags = append(diags, ds...); ds.HasErrors() {
		return diags
	}
	in.answer, ds = p.ask(s, req)
	if !resolving {
		p.noteReads(in.answer.Reads)
	}
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

// withKind says of arguments that do not fit the kind where it is told what fits.
func withKind(kind string, diags hcl.Diagnostics) hcl.Diagnostics {
	for _, d := range diags {
		if d.Summary == "Missing required argument" || d.Summary == "Incorrect attribute value type" {
			d.Detail += fmt.Sprintf(" `hexmage show kind %s` shows what it takes.", kind)
		}
	}
	return diags
}

// checkArguments refuses sensitive values, and null for what is required.
func (e *evaluator) checkArguments(args []*argument) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, a := range args {
		if !a.Sensitive {
			continue
		}
		r, instead := e.argRange(a.name), "Use a variable that is not sensitive."
		if e.s.schema.Secrets {
			instead = "Give the command the value in env, or in a secret_file block."
		}
		diags = append(diags, errorf(r, "A sensitive value cannot be used here",
			"%s of %s becomes part of a command, which is shown, logged and hashed. %s", a.name, e.s.block.At,
			instead)...)
	}
	for _, a := range args {
		if !a.required || !a.plain.IsNull() {
			continue
		}
		detail := fmt.Sprintf("%s of %s is null.", a.name, e.s.block.At)
		if len(a.uses) == 0 {
			detail += " The outputs of a step or module whose when is false are null: " +
				"use coalesce(…), or give this step the same when."
		}
		diags = append(diags, errorf(e.argRange(a.name), "A required argument is null", "%s", detail)...)
	}
	return diags
}

func (e *evaluator) argRange(name string) hcl.Range {
	if r, ok := argRange(e.s.block, name); ok {
		return r
	}
	return e.s.block.Range
}

// argRange is where an argument or block of a step is, if it is there.
func argRange(b *config.Block, name string) (hcl.Range, bool) {
	for _, n := range slices.Backward(b.Names) { // the profile's come last
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

// request makes what the kind is given, and the instance's dependencies. It says whether all arguments are known.
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
				req.Uses = append(req.Uses, step.Use{Path: u.at, Output: u.output})
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

// targetOf is what an instance is built for, null when there is none, or when it is not said which.
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
