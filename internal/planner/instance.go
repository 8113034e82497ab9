package planner

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/step"
)

// class returns the class of an output, 0 when there is no such output.
func (p *planner) class(o addrs.Output) action.Class {
	if in := p.instance(o.Instance); in != nil {
		return outputClass(in.outputs, o.Name)
	}
	return 0
}

// useToolchain adds the toolchain that a frame means by a name.
func (p *planner) useToolchain(to map[string]step.Toolchain, f *frame, name string) {
	s := f.step(addrs.Step{Kind: addrs.Toolchain, Name: name})
	if s == nil || len(s.instances) == 0 || s.instances[0].planned == nil {
		return
	}
	to[name] = step.Toolchain{Output: addrs.Output{Instance: s.instances[0].at, Name: "dir"}, Attrs: s.attrs}
}

// dependencies are the instances an object may need in a frame. Marks are exact when all values are known, so of a
// step with for_each only the copies that were used count then; before that, all of them. The result may be shared;
// used may have duplicates.
func (p *planner) dependencies(n *placed, used []addrs.Instance, known bool) []addrs.Instance {
	static := &n.static[0]
	if known {
		static = &n.static[1]
	}
	if *static == nil {
		*static = slices.Clip(p.staticDependencies(n, known))
	}
	var out []addrs.Instance
	for _, at := range used {
		if _, found := slices.BinarySearchFunc(*static, at, addrs.Compare); found {
			continue
		}
		if in := p.instance(at); in != nil && in.planned != nil {
			out = append(out, at)
		}
	}
	if len(out) == 0 {
		return *static
	}
	return slices.Clip(addrs.SortInstances(append(out, *static...)))
}

// staticDependencies are those that follow from an object's references, whatever their values are.
func (p *planner) staticDependencies(n *placed, known bool) []addrs.Instance {
	deps := make([]addrs.Instance, 0, len(n.object.refs))
	add := func(in *instance) {
		if in != nil && in.planned != nil {
			deps = append(deps, in.at)
		}
	}
	p.eachRef(n.object, n.frame, make(map[place]bool), func(f *frame, r lang.Ref) {
		if r.Root == lang.Toolchain && r.Attr != "" && r.Attr != "dir" {
			return // known now: nothing to wait for
		}
		s := f.step(r.Step)
		switch {
		case s == nil:
		case r.Keyed:
			add(s.instance(addrs.Instance{Step: s.at, Key: r.Key, Keyed: true}))
		case s.block.ForEach != nil && known: // those that count are used
		default:
			for _, in := range s.instances {
				add(in)
			}
		}
	})
	return addrs.SortInstances(deps)
}

// instance returns the instance of that address, or nil.
func (p *planner) instance(at addrs.Instance) *instance {
	f := p.frames[at.Module]
	if f == nil {
		return nil
	}
	if s := f.steps[addrs.Step{Kind: at.Kind, Name: at.Name}]; s != nil {
		return s.instance(at)
	}
	return nil
}

// eachRef calls do for the references of an object to steps and toolchains, also for those by way of locals,
// variables and outputs of modules, each with the frame in which it stands. f is the frame in which the object is
// evaluated.
func (p *planner) eachRef(o *object, f *frame, seen map[place]bool, do func(*frame, lang.Ref)) {
	if seen[place{o, f}] {
		return
	}
	seen[place{o, f}] = true
	at := f.up(o.scope)
	for _, r := range o.refs {
		switch r.Root {
		case lang.StepRoot, lang.Toolchain:
			do(at, r)
		case lang.Local, lang.Var:
			if next := p.objects[at.of.object(r, false)]; next != nil {
				p.eachRef(next, at, seen, do)
			}
		case lang.Module:
			for _, next := range p.leadsTo(at.of, r) {
				for _, child := range at.calls[r.Name] {
					if !r.Keyed || child.key != cty.NilVal && child.key.AsString() == r.Key {
						p.eachRef(next, child, seen, do)
					}
				}
			}
		}
	}
}

// awaited are the value outputs that an object may depend on in a frame, and they in words. The result may be shared.
func (p *planner) awaited(n *placed, marked []addrs.Output) ([]addrs.Output, string) {
	if n.awaited == nil {
		n.awaited = newAwaited(p.staticAwaited(n))
	}
	var more []addrs.Output
	for _, m := range marked {
		if p.class(m) != action.Value {
			continue
		}
		if _, found := slices.BinarySearchFunc(n.awaited.outputs, m, addrs.CompareOutputs); !found {
			more = append(more, m)
		}
	}
	if len(more) == 0 {
		return n.awaited.outputs, n.awaited.words
	}
	all := newAwaited(append(more, n.awaited.outputs...))
	return all.outputs, all.words
}

// awaitedOutputs are the value outputs that an object refers to.
type awaitedOutputs struct {
	outputs []addrs.Output // sorted
	words   string
}

