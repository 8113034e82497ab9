package planner

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/nearest"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/workspace"
)

const (
	maxModules = 2000   // calls as written, those of modules that are called twice counted twice
	maxFrames  = 20_000 // copies of all calls
)

// module is a module as a call names it, or the pipeline: declared once, however many copies its calls make.
type module struct {
	at       addrs.Module // as written, without keys
	cfg      *config.Module
	parts    config.Parts
	caller   *module // nil for the pipeline, as is call
	call     *config.Call
	declared lang.Declared
	steps    map[addrs.Step]*stepDecl // by their address in the module
	calls    map[string]*module
	frames   []*frame
}

// frame is a module in one place, with what is known there.
type frame struct {
	of     *module
	at     addrs.Module // module.aot["Alpha7"]
	caller *frame
	key    cty.Value // each.key and each.value of its call; zero Values without for_each
	value  cty.Value

	scope   lang.Scope
	steps   map[addrs.Step]*stepState // by their address in the module
	calls   map[string][]*frame       // copies that exist
	off     map[string]map[string]bool
	outputs map[string]cty.Value
	checks  map[string][]plan.Check // by the block's name
	target  cty.Value               // for kinds; the zero Value when there is none, or which one is not said
	targets map[string]cty.Value    // by name
	after   []addrs.Instance        // depends_on of the calls that lead here
}

// newModule makes a module of what a call names, and those that it calls in turn; callers come first in p.modules.
func (p *planner) newModule(caller *module, call *config.Call, cfg *config.Module) (*module, hcl.Diagnostics) {
	m := &module{cfg: cfg, caller: caller, call: call, parts: cfg.With(p.profileName()), steps: make(map[addrs.Step]*stepDecl), calls: make(map[string]*module)}
	if caller != nil {
		m.at = caller.at.Call(call.Name)
	}
	if p.modules = append(p.modules, m); len(p.modules) > maxModules {
		return m, errorf(&call.Range, "More than a plan may hold", "The modules call each other more than %d times.", maxModules)
	}
	var diags hcl.Diagnostics
	for _, c := range m.parts.Calls {
		if c.Module == nil || m.calls[c.Name] != nil { // config has said so
			continue
		}
		child, ds := p.newModule(m, c, c.Module)
		m.calls[c.Name] = child
		if diags = append(diags, ds...); len(p.modules) > maxModules {
			break
		}
	}
	return m, diags
}

// name is the name of an object of the module.
func (m *module) name(address string) string { return m.at.Of(address) }

// Names of the objects of a call: its copies, all that comes out of it, and all that it does. The first is the module's address.
func (m *module) whole() string { return "all of " + string(m.at) }
func (m *module) done() string  { return "every step of " + string(m.at) }

// toolchain is the module that declares the toolchain which this one means by a name: itself, or the nearest of those that lead to it.
func (m *module) toolchain(name string) *module {
	at := addrs.Step{Kind: addrs.Toolchain, Name: name}
	for ; m != nil; m = m.caller {
		if m.steps[at] != nil {
			return m
		}
	}
	return nil
}

// up is the frame of a module that leads to f.
func (f *frame) up(to *module) *frame {
	for f != nil && f.of != to {
		f = f.caller
	}
	return f
}

// step is the state of a step or toolchain that a reference in the frame means.
func (f *frame) step(at addrs.Step) *stepState {
	if at.Kind == addrs.Toolchain {
		if f = f.up(f.of.toolchain(at.Name)); f == nil {
			return nil
		}
	}
	return f.steps[at]
}

// object names what a reference in the module leads to; order says that it stands in depends_on.
func (m *module) object(r lang.Ref, order bool) string {
	switch r.Root {
	case lang.Toolchain:
		if t := m.toolchain(r.Name); t != nil {
			return t.name(r.Object())
		}
	case lang.Target, lang.Targets:
		if m.caller != nil {
			return string(m.at) // with its copies it is known what each is for
		}
		return lang.Target
	case lang.Module:
		switch child := m.calls[r.Name]; {
		case child == nil:
		case order:
			return child.done()
		case r.Copies:
			return string(child.at)
		case r.Attr == "":
			return child.whole()
		default:
			return child.name("output." + r.Attr)
		}
	}
	return m.name(r.Object())
}

