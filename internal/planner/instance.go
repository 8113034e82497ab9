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

// class returns the class of an output, 0 if it does not exist.
func (p *planner) class(o addrs.Output) action.Class {
	if in := p.instance(o.Instance); in != nil {
		for _, own := range in.outputs {
			if own.Name == o.Name {
				return own.Class
			}
		}
	}
	return 0
}

// useToolchain adds the toolchain with a name in the frame.
func (p *planner) useToolchain(to map[string]step.Toolchain, f *frame, name string) {
	s := f.step(addrs.Step{Kind: addrs.Toolchain, Name: name})
	if s == nil || len(s.instances) == 0 || s.instances[0].plan == nil {
		return
	}
	to[name] = step.Toolchain{Output: addrs.Output{Instance: s.instances[0].at, Name: "dir"}, Attrs: s.attrs}
}

// dependencies returns the instances an object may need in a frame. If all values are known, marks are exact: then only
// the used instances of a step with for_each count, otherwise all of them. used may have duplicates.
func (p *planner) dependencies(n *placed, used []addrs.Instance, known bool) []addrs.Instance {
	deps := p.staticDependencies(n, known)
	for _, at := range used {
		if in := p.instance(at); in != nil && in.plan != nil {
			deps = append(deps, at)
		}
	}
	return slices.Clip(addrs.SortInstances(deps))
}

// staticDependencies returns the dependencies that follow from an object's references, whatever their values are.
func (p *planner) staticDependencies(n *placed, known bool) []addrs.Instance {
	deps := make([]addrs.Instance, 0, len(n.object.refs))
	add := func(in *instance) {
		if in != nil && in.plan != nil {
			deps = append(deps, in.at)
		}
	}
	p.eachRef(n.object, n.frame, make(map[place]bool), func(f *frame, r lang.Ref) {
		if r.Root == lang.Toolchain && r.Attr != "" && r.Attr != "dir" {
			return // its value is known: no wait
		}
		s := f.step(r.Step)
		switch {
		case s == nil:
		case r.Keyed:
			add(s.copy(r.Key))
		case s.block.ForEach != nil && known: // used has the ones that count
		default:
			for _, in := range s.instances {
				add(in)
			}
		}
	})
	return deps
}

// instance returns the instance with the address, or nil.
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

// eachRef calls do for each reference of an object to a step or toolchain, with the frame of the reference. It follows
// locals, variables and outputs of modules. f is the frame in which the object is evaluated.
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

// awaited returns the value outputs that an object may depend on in a frame, including those among marked.
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

// asDeferred makes the instance wait for values. Its specs are a preview with the names of the values, if the kind
// accepts them.
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

// previews returns the arguments, with the names of values in place of unknown values.
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

// previewEnv returns the environment, with the names of values in place of unknown values. Known values appear only if
// they are in shown.
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

// preview returns the value of an expression with its known parts: a script, for example, without the value that it
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

// notKnown replaces an unknown value of unknown origin.
const notKnown = "<not known yet>"

// placeholders replaces unknown values by "<address>".
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

// fill copies the kind's answer into an instance, and applies the meta-arguments to each spec.
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
	n.Deferred = "actions depend on the files in " + strings.Join(names, ", ")
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

// spare removes from Deps the kind's toolchains that no action of the instance uses. The choice depends on the step's
// arguments, and hexmage should not install gigabytes for nothing.
func spare(n *plan.Instance, toolchains []string) {
	deps, taken := n.Deps, make(map[addrs.Instance]bool)
	n.Deps = nil
	n.EachNeed(func(at addrs.Instance) { taken[at] = true })
	n.Deps = slices.DeleteFunc(deps, func(at addrs.Instance) bool {
		return at.Kind == addrs.Toolchain && slices.Contains(toolchains, at.Name) && !taken[at]
	})
}

// lacks reports whether the kind planned the step without an optional output.
func (in *instance) lacks(output string) bool {
	if in.answer.Outputs == nil || !in.s.optional(output) { // not planned yet, or only when files are known
		return false
	}
	_, planned := in.answer.Outputs[output]
	return !planned
}

// check reports mistakes of a kind before they become confusing failures.
func (in *instance) check() hcl.Diagnostics {
	b := in.s.block
	var diags hcl.Diagnostics
	bug := func(detail string, args ...any) {
		diags = append(diags, errorf(b.Range, "Internal error in a step kind",
			"This is a bug in hexmage, not in your pipeline; please report it. Kind %s planned %s incorrectly: %s.",
			b.At.Kind, in.at, fmt.Sprintf(detail, args...))...)
	}
	if in.answer.Expand == nil {
		for _, o := range in.outputs {
			if a, ok := in.answer.Outputs[o.Name]; !ok && !in.s.optional(o.Name) {
				bug("output %s is missing", o.Name)
			} else if !ok {
				continue
			} else if a.Class != o.Class {
				bug("output %s is a %s, but the kind declares a %s", o.Name, a.Class, o.Class)
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
