package planner

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
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
	if s == nil || len(s.instances) == 0 || s.instances[0].plan == nil {
		return
	}
	to[name] = step.Toolchain{Output: addrs.Output{Instance: s.instances[0].at, Name: "dir"}, Attrs: s.attrs}
}

// dependencies are the instances an object may need in a frame. Marks are exact when all values are known, so of a
// step with for_each only the copies that were used count then; before that, all of them. Used may have duplicates.
func (p *planner) dependencies(n *placed, used []addrs.Instance, known bool) []addrs.Instance {
	deps := p.staticDependencies(n, known)
	for _, at := range used {
		if in := p.instance(at); in != nil && in.plan != nil {
			deps = append(deps, at)
		}
	}
	return slices.Clip(addrs.SortInstances(deps))
}

// staticDependencies are those that follow from an object's references, whatever their values are.
func (p *planner) staticDependencies(n *placed, known bool) []addrs.Instance {
	deps := make([]addrs.Instance, 0, len(n.object.refs))
	add := func(in *instance) {
		if in != nil && in.plan != nil {
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
			add(s.copy(r.Key))
		case s.block.ForEach != nil && known: // those that count are used
		default:
			for _, in := range s.instances {
				add(in)
			}
		}
	})
	return deps
}

// instance returns the instance of that address, or nil.
func (p *planner) instance(at addrs.Instance) *instance {
	f := p.frames[at.Module]
	if f == nil {
		return nil
	}
	if s := f.steps[addrs.Step{Kind: at.Kind, Name: at.Name}]; s != nil {
		return s.byAddress[at]
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
			if next := p.objects[at.of.name(r.Object())]; next != nil {
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

// awaited are the value outputs that an object may depend on in a frame, those among marked too.
func (p *planner) awaited(n *placed, marked []addrs.Output) []addrs.Output {
	out := slices.DeleteFunc(slices.Clone(marked), func(o addrs.Output) bool { return p.class(o) != action.Value })
	add := func(in *instance, r lang.Ref) {
		if in == nil || in.plan == nil {
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
			add(s.copy(r.Key), r)
		default:
			for _, in := range s.instances {
				add(in, r)
			}
		}
	})
	return slices.Clip(addrs.SortOutputs(out))
}

// asDeferred makes the instance one that waits for values. Its specs are a preview, made with the names of the values
// in their place, when the kind accepts that.
func (e *evaluator) asDeferred(req step.Request, args []*argument, env, files *argument) {
	p, n := e.p, e.in.plan
	var marks []addrs.Output
	for _, a := range append(slices.Clip(args), env, files) {
		for _, u := range a.uses {
			marks = append(marks, *u.output)
		}
	}
	n.AwaitValues = p.awaited(e.s, marks)
	names := make([]string, len(n.AwaitValues))
	for i, o := range n.AwaitValues {
		names[i] = o.String()
	}
	n.Waits, n.Deferred = plan.ForValues, "waits for the value of "+strings.Join(names, ", ")
	req.Args, req.Env = e.previews(args), previewEnv(env, req.Env)
	planned, ds := p.ask(e.s, req)
	p.noteReads(planned.Reads)
	if !ds.HasErrors() {
		n.Specs, n.Outputs = planned.Specs, planned.Outputs
	}
}

// previews are the arguments, with the names of values that are not known yet in their place.
func (e *evaluator) previews(args []*argument) map[string]cty.Value {
	vals := make(map[string]cty.Value, len(args))
	for _, a := range args {
		vals[a.name] = placeholders(a.val)
		if a.attr != nil && a.Unknown {
			if v, err := convertTo(e.preview(a.attr.Expr), a.ty); err == nil {
				vals[a.name] = v
			}
		}
	}
	return vals
}

// previewEnv is the environment, with the names of values that are not known yet in their place. Of what is known it
// has only what is shown.
func previewEnv(env *argument, shown map[string]string) map[string]string {
	vars := maps.Clone(shown)
	if env.val == cty.NilVal {
		return vars
	}
	secret := textsOf(env.plain)
	if v := placeholders(env.val); !v.IsNull() {
		for name, v := range v.AsValueMap() {
			if _, known := secret[name]; !known && !v.IsNull() {
				vars[name] = v.AsString()
			}
		}
	}
	return vars
}

// preview is the value of an expression, of which as much is shown as is known: of a script all but the value that it
// waits for.
func (e *evaluator) preview(x hcl.Expression) cty.Value {
	inner := x
	if native, ok := x.(hclsyntax.Expression); ok {
		inner = lang.Inner(native)
	}
	switch in := inner.(type) {
	case *hclsyntax.ParenthesesExpr:
		return e.preview(in.Expression)
	case *hclsyntax.TemplateWrapExpr:
		return e.preview(in.Wrapped)
	case *hclsyntax.TemplateExpr:
		var text strings.Builder
		for _, part := range in.Parts {
			v, err := convert.Convert(e.preview(part), cty.String)
			if err != nil || v.IsNull() {
				v = cty.StringVal(notKnown)
			}
			text.WriteString(v.AsString())
		}
		return cty.StringVal(text.String())
	case *hclsyntax.TupleConsExpr:
		return cty.TupleVal(e.previewAll(in.Exprs))
	case *hclsyntax.FunctionCallExpr:
		if in.Name != "concat" || in.ExpandFinal {
			break
		}
		var all []cty.Value
		for _, v := range e.previewAll(in.Args) {
			if v.CanIterateElements() {
				all = append(all, v.AsValueSlice()...)
			} else {
				all = append(all, v) // it stands for the list
			}
		}
		return cty.TupleVal(all)
	}
	v, diags := e.p.budget.Value(x, e.ctx)
	if diags.HasErrors() {
		v = cty.DynamicVal
	}
	return placeholders(v)
}

func (e *evaluator) previewAll(xs []hclsyntax.Expression) []cty.Value {
	vals := make([]cty.Value, len(xs))
	for i, x := range xs {
		vals[i] = e.preview(x)
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
	n.OutputBytes = planned.OutputBytes
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

// lacks tells whether the kind planned the step without an optional output.
func (in *instance) lacks(output string) bool {
	if in.answer.Outputs == nil || !in.s.optional(output) { // not planned yet, or only when files are known
		return false
	}
	_, planned := in.answer.Outputs[output]
	return !planned
}

// check finds mistakes of a kind before they become puzzling failures.
func (in *instance) check() hcl.Diagnostics {
	b := in.s.block
	var diags hcl.Diagnostics
	bug := func(detail string, args ...any) {
		diags = append(diags, errorf(b.Range, "A kind does not keep its promise",
			"This is a mistake in hexmage, not in the pipeline. Kind %s, planning %s: %s.",
			b.At.Kind, in.at, fmt.Sprintf(detail, args...))...)
	}
	if in.answer.Expand == nil {
		for _, o := range in.outputs {
			if a, ok := in.answer.Outputs[o.Name]; !ok && !in.s.optional(o.Name) {
				bug("output %s is missing", o.Name)
			} else if !ok {
				continue
			} else if a.Class != o.Class {
				bug("output %s is a %s, declared as a %s", o.Name, a.Class, o.Class)
			}
		}
	}
	names := make(map[string]bool, len(in.plan.Specs))
	for _, sp := range in.plan.Specs {
		if names[sp.Name] {
			bug("two actions have the name %q", sp.Name)
		}
		names[sp.Name] = true
		for _, i := range sp.Inputs {
			if i.Artifact == nil {
				continue
			}
			if _, found := slices.BinarySearchFunc(in.plan.Deps, i.Artifact.Instance, addrs.Compare); !found {
				bug("action %q uses %s, which the step does not refer to", sp.Name, i.Artifact)
			}
		}
	}
	return diags
}