// declareCall makes the objects of a call: its copies, the values of the module's variables, and all of its outputs.
func (p *planner) declareCall(m *module) hcl.Diagnostics {
	c, caller := m.call, m.caller
	o := p.add(&object{name: string(m.at), in: caller, scope: caller, rng: c.Range, eval: func(f *frame) hcl.Diagnostics { return p.evalCall(m, f) }})
	if caller.caller == nil && len(p.targets) > 0 {
		o.implicit = append(o.implicit, lang.Target) // which its copies are for, unless they say otherwise
	}
	exprs := []hcl.Expression{c.ForEach, c.When, c.Target}
	for _, d := range c.DependsOn {
		exprs = append(exprs, d.Key)
	}
	diags := p.refer(o, c.ForEach != nil, variables(exprs...))
	diags = append(diags, p.referOrder(o, c.DependsOn)...)

	var names []string
	for _, v := range m.cfg.Variables {
		names = append(names, v.Name)
		a := c.Arguments[v.Name]
		vo := p.add(&object{name: m.name("var." + v.Name), in: m, scope: caller, variable: true, rng: v.Range, eval: func(f *frame) hcl.Diagnostics { return p.evalArgument(v, a, f) }})
		if a != nil {
			vo.rng = a.NameRange
			diags = append(diags, p.refer(vo, c.ForEach != nil, a.Expr.Variables())...)
			diags = append(diags, p.referEach(vo, a.Expr)...)
		} else if v.Default == nil && !v.Optional {
			vo.failed = true
			diags = append(diags, errorf(&c.Range, "A variable has no value",
				"%s needs a value for %s, which is declared at %s and has no default. Write %s = … in the block.", m.at, v.Name, config.Where(v.Range), v.Name)...)
		}
	}
	for _, a := range sorted(c.Arguments) {
		if slices.Contains(names, a.Name) {
			continue
		}
		r := a.NameRange
		advice := fmt.Sprintf("It has: %s.", orNone(names))
		if near := nearest.Name(a.Name, names); near != "" {
			advice = fmt.Sprintf("Did you mean %s?", near)
		}
		diags = append(diags, errorf(&r, "No such variable", "The module %s, in %s, has no variable %s. %s", c.Source, m.cfg.Dir, a.Name, advice)...)
	}
	return diags
}

// declareEnds makes the objects that stand for all of a module: what comes out of it, and what it does.
func (p *planner) declareEnds(m *module) {
	whole := p.add(&object{name: m.whole(), in: m.caller, scope: m.caller, rng: m.call.Range})
	for _, out := range m.parts.Outputs {
		whole.implicit = append(whole.implicit, m.name("output."+out.Name))
	}
	whole.implicit = append(whole.implicit, string(m.at))
	done := p.add(&object{name: m.done(), in: m.caller, scope: m.caller, rng: m.call.Range})
	for _, b := range m.parts.Steps {
		done.implicit = append(done.implicit, m.name(b.At.String()))
	}
	for _, c := range sortedKeys(m.calls) {
		done.implicit = append(done.implicit, m.calls[c].done())
	}
	done.implicit = append(done.implicit, string(m.at))
}

// evalCall makes the frames of a call in one frame of its caller.
func (p *planner) evalCall(m *module, caller *frame) hcl.Diagnostics {
	c := m.call
	keys, values, diags := p.keys(caller, c.ForEach)
	if diags.HasErrors() {
		return diags
	}
	if p.framed += len(keys); p.framed > maxFrames {
		return errorf(&c.Range, "More than a plan may hold", "With the %d copies of module.%s there are more than %d of all modules.", len(keys), c.Name, maxFrames)
	}
	p.budget.Allow(len(keys) * (1 + len(m.cfg.Variables) + len(m.parts.Locals) + len(m.parts.Outputs) + len(m.parts.Checks)))
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
			} else if caller.off[c.Name] == nil {
				caller.off[c.Name] = map[string]bool{k: true}
			} else {
				caller.off[c.Name][k] = true
			}
			continue
		}
		if ds := p.aim(c, f); ds.HasErrors() {
			return append(diags, ds...)
		}
		ds = p.orderCall(c, f)
		if diags = append(diags, ds...); ds.HasErrors() {
			return diags
		}
		outputs.Keys, outputs.Values = append(outputs.Keys, k), append(outputs.Values, f.outputs)
		caller.calls[c.Name] = append(caller.calls[c.Name], f)
		m.frames = append(m.frames, f)
		p.frames[f.at] = f
	}
	return diags
}

func (p *planner) newFrame(m *module, caller *frame) *frame {
	f := &frame{of: m, caller: caller, steps: make(map[addrs.Step]*stepState), calls: make(map[string][]*frame), off: make(map[string]map[string]bool), outputs: make(map[string]cty.Value), checks: make(map[string][]plan.Check)}
	f.scope = lang.Scope{
		Vars: make(map[string]cty.Value), Locals: make(map[string]cty.Value), Toolchains: make(map[string]cty.Value),
		Steps: make(map[addrs.Step]cty.Value), Modules: make(map[string]*lang.Outputs),
		Path:      cty.ObjectVal(map[string]cty.Value{"workspace": cty.StringVal("."), "pipeline": cty.StringVal(workspace.Folder), "module": cty.StringVal(m.cfg.Dir)}),
		Profile:   cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal(p.profileName())}),
		Functions: p.functions,
	}
	if caller != nil {
		f.scope.Caller = &caller.scope
		f.scope.Target, f.scope.Targets, f.target, f.targets, f.after = caller.scope.Target, caller.scope.Targets, caller.target, caller.targets, caller.after
	}
	return f
}