func newAwaited(outs []addrs.Output) *awaitedOutputs {
	a := &awaitedOutputs{outputs: slices.Clip(addrs.SortOutputs(outs))}
	names := make([]string, len(a.outputs))
	for i, o := range a.outputs {
		names[i] = o.String()
	}
	a.words = strings.Join(names, ", ")
	return a
}

func (p *planner) staticAwaited(n *placed) []addrs.Output {
	var out []addrs.Output
	add := func(in *instance, r lang.Ref) {
		if in == nil || in.planned == nil {
			return
		}
		for _, d := range in.outputs {
			if d.Class == action.Value && (r.Output == "" || r.Output == d.Name) {
				out = append(out, addrs.Output{Instance: in.at, Name: d.Name})
			}
		}
	}
	p.eachRef(n.object, n.frame, make(map[place]bool), func(f *frame, r lang.Ref) {
		s := f.step(r.Step)
		switch {
		case s == nil || r.Root != lang.StepRoot:
		case r.Keyed:
			add(s.instance(addrs.Instance{Step: s.at, Key: r.Key, Keyed: true}), r)
		default:
			for _, in := range s.instances {
				add(in, r)
			}
		}
	})
	return out
}

// asDeferred makes an instance that waits for values. Its specs are a preview, made with the names of the values in
// their place, when the kind accepts that.
func (e *evaluator) asDeferred(c *copyOf, req step.Request, args, meta []*argValue, n *plan.Instance) {
	p, s := e.p, e.s
	var marks []addrs.Output
	for _, v := range append(slices.Clip(args), meta...) {
		for _, u := range v.uses {
			marks = append(marks, *u.output)
		}
	}
	var words string
	n.AwaitValues, words = p.awaited(s, marks)
	n.Waits, n.Deferred = plan.ForValues, "waits for the value of "+words
	req.Args, req.Env = e.previews(c, args, meta[0], req.Env)
	planned, ds := p.ask(s, req)
	p.noteReads(planned.Reads)
	if !ds.HasErrors() {
		n.Specs, n.Outputs = planned.Specs, planned.Outputs
	}
}

// previews are the arguments and the environment, with the names of values that are not known yet in their place. Of
// what is known, only what is shown belongs to the latter.
func (e *evaluator) previews(c *copyOf, args []*argValue, env *argValue, shown map[string]string) (map[string]cty.Value, map[string]string) {
	vals := make(map[string]cty.Value, len(args))
	for i, a := range e.args {
		vals[a.name] = placeholders(args[i].val)
		if spec, ok := a.spec.(*hcldec.AttrSpec); ok && a.attr != nil && args[i].Unknown {
			if v, err := convertTo(e.preview(a.attr.Expr, c.evalContext()), spec.Type); err == nil {
				vals[a.name] = v
			}
		}
	}
	vars := make(map[string]string)
	if env.val != cty.NilVal {
		if v := placeholders(env.val); !v.IsNull() {
			secret := textsOf(env.plain)
			maps.DeleteFunc(secret, func(name, _ string) bool { _, ok := shown[name]; return ok })
			for name, v := range v.AsValueMap() {
				if _, ok := secret[name]; !ok && !v.IsNull() {
					vars[name] = v.AsString()
				}
			}
		}
	}
	return vals, vars
}

// preview is the value of an expression, of which as much is shown as is known: of a script all but the value that it
// waits for.
func (e *evaluator) preview(x hcl.Expression, ctx *hcl.EvalContext) cty.Value {
	inner := x
	if native, ok := x.(hclsyntax.Expression); ok {
		inner = lang.Inner(native)
	}
	switch in := inner.(type) {
	case *hclsyntax.ParenthesesExpr:
		return e.preview(in.Expression, ctx)
	case *hclsyntax.TemplateWrapExpr:
		return e.preview(in.Wrapped, ctx)
	case *hclsyntax.TemplateExpr:
		var text strings.Builder
		for _, part := range in.Parts {
			v, err := convert.Convert(e.preview(part, ctx), cty.String)
			if err != nil || v.IsNull() {
				v = cty.StringVal(notKnown)
			}
			text.WriteString(v.AsString())
		}
		return cty.StringVal(text.String())
	case *hclsyntax.TupleConsExpr:
		return cty.TupleVal(e.previewAll(in.Exprs, ctx))
	case *hclsyntax.FunctionCallExpr:
		if in.Name != "concat" || in.ExpandFinal {
			break
		}
		var all []cty.Value
		for _, v := range e.previewAll(in.Args, ctx) {
			if v.CanIterateElements() {
				all = append(all, v.AsValueSlice()...)
			} else {
				all = append(all, v) // it stands for the list
			}
		}
		return cty.TupleVal(all)
	}
	v, diags := e.p.budget.Value(x, ctx)
	if diags.HasErrors() {
		v = cty.DynamicVal
	}
	return placeholders(v)
}

func (e *evaluator) previewAll(xs []hclsyntax.Expression, ctx *hcl.EvalContext) []cty.Value {
	vals := make([]cty.Value, len(xs))
	for i, x := range xs {
		vals[i] = e.preview(x, ctx)
	}
	return vals
}

