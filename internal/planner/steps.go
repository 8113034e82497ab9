package planner

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/step"
)

// maxCopies is how many instances all steps with for_each may have together.
const maxCopies = 200_000

// evalStep expands a step or toolchain into its instances in a frame, plans each, and makes the value that others
// see.
func (p *planner) evalStep(o *object, f *frame) hcl.Diagnostics {
	b := o.block
	s := &placed{object: o, frame: f, at: b.At, byKey: make(map[string]*instance), off: make(map[string]bool)}
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
			return errorf(&r, "More than a plan may hold", "With the %d copies of %s there are more than %d of all steps. Make fewer steps of them, which take lists.", len(keys), s.at, maxCopies)
		}
	}
	e := p.evaluator(s, &f.scope, &later{p: p})
	for i, k := range keys {
		in, attrs, ds := e.copy(k, values[i])
		if diags = append(diags, ds...); ds.HasErrors() {
			return diags // the other copies would say the same
		}
		if in == nil {
			s.off[k] = true
			continue
		}
		s.instances = append(s.instances, in)
		s.byKey[k] = in
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

// copy evaluates the step for one key. It returns nil for a key of which when is false, and for a toolchain what is
// known of it.
func (e *evaluator) copy(key string, value cty.Value) (in *instance, attrs map[string]cty.Value, diags hcl.Diagnostics) {
	b := e.s.block
	in = &instance{at: addrs.Instance{Step: e.s.at, Key: key, Keyed: b.ForEach != nil}}
	c := &copyOf{e: e, value: value}
	if in.at.Keyed {
		c.key = cty.StringVal(key)
	}
	exists := true
	if e.when != nil {
		v, ds := e.when.value(c)
		if diags = append(diags, ds...); ds.HasErrors() {
			return nil, nil, diags
		}
		if v.IsNull() {
			r := b.When.Range()
			return nil, nil, append(diags, errorf(&r, "when is null", "when of %s must be true or false. If it is made from what may be null, say which of the two that means: coalesce(…, false).", b.At)...)
		}
		if exists = v.True(); !exists && in.at.Keyed {
			return nil, nil, diags
		}
	}
	var ds hcl.Diagnostics
	in.outputs, in.classes, ds = e.instanceOutputs(c)
	if diags = append(diags, ds...); ds.HasErrors() || !exists {
		return in, nil, diags
	}
	var planned step.Planned
	in.planned, planned, ds = e.plan(in, c, false)
	if diags = append(diags, ds...); !ds.HasErrors() {
		e.p.keep(in, c, planned)
	}
	return in, planned.Attrs, diags
}

// toolchainValue is what expressions see of a toolchain: what is known of it, and dir, the path of its tree.
func toolchainValue(in *instance, attrs map[string]cty.Value) cty.Value {
	obj := make(map[string]cty.Value, len(attrs)+1)
	for name, v := range attrs {
		obj[name] = located(in.at, v)
	}
	out := addrs.Output{Instance: in.at, Name: "dir"}
	obj["dir"] = cty.StringVal(out.Path()).Mark(out)
	if in.planned == nil {
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

// instanceOutputs lists what an instance will give: the kind's outputs, those named by an argument, its own; and
// their classes by name.
func (e *evaluator) instanceOutputs(c *copyOf) ([]step.DeclaredOutput, map[string]action.Class, hcl.Diagnostics) {
	s := e.s
	outs := make([]step.DeclaredOutput, 0, len(s.schema.Outputs)+len(s.block.Outputs))
	for _, o := range s.schema.Outputs {
		outs = append(outs, step.DeclaredOutput{Name: o.Name, Class: o.Class})
	}
	var diags hcl.Diagnostics
	if k := e.outputsFrom; k != nil {
		v, ds := k.value(c)
		if diags = append(diags, ds...); ds.HasErrors() {
			return nil, nil, diags
		}
		seen := make(map[string]bool)
		if !v.IsNull() {
			for _, e := range v.AsValueSlice() {
				if !e.IsNull() && !seen[e.AsString()] {
					seen[e.AsString()] = true
					outs = append(outs, step.DeclaredOutput{Name: e.AsString(), Class: action.File})
				}
			}
		}
	}
	for i, o := range s.block.Outputs {
		v, ds := e.paths[i].value(c)
		if diags = append(diags, ds...); ds.HasErrors() {
			continue
		}
		r := o.Path.Range()
		name := ""
		if !v.IsNull() {
			name = v.AsString()
		}
		clean := path.Clean(name)
		if name == "" || path.IsAbs(name) || clean == "." || clean == ".." || strings.HasPrefix(clean, "../") || strings.ContainsAny(name, "\\\x00") {
			diags = append(diags, errorf(&r, "Not the path of an output",
				"%q must be a relative path, with /, below the folder in which the command starts.", name)...)
			continue
		}
		outs = append(outs, step.DeclaredOutput{Name: o.Name, Class: o.Class, Path: clean})
	}
	classes := make(map[string]action.Class, len(outs))
	for _, o := range outs {
		classes[o.Name] = o.Class
	}
	return outs, classes, diags
}

// resolve plans an instance anew, with values that were awaited.
func (p *planner) resolve(in *instance, c *copyOf, values map[addrs.Output][]byte) (*plan.Instance, step.Planned, hcl.Diagnostics) {
	p.budget.Refill()
	l, diags := p.laterWith(values)
	if diags.HasErrors() {
		return nil, step.Planned{}, diags
	}
	s := c.e.s
	scope, diags := l.settle(s.object, s.frame)
	if diags.HasErrors() {
		return nil, step.Planned{}, s.frame.inside(diags)
	}
	e := p.evaluator(s, scope, l)
	n, planned, ds := e.plan(in, &copyOf{e: e, key: c.key, value: c.value}, true)
	return n, planned, append(diags, s.frame.inside(ds)...)
}

// plan plans an instance, while planning or to resolve a deferred one. It also returns what the kind said, if it was
// asked.
func (e *evaluator) plan(in *instance, c *copyOf, resolving bool) (n *plan.Instance, planned step.Planned, diags hcl.Diagnostics) {
	p, s, b := e.p, e.s, e.s.block
	n = &plan.Instance{At: in.at, Description: b.Description, Where: e.where, Source: e.source, Classes: in.classes}
	diags = e.metaArguments(c, n)
	if diags.HasErrors() {
		return nil, planned, diags
	}
	args, env, files, ds := e.arguments(c)
	if diags = append(diags, ds...); ds.HasErrors() {
		return nil, planned, diags
	}
	ds = append(e.checkArguments(args), e.checkAxes(args)...)
	ce, more := e.commandEnv(c, env, files)
	if ds = append(ds, more...); ds.HasErrors() {
		return nil, planned, append(diags, ds...)
	}
	if !resolving { // else it was said while planning
		diags = append(diags, p.dummies.tooShort(ce.refs)...)
		e.noteArguments(in, c, args)
	}
	req, known := e.request(in, args, []*argValue{env, files}, ce, n)
	if !known {
		if resolving {
			return nil, planned, append(diags, errorf(&b.Range, "A value is still not known", "%s depends on a value that no step has given.", b.At)...)
		}
		e.asDeferred(c, req, args, []*argValue{env, files}, n)
		return n, planned, diags
	}
	if len(p.targets) > 0 && s.frame.scope.Target == cty.NilVal { // what is wrong with the target was said there
		return n, planned, diags
	}
	req.Target, ds = e.targetOf(c)
	if diags = append(diags, ds...); ds.HasErrors() {
		return nil, planned, diags
	}
	planned, ds = p.ask(s, req)
	if !resolving {
		p.noteReads(planned.Reads)
	}
	for _, d := range ds {
		if d.Subject == nil {
			d.Subject = b.Range.Ptr()
		}
	}
	if diags = append(diags, ds...); ds.HasErrors() {
		return nil, planned, diags
	}
	fill(n, planned)
	if ds := p.checkPlanned(s, in, n, planned); ds.HasErrors() {
		return nil, planned, append(diags, ds...)
	}
	if n.Waits == plan.ForNothing {
		spare(n, s.schema.Toolchains)
	}
	return n, planned, diags
}

// withKind says of arguments that do not fit the kind where it is told what fits.
func withKind(kind string, diags hcl.Diagnostics) hcl.Diagnostics {
	for _, d := range diags {
		if d.Summary == "Missing required argument" || d.Summary == "Incorrect attribute value type" {
			d.Detail += fmt.Sprintf(" `hexmage kinds %s` shows what it takes.", kind)
		}
	}
	return diags
}

// arguments evaluates the arguments of the kind, in the order of e.args, env, and the secret files.
func (e *evaluator) arguments(c *copyOf) (args []*argValue, env, files *argValue, diags hcl.Diagnostics) {
	if e.broken {
		_, diags := hcldec.Decode(e.s.block.Body, e.s.schema.Args, c.evalContext())
		return nil, nil, nil, withKind(e.s.block.At.Kind, lang.Explained(diags, hcldec.Variables(e.s.block.Body, e.s.schema.Args), c.evalContext()))
	}
	args = make([]*argValue, len(e.args))
	for i, a := range e.args {
		v, ds := e.value(a, c)
		diags = append(diags, ds...)
		args[i] = v
	}
	if diags.HasErrors() {
		return nil, nil, nil, diags
	}
	env, ds := e.environment(c)
	files, more := e.secretFiles(c)
	return args, env, files, append(append(diags, ds...), more...)
}

// checkArguments refuses sensitive values, and null for what is required.
func (e *evaluator) checkArguments(args []*argValue) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for i, v := range args {
		if !v.Sensitive {
			continue
		}
		r, instead := e.argRange(e.args[i].name), "Use a variable that is not sensitive."
		if e.s.schema.Secrets {
			instead = "Give the command the value in env, or in a secret_file block."
		}
		diags = append(diags, errorf(&r, "A sensitive value cannot be used here",
			"%s of %s becomes part of a command, which is shown, logged and hashed. %s", e.args[i].name, e.s.block.At, instead)...)
	}
	for i, a := range e.args {
		if !a.required || !args[i].plain.IsNull() {
			continue
		}
		r := e.argRange(a.name)
		detail := fmt.Sprintf("%s of %s is null.", a.name, e.s.block.At)
		if len(args[i].uses) == 0 {
			detail += " The outputs of a step or module whose when is false are null: use coalesce(…), or give this step the same when."
		}
		diags = append(diags, errorf(&r, "A required argument is null", "%s", detail)...)
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
func (e *evaluator) request(in *instance, args, meta []*argValue, ce commandEnv, n *plan.Instance) (step.Request, bool) {
	p, s := e.p, e.s
	req := step.Request{At: in.at, Profile: p.profileName(), CPULevel: p.o.CPULevel, Target: cty.NullVal(cty.DynamicPseudoType), Range: s.block.Range, ArgAt: func(name string) (hcl.Range, bool) { return argRange(s.block, name) }, Open: p.files.Open, Roots: p.roots,
		Toolchains: make(map[string]step.Toolchain), Args: make(map[string]cty.Value), Env: ce.env, Secrets: ce.secrets}
	known := true
	for i, v := range args {
		if !v.plain.IsNull() {
			req.Args[e.args[i].name] = v.plain
		}
		known = known && !v.Unknown
	}
	for _, o := range in.outputs {
		if o.Path != "" {
			req.Outputs = append(req.Outputs, o)
		}
	}
	var used []addrs.Instance
	use := func(v *argValue) {
		for _, u := range v.uses {
			used = append(used, u.output.Instance)
			if u.output.Kind == addrs.Toolchain {
				p.useToolchain(req.Toolchains, s.frame, u.output.Step.Name)
			}
			if p.class(*u.output) != action.Value {
				req.Uses = append(req.Uses, step.Use{Path: u.at, Output: u.output})
			}
		}
	}
	for _, v := range meta {
		known = known && !v.Unknown
	}
	for i, v := range args { // sorted by the argument, env and the secret files among them
		if e.args[i].name > "env" {
			for _, v := range meta {
				use(v)
			}
			meta = nil
		}
		use(v)
	}
	for _, v := range meta {
		use(v)
	}
	for _, name := range s.schema.Toolchains {
		p.useToolchain(req.Toolchains, s.frame, name)
	}
	for _, t := range req.Toolchains {
		used = append(used, t.Output.Instance)
	}
	n.Deps = p.dependencies(s, used, known)
	return req, known
}

// targetOf is what an instance is built for, null when there is none, or when it is not said which.
func (e *evaluator) targetOf(c *copyOf) (cty.Value, hcl.Diagnostics) {
	if e.target == nil {
		if t := e.s.frame.target; t != cty.NilVal {
			return t, nil
		}
		return cty.NullVal(cty.DynamicPseudoType), nil
	}
	v, diags := e.target.value(c)
	if diags.HasErrors() {
		return cty.NilVal, diags
	}
	return v, append(diags, e.p.checkTarget(v, e.target.expr, e.target.label())...)
}