// inCall evaluates an expression of the call that made a frame, in the frame's caller.
func (p *planner) inCall(f *frame, scope *lang.Scope, e hcl.Expression) (cty.Value, hcl.Diagnostics) {
	refs, diags := lang.Refs(e.Variables())
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	ctx := scope.EvalContext(refs)
	if f.key != cty.NilVal {
		ctx.Variables[lang.Each] = cty.ObjectVal(map[string]cty.Value{"key": f.key, "value": f.value})
	}
	return p.budget.Value(e, ctx)
}

func (p *planner) existing(c *config.Call, f *frame) (bool, hcl.Diagnostics) {
	if c.When == nil {
		return true, nil
	}
	what := func() string { return "when of module." + c.Name }
	v, diags := p.inCall(f, &f.caller.scope, c.When)
	if diags.HasErrors() {
		return false, diags
	}
	v, ds := plainOf(v, c.When, cty.Bool, what)
	if diags = append(diags, ds...); ds.HasErrors() {
		return false, diags
	}
	if v.IsNull() {
		r := c.When.Range()
		return false, append(diags, errorf(&r, "A value is not allowed", "%s is null: it must be true or false.", what())...)
	}
	return v.True(), diags
}

// aim sets what a frame is built for.
func (p *planner) aim(c *config.Call, f *frame) hcl.Diagnostics {
	if c.Target == nil {
		return nil
	}
	what := func() string { return "target of module." + c.Name }
	v, diags := p.inCall(f, &f.caller.scope, c.Target)
	if diags.HasErrors() {
		return diags
	}
	v, ds := plainOf(v, c.Target, cty.DynamicPseudoType, what)
	if diags = append(diags, ds...); ds.HasErrors() {
		return diags
	}
	if ds := p.checkTarget(v, c.Target, what()); ds.HasErrors() {
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

// checkTarget refuses what is no target.
func (p *planner) checkTarget(v cty.Value, e hcl.Expression, what string) hcl.Diagnostics {
	for _, t := range p.rootFrame().targets {
		if t.RawEquals(v) {
			return nil
		}
	}
	r := e.Range()
	return errorf(&r, "Not a target", "%s must be one of the pipeline's targets: %s.", what, orNone(targetNames(p.rootFrame().targets)))
}

func targetNames(targets map[string]cty.Value) []string {
	names := sortedKeys(targets)
	for i, n := range names {
		names[i] = "target." + n
	}
	return names
}

func (p *planner) rootFrame() *frame { return p.root.frames[0] }

// orderCall adds what the call's depends_on names.
func (p *planner) orderCall(c *config.Call, f *frame) hcl.Diagnostics {
	var diags hcl.Diagnostics
	after := slices.Clone(f.after)
	for _, d := range c.DependsOn {
		r, ds := lang.ParseRef(d.Step)
		if ds.HasErrors() {
			return append(diags, ds...)
		}
		if d.Key != nil {
			v, ds := p.inCall(f, &f.caller.scope, d.Key)
			if ds.HasErrors() {
				return append(diags, ds...)
			}
			v, ds = plainOf(v, d.Key, cty.String, func() string { return "The key in depends_on of module." + c.Name })
			if ds.HasErrors() {
				return append(diags, ds...)
			}
			if v.IsNull() {
				at := d.Key.Range()
				return append(diags, errorf(&at, "A value is not allowed", "The key in depends_on of module.%s: null is no key.", c.Name)...)
			}
			r.Key, r.Keyed = v.AsString(), true
		}
		at, ds := p.ordered(f.caller, r)
		diags = append(diags, ds...)
		after = append(after, at...)
	}
	f.after = slices.Clip(addrs.SortInstances(after))
	return diags
}

// ordered are the instances that an element of depends_on names in a frame, as in plan.Instance.After: a step without a key stands for all its copies. What
// when = false takes away orders nothing.
func (p *planner) ordered(f *frame, r lang.Ref) ([]addrs.Instance, hcl.Diagnostics) {
	if r.Root == lang.Module {
		var out []addrs.Instance
		for _, child := range f.calls[r.Name] {
			if !r.Keyed || child.key != cty.NilVal && child.key.AsString() == r.Key {
				out = append(out, child.all()...)
			}
		}
		if r.Keyed && len(out) == 0 && !f.off[r.Name][r.Key] {
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
		if s.instance(at) != nil {
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

// all are the steps of a frame, and of those that it calls.
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

// evalArgument settles a variable of a module: what the call gives, or its default.
func (p *planner) evalArgument(v *config.Variable, a *hcl.Attribute, f *frame) hcl.Diagnostics {
	val, diags := p.argument(v, a, f, &f.caller.scope)
	f.scope.Vars[v.Name] = val
	return diags
}

func (p *planner) argument(v *config.Variable, a *hcl.Attribute, f *frame, scope *lang.Scope) (cty.Value, hcl.Diagnostics) {
	if a == nil {
		val, diags := p.variable(v, inputValue{})
		return val, append(diags, p.hidden(v, val, &v.Range)...)
	}
	val, diags := p.inCall(f, scope, a.Expr)
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	if val.IsNull() && v.Default != nil { // so a caller hands on a variable of its own that may be left out
		val, ds := p.variable(v, inputValue{})
		return val, append(append(diags, ds...), p.hidden(v, val, &v.Range)...)
	}
	r := a.Expr.Range()
	if diags = append(diags, p.hidden(v, val, &r)...); diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	val, ds := p.variable(v, inputValue{val: val, from: string(f.at), rng: &r})
	return val, append(diags, ds...)
}

// hidden refuses a value for a sensitive variable of a module that nobody hides: what is sensitive comes of a sensitive variable of the pipeline, by whose name plans
// refer to it. Null and "" are nothing to hide.
func (p *planner) hidden(v *config.Variable, val cty.Value, at *hcl.Range) hcl.Diagnostics {
	if plain, _ := val.UnmarkDeep(); !v.Sensitive || val == cty.NilVal || plain.IsNull() || plain.RawEquals(cty.StringVal("")) {
		return nil
	}
	if at == &v.Range {
		return errorf(at, "A sensitive value in a file", "The default of var.%s stands in this file for everybody. Leave out the default, or `sensitive`; a variable that may be left out has the type optional(…).", v.Name)
	}
	if lang.TraitsOf(val).Sensitive {
		return nil
	}
	return errorf(at, "Not a sensitive value", "var.%s of this module, declared at %s, is sensitive, and this value is not: plans would show it. Make it of a variable with sensitive = true.",
		v.Name, config.Where(v.Range))
}

// checkModuleRef checks the key of a reference to a copy of a call.
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
	at := addrs.Module("").Copy(r.Name, r.Key)
	if f.off[r.Name][r.Key] {
		return errorf(&r.Range, "No such copy of a module", "There is no %s, since its when is false. Its keys are: %s.", at, orNone(keys))
	}
	if near := nearest.Name(r.Key, keys); near != "" {
		return errorf(&r.Range, "No such copy of a module", "There is no %s. Did you mean [%q]?", at, near)
	}
	return errorf(&r.Range, "No such copy of a module", "There is no %s. Its keys are: %s.", at, orNone(keys))
}

// inside says in which copy of a module something is wrong, and by which calls that came to be.
func (f *frame) inside(diags hcl.Diagnostics) hcl.Diagnostics {
	return f.of.inside(f.at, diags)
}

func (m *module) inside(at addrs.Module, diags hcl.Diagnostics) hcl.Diagnostics {
	if m.caller == nil || len(diags) == 0 {
		return diags
	}
	out := slices.Clone(diags)
	for i, d := range out {
		from, at := m, at
		if d.Subject != nil { // it may be about a call that leads here
			for n, up := m, at; n != nil; n, up = n.caller, up.Caller() {
				if n.cfg.Dir == path.Dir(d.Subject.Filename) {
					from, at = n, up
					break
				}
			}
		}
		var places []string
		for ; from.caller != nil; from, at = from.caller, at.Caller() {
			places = append(places, fmt.Sprintf("%s, called at %s", at, config.Where(from.call.Range)))
		}
		if len(places) > 0 {
			own := *d
			own.Detail += "\nThis is in " + strings.Join(places, ",\nin ") + "."
			out[i] = &own
		}
	}
	return out
}

// unsaid takes away what was said of another call of the same module.
func (p *planner) unsaid(m *module, diags hcl.Diagnostics) hcl.Diagnostics {
	diags = slices.DeleteFunc(slices.Clone(diags), func(d *hcl.Diagnostic) bool {
		if m.caller == nil || d.Subject == nil {
			return false
		}
		what := saying{*d.Subject, d.Detail}
		again := p.said[what]
		p.said[what] = true
		return again
	})
	return m.inside(m.at, diags)
}

// saying is a diagnostic, as far as it is the same for all calls of a module.
type saying struct {
	at     hcl.Range
	detail string
}