// notKnown stands for what is not known yet, and of which nothing tells where it comes from.
const notKnown = "<not known yet>"

// placeholders puts "<address>" where a value is not known yet.
func placeholders(v cty.Value) cty.Value {
	out, err := cty.Transform(v, func(_ cty.Path, v cty.Value) (cty.Value, error) {
		plain, _ := v.Unmark()
		if plain.IsKnown() {
			return plain, nil
		}
		name := notKnown
		if outs := lang.OutputMarks(v); len(outs) > 0 {
			name = fmt.Sprint("<", outs[0], ">")
		}
		switch ty := plain.Type(); {
		case ty == cty.String || ty == cty.DynamicPseudoType:
			return cty.StringVal(name), nil
		case ty.IsListType() && ty.ElementType() == cty.String:
			return cty.ListVal([]cty.Value{cty.StringVal(name)}), nil
		default:
			return cty.NullVal(ty), nil
		}
	})
	if err != nil {
		return cty.NullVal(v.Type())
	}
	out, _ = out.UnmarkDeep()
	return out
}

// fill puts what the kind planned into an instance, with the meta-arguments applied to each spec.
func fill(n *plan.Instance, planned step.Planned) {
	n.Explains, n.Missing, n.Programs = planned.Explain != nil, planned.Missing, planned.Programs
	n.Specs, n.Outputs = withMeta(n, planned.Specs), planned.Outputs
	if v, ok := planned.Attrs["version"]; ok && v.IsKnown() && !v.IsNull() && v.Type() == cty.String {
		n.Version = v.AsString()
	}
	if planned.Expand == nil {
		return
	}
	n.Waits, n.Await = plan.ForListing, planned.Await
	var names []string
	for _, in := range n.Await {
		switch {
		case in.Artifact != nil:
			names = append(names, in.Artifact.String())
		case in.Host != nil:
			names = append(names, in.Host.Path)
		}
	}
	n.Deferred = "its actions follow from the files in " + strings.Join(names, ", ")
}

func withMeta(n *plan.Instance, specs []action.Spec) []action.Spec {
	if n.Timeout == 0 && n.Cache != plan.CacheOff && len(n.Programs) == 0 && len(n.RetryExitCodes) == 0 {
		return specs
	}
	out := make([]action.Spec, len(specs))
	for i, s := range specs {
		if s.Timeout == 0 {
			s.Timeout = n.Timeout
		}
		s.NoCache = s.NoCache || n.Cache == plan.CacheOff
		s.Programs, s.RetryExitCodes = n.Programs, n.RetryExitCodes
		out[i] = s
	}
	return out
}

// spare leaves out of an instance's Deps what its parts say by themselves, and those of its kind's toolchains that no
// action of it takes: what a step does with them depends on its arguments, and nobody installs gigabytes that this
// one leaves alone.
func spare(n *plan.Instance, toolchains []string) {
	deps := n.Deps
	n.Deps = nil
	said := make([]bool, len(deps))
	n.EachNeed(func(at addrs.Instance) {
		if i, found := slices.BinarySearchFunc(deps, at, addrs.Compare); found {
			said[i] = true
		}
	})
	for i, at := range deps {
		if !said[i] && (at.Kind != addrs.Toolchain || !slices.Contains(toolchains, at.Name)) {
			n.Deps = append(n.Deps, at)
		}
	}
}

// checkPlanned finds mistakes of a kind before they become puzzling failures.
func (p *planner) checkPlanned(s *placed, in *instance, n *plan.Instance, planned step.Planned) hcl.Diagnostics {
	var diags hcl.Diagnostics
	bug := func(detail string, args ...any) {
		diags = append(diags, errorf(&s.block.Range, "A kind does not keep its promise",
			"This is a mistake in hexmage, not in the pipeline. Kind %s, planning %s: %s.", s.block.At.Kind, in.at, fmt.Sprintf(detail, args...))...)
	}
	if planned.Expand == nil {
		for _, o := range in.outputs {
			if a, ok := planned.Outputs[o.Name]; !ok {
				bug("output %s is missing", o.Name)
			} else if a.Class != o.Class {
				bug("output %s is a %s, declared as a %s", o.Name, a.Class, o.Class)
			}
		}
	}
	var names map[string]bool
	if len(n.Specs) > 1 {
		names = make(map[string]bool, len(n.Specs))
	}
	for _, sp := range n.Specs {
		if names[sp.Name] {
			bug("two actions have the name %q", sp.Name)
		}
		if names != nil {
			names[sp.Name] = true
		}
		for _, i := range sp.Inputs {
			if i.Artifact == nil {
				continue
			}
			if _, found := slices.BinarySearchFunc(n.Deps, i.Artifact.Instance, addrs.Compare); !found {
				bug("action %q uses %s, which the step does not refer to", sp.Name, i.Artifact)
			}
		}
	}
	return diags
}
