package planner

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/workspace"
)

// evalCall creates the frames of a call in one frame of its caller.
func (p *planner) evalCall(m *module, caller *frame) hcl.Diagnostics {
	c := m.call
	keys, values, diags := p.keys(caller, c.ForEach)
	if diags.HasErrors() {
		return diags
	}
	if p.framed += len(keys); p.framed > maxFrames {
		return errorf(c.Range, "Plan too large",
			"The %d instances of module.%s exceed the limit of %d module instances in a plan. "+
				"Use fewer keys in for_each.", len(keys), c.Name, maxFrames)
	}
	outputs := &lang.Outputs{Keyed: c.ForEach != nil}
	caller.scope.Modules[c.Name] = outputs
	for i, k := range keys {
		f := p.newFrame(m, caller)
		f.at = caller.at.Call(c.Name)
		if c.ForEach != nil {
			f.at, f.key, f.value = caller.at.Copy(c.Name, k), cty.StringVal(k), values[i]
		}
		exists, ds := p.existing(c, f)
		if diags = append(diags, ds...); ds.HasErrors() {
			return diags
		}
		if !exists {
			if c.ForEach == nil {
				null := make(map[string]cty.Value, len(m.parts.Outputs))
				for _, out := range m.parts.Outputs {
					null[out.Name] = cty.NullVal(cty.DynamicPseudoType)
				}
				outputs.Keys, outputs.Values = []string{""}, []map[string]cty.Value{null}
			}
			caller.off[f.at] = true
			continue
		}
		if ds := p.aim(c, f); ds.HasErrors() {
			return append(diags, ds...)
		}
		of := "module." + c.Name
		after, ds := p.dependsOn(caller, c.DependsOn, of, func(x hcl.Expression) (cty.Value, hcl.Diagnostics) {
			return p.callValue(f, x, cty.String, "The key in depends_on of "+of)
		})
		if diags = append(diags, ds...); ds.HasErrors() {
			return diags
		}
		f.after = slices.Clip(addrs.SortInstances(append(after, f.after...)))
		outputs.Keys, outputs.Values = append(outputs.Keys, k), append(outputs.Values, f.outputs)
		caller.calls[c.Name] = append(caller.calls[c.Name], f)
		m.frames = append(m.frames, f)
		p.frames[f.at] = f
	}
	return diags
}

func (p *planner) newFrame(m *module, caller *frame) *frame {
	f := &frame{
		of: m, caller: caller, steps: make(map[addrs.Step]*placed), calls: make(map[string][]*frame),
		off: make(map[addrs.Module]bool), outputs: make(map[string]cty.Value), checks: make(map[string][]plan.Check),
	}
	f.scope = lang.Scope{
		Vars: make(map[string]cty.Value), Locals: make(map[string]cty.Value), Toolchains: make(map[string]cty.Value),
		Steps: make(map[addrs.Step]cty.Value), Modules: make(map[string]*lang.Outputs),
		Path: cty.ObjectVal(map[string]cty.Value{
			"workspace": cty.StringVal("."), "pipeline": cty.StringVal(workspace.Folder),
			"module": cty.StringVal(m.cfg.Dir),
		}),
		Profile:   cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal(p.profileName())}),
		Functions: p.functions,
	}
	if caller != nil {
		f.scope.Caller, f.scope.Target, f.scope.Targets = &caller.scope, caller.scope.Target, caller.scope.Targets
		f.target, f.targets, f.after = caller.target, caller.targets, caller.after
	}
	return f
}

// inCall evaluates an expression of the call that created a frame, in the caller's frame.
func (p *planner) inCall(f *frame, scope *lang.Scope, e hcl.Expression) (cty.Value, hcl.Diagnostics) {
	refs, diags := lang.Refs(e.Variables())
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	ctx := scope.EvalContext(refs)
	if each := f.each(); each != cty.NilVal {
		ctx.Variables[lang.Each] = each
	}
	return p.budget.Value(e, ctx)
}

// each returns the each object for the arguments of the call that created the frame; the zero Value without for_each.
func (f *frame) each() cty.Value {
	if f.key == cty.NilVal {
		return cty.NilVal
	}
	return cty.ObjectVal(map[string]cty.Value{"key": f.key, "value": f.value})
}

// callValue evaluates an argument of the call that created a frame to a known, plain value of a type.
func (p *planner) callValue(f *frame, e hcl.Expression, ty cty.Type, what string) (cty.Value, hcl.Diagnostics) {
	v, diags := p.inCall(f, &f.caller.scope, e)
	if diags.HasErrors() {
		return cty.NilVal, diags
	}
	v, ds := plainOf(v, e, ty, what)
	return v, append(diags, ds...)
}

func (p *planner) existing(c *config.Call, f *frame) (bool, hcl.Diagnostics) {
	if c.When == nil {
		return true, nil
	}
	what := "when of module." + c.Name
	v, diags := p.callValue(f, c.When, cty.Bool, what)
	return decide(v, diags, c.When, what)
}

// decide returns the value of a when expression.
func decide(v cty.Value, diags hcl.Diagnostics, when hcl.Expression, what string) (bool, hcl.Diagnostics) {
	switch {
	case diags.HasErrors():
		return false, diags
	case v.IsNull():
		return false, append(diags, errorf(when.Range(), "Null condition", "%s is null, but must be true or "+
			"false. For a value that may be null, write coalesce(VALUE, false).", what)...)
	}
	return v.True(), diags
}

// aim sets the target of a frame.
func (p *planner) aim(c *config.Call, f *frame) hcl.Diagnostics {
	if c.Target == nil {
		return nil
	}
	what := "target of module." + c.Name
	v, diags := p.callValue(f, c.Target, cty.DynamicPseudoType, what)
	if diags.HasErrors() {
		return diags
	}
	if ds := p.checkTarget(v, c.Target, what); ds.HasErrors() {
		return append(diags, ds...)
	}
	f.target, f.scope.Target = v, v
	f.targets = nil
	for name, t := range p.rootFrame().targets {
		if t.RawEquals(v) {
			f.targets = map[string]cty.Value{name: v}
			f.scope.Targets = cty.ObjectVal(f.targets)
		}
	}
	return diags
}

// checkTarget rejects values that are not targets.
func (p *planner) checkTarget(v cty.Value, e hcl.Expression, what string) hcl.Diagnostics {
	for _, t := range p.rootFrame().targets {
		if t.RawEquals(v) {
			return nil
		}
	}
	return errorf(e.Range(), "Invalid target", "%s must be one of the pipeline's targets: %s.", what,
		orNone(targetNames(p.rootFrame().targets)))
}

// targetNames returns references to the targets.
func targetNames(targets map[string]cty.Value) []string {
	names := sortedKeys(targets)
	for i, n := range names {
		if names[i] = "target." + n; !hclsyntax.ValidIdentifier(n) {
			names[i] = fmt.Sprintf("targets[%q]", n)
		}
	}
	return names
}

func (p *planner) rootFrame() *frame { return p.root.frames[0] }

// dependsOn returns the instances that depends_on names in a frame, like plan.Instance.After. value evaluates a key in
// that frame; of names the owner of the depends_on.
func (p *planner) dependsOn(
	f *frame, on []config.Dependency, of string, value func(hcl.Expression) (cty.Value, hcl.Diagnostics),
) (after []addrs.Instance, diags hcl.Diagnostics) {
	for _, d := range on {
		r, ds := lang.ParseRef(d.Step)
		if ds.HasErrors() {
			continue // reported earlier
		}
		if d.Key != nil {
			v, ds := value(d.Key)
			if !ds.HasErrors() && v.IsNull() {
				ds = errorf(d.Key.Range(), "Invalid value", "The key in depends_on of %s is null. Use a string.", of)
			}
			if !ds.HasErrors() {
				r.Key, r.Keyed = v.AsString(), true
				ds = append(ds, f.of.declared.Check(r, true)...)
			}
			if diags = append(diags, ds...); ds.HasErrors() {
				continue
			}
		}
		at, ds := p.ordered(f, r)
		diags = append(diags, ds...)
		after = append(after, at...)
	}
	return after, diags
}

// ordered returns the instances for one element of depends_on in a frame, like plan.Instance.After: a step without a
// key stands for all its instances. A step or instance whose when is false orders nothing.
func (p *planner) ordered(f *frame, r lang.Ref) ([]addrs.Instance, hcl.Diagnostics) {
	if r.Root == lang.Module {
		var out []addrs.Instance
		for _, child := range f.calls[r.Name] {
			if !r.Keyed || child.key != cty.NilVal && child.key.AsString() == r.Key {
				out = append(out, child.all()...)
			}
		}
		if r.Keyed && len(out) == 0 && !f.off[f.at.Copy(r.Name, r.Key)] {
			return nil, p.checkModuleRef(f, r)
		}
		return out, nil
	}
	s := f.step(r.Step)
	if s == nil {
		return nil, nil
	}
	at := addrs.Instance{Step: s.at, Key: r.Key, Keyed: r.Keyed}
	if r.Keyed {
		if s.byAddress[at] != nil {
			return []addrs.Instance{at}, nil
		}
		if s.off[r.Key] {
			return nil, nil
		}
		return nil, p.checkStepRef(f, r)
	}
	if s.exists() {
		return []addrs.Instance{at}, nil
	}
	return nil, nil
}

// all returns the steps of a frame and of the modules it calls.
func (f *frame) all() []addrs.Instance {
	var out []addrs.Instance
	for at, s := range f.steps {
		if at.Kind != addrs.Toolchain && s.exists() {
			out = append(out, addrs.Instance{Step: s.at})
		}
	}
	for _, frames := range f.calls {
		for _, child := range frames {
			out = append(out, child.all()...)
		}
	}
	return out
}

// evalArgument sets a variable of a module: the caller's value, or the default.
func (p *planner) evalArgument(v *config.Variable, a *hcl.Attribute, f *frame) hcl.Diagnostics {
	val, diags := p.argument(v, a, f, &f.caller.scope)
	f.scope.Vars[v.Name] = val
	return diags
}

func (p *planner) argument(
	v *config.Variable, a *hcl.Attribute, f *frame, scope *lang.Scope,
) (cty.Value, hcl.Diagnostics) {
	if a == nil {
		val, diags := p.variable(v, inputValue{})
		return val, append(diags, p.hidden(v, val, v.Range)...)
	}
	val, diags := p.inCall(f, scope, a.Expr)
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	if val.IsNull() && v.Default != nil { // so a caller can pass on its own optional variable
		val, ds := p.variable(v, inputValue{})
		return val, append(append(diags, ds...), p.hidden(v, val, v.Range)...)
	}
	r := a.Expr.Range()
	if diags = append(diags, p.hidden(v, val, r)...); diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	val, ds := p.variable(v, inputValue{val: val, from: string(f.at), rng: r})
	return val, append(diags, ds...)
}

// hidden rejects a value for a sensitive variable of a module unless the value is sensitive itself: sensitive values
// come from sensitive variables of the pipeline, by whose names plans refer to them. Null and "" need no hiding.
func (p *planner) hidden(v *config.Variable, val cty.Value, at hcl.Range) hcl.Diagnostics {
	if !v.Sensitive || val == cty.NilVal {
		return nil
	}
	if plain, _ := val.UnmarkDeep(); plain.IsNull() || plain.RawEquals(cty.StringVal("")) {
		return nil
	}
	if at == v.Range {
		return errorf(at, "Sensitive variable with a default", "var.%s is sensitive, but this file shows its default. "+
			"Remove the default, or use the type optional(…) if callers may omit the variable.", v.Name)
	}
	if lang.ValueMarksOf(val).Sensitive {
		return nil
	}
	return errorf(at, "Sensitive value required",
		"var.%s of this module (%s) is sensitive, but this value is not, so plans would show the value. "+
			"Pass a variable with sensitive = true.", v.Name, config.Where(v.Range))
}

// checkModuleRef checks the key of a reference to an instance of a call.
func (p *planner) checkModuleRef(f *frame, r lang.Ref) hcl.Diagnostics {
	if !r.Keyed {
		return nil
	}
	var keys []string
	for _, child := range f.calls[r.Name] {
		keys = append(keys, child.key.AsString())
	}
	if slices.Contains(keys, r.Key) {
		return nil
	}
	return noCopy("module", string(addrs.Module("").Copy(r.Name, r.Key)), r, keys, f.off[f.at.Copy(r.Name, r.Key)])
}
