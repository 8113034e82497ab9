package planner

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/plan"
)

// eval evaluates an expression with checked references.
func (p *planner) eval(scope *lang.Scope, e hcl.Expression) (cty.Value, hcl.Diagnostics) {
	refs, diags := lang.Refs(e.Variables())
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	return p.budget.Value(e, scope.EvalContext(refs))
}

// evalTo evaluates an expression to a known, plain value of a type; what names the expression in messages.
func (p *planner) evalTo(scope *lang.Scope, e hcl.Expression, ty cty.Type, what string) (cty.Value, hcl.Diagnostics) {
	val, diags := p.eval(scope, e)
	if diags.HasErrors() {
		return cty.NilVal, diags
	}
	return plainOf(val, e, ty, what)
}

// plainOf converts the value of an expression to a known, plain value of a type; what names the expression in messages.
func plainOf(val cty.Value, e hcl.Expression, ty cty.Type, what string) (cty.Value, hcl.Diagnostics) {
	traits := lang.ValueMarksOf(val)
	fail := func(summary, detail string, args ...any) (cty.Value, hcl.Diagnostics) {
		return cty.NilVal, errorf(e.Range(), summary, detail, args...)
	}
	if traits.Sensitive {
		return fail("Sensitive value not allowed",
			"%s must not be sensitive, because plans show its value. Use a variable that is not sensitive.", what)
	}
	if traits.Marked {
		if outs := lang.OutputMarks(val); len(outs) > 0 {
			return fail("Step output not allowed",
				"%s must be known during planning, but its value comes from %s. Use a variable or a constant.",
				what, outs[0])
		}
		val, _ = val.UnmarkDeep()
	}
	val, err := convertTo(val, ty)
	if err != nil {
		return fail("Wrong type", "%s: %s.", what, err)
	}
	if traits.Unknown {
		return fail("Value not known during planning",
			"%s must be known during planning. Use a variable or a constant.", what)
	}
	return val, nil
}

func (p *planner) evalLocal(l *config.Local, f *frame) hcl.Diagnostics {
	val, diags := p.eval(&f.scope, l.Expr)
	f.scope.Locals[l.Name] = val
	return diags
}

// evalTargets creates the objects of the targets by Options.Targets.
func (p *planner) evalTargets(f *frame) hcl.Diagnostics {
	f.targets = make(map[string]cty.Value, len(p.targets))
	var diags hcl.Diagnostics
	known := true
	for _, t := range p.targets {
		v, ds := p.evalTarget(t, f)
		diags = append(diags, ds...)
		if known = known && v != cty.NilVal; known {
			f.targets[t.Name] = v
		}
	}
	if !known {
		f.targets = nil
		return diags
	}
	all := make(map[string]cty.Value)
	if len(p.targets) == 1 {
		f.target = f.targets[p.targets[0].Name]
		all = f.target.AsValueMap()
	}
	for name, v := range f.targets {
		if hclsyntax.ValidIdentifier(name) {
			all[name] = v
		}
	}
	f.scope.Target, f.scope.Targets = cty.ObjectVal(all), cty.ObjectVal(f.targets)
	return diags
}

func (p *planner) evalTarget(t *config.Target, f *frame) (cty.Value, hcl.Diagnostics) {
	var diags hcl.Diagnostics
	args := make(map[string]lang.Argument, len(t.Arguments))
	attrs := map[string]cty.Value{"name": cty.StringVal(t.Name)}
	for _, a := range sorted(t.Arguments) {
		v, ds := p.evalTo(&f.scope, a.Expr, cty.DynamicPseudoType, a.Name+" of the target")
		if diags = append(diags, ds...); !ds.HasErrors() {
			args[a.Name] = lang.Argument{Value: v, Range: a.Expr.Range(), Constant: len(a.Expr.Variables()) == 0}
			attrs[a.Name] = v
		}
	}
	if diags.HasErrors() {
		return cty.NilVal, diags
	}
	target := cty.ObjectVal(attrs)
	if p.o.Targets != nil {
		var ds hcl.Diagnostics
		target, ds = p.o.Targets(t.Name, args)
		for _, d := range ds {
			if d.Subject == nil && t.Range != (hcl.Range{}) {
				d.Subject = t.Range.Ptr()
			}
		}
		diags = append(diags, ds...)
	}
	if target == cty.NilVal || !target.IsWhollyKnown() {
		return cty.NilVal, diags
	}
	return target, diags
}

// metaArguments evaluates the meta-arguments of the instance.
func (e *evaluator) metaArguments(n *plan.Instance) hcl.Diagnostics {
	b := e.s.block
	var diags hcl.Diagnostics
	for _, m := range []struct {
		name string
		expr hcl.Expression
		ty   cty.Type
	}{
		{"timeout", b.Timeout, cty.String}, {"retries", b.Retries, cty.Number},
		{"retry_exit_codes", b.RetryExitCodes, cty.List(cty.Number)},
		{"resources", b.Resources, cty.Map(cty.Number)}, {"cache", b.Cache, cty.String},
		{"side_effects", b.SideEffects, cty.Bool},
	} {
		v, ds := e.value(m.expr, m.ty, m.name)
		if diags = append(diags, ds...); m.expr == nil || ds.HasErrors() || v.IsNull() {
			continue
		}
		if err := setMeta(n, m.name, v); err != nil {
			diags = append(diags, errorf(m.expr.Range(), "Invalid value", "%s: %s.", e.label(m.name), err)...)
		}
	}
	f := e.s.frame
	after, ds := e.p.dependsOn(f, b.DependsOn, b.At.String(), func(x hcl.Expression) (cty.Value, hcl.Diagnostics) {
		return e.value(x, cty.String, "The key in depends_on")
	})
	n.After = slices.Clip(addrs.SortInstances(append(after, f.after...)))
	return append(diags, ds...)
}

func setMeta(n *plan.Instance, name string, v cty.Value) (err error) {
	switch name {
	case "timeout":
		n.Timeout, err = time.ParseDuration(v.AsString())
		if err != nil || n.Timeout <= 0 {
			return fmt.Errorf("invalid duration %q; use a value such as \"90s\", \"10m\" or \"2h\"", v.AsString())
		}
	case "retries":
		n.Retries, err = wholeNumber(v, 100)
	case "retry_exit_codes":
		if n.Retries == 0 {
			return fmt.Errorf("the argument retries is missing; add it, such as retries = 2")
		}
		for _, c := range v.AsValueSlice() {
			i, err := wholeNumber(c, 255)
			if err != nil {
				return err
			}
			n.RetryExitCodes = append(n.RetryExitCodes, i)
		}
	case "resources":
		n.Resources = make(map[string]int)
		for name, amount := range v.AsValueMap() {
			if n.Resources[name], err = wholeNumber(amount, 1<<30); err != nil {
				return fmt.Errorf("for %s, %w", name, err)
			}
		}
	case "cache":
		switch s := v.AsString(); s {
		case "true", "on":
			n.Cache = plan.CacheDefault
		case "false", plan.CacheOff:
			n.Cache = plan.CacheOff
		case plan.CacheLocal:
			n.Cache = s
		default:
			return fmt.Errorf("invalid value %q; use true, false or \"local\" (keep results on this machine)", s)
		}
	case "side_effects":
		if n.SideEffects = v.True(); n.SideEffects && n.Cache != plan.CacheDefault {
			return fmt.Errorf("the step cannot combine side_effects with cache; remove one of them")
		}
	}
	return err
}

func wholeNumber(v cty.Value, most int64) (int, error) {
	if v.IsNull() {
		return 0, fmt.Errorf("use a number, not null")
	}
	f := v.AsBigFloat()
	i, _ := f.Int64()
	if !f.IsInt() || i < 0 || i > most {
		return 0, fmt.Errorf("use a whole number from 0 to %[2]d, not %[1]s", f.Text('g', 10), most)
	}
	return int(i), nil
}

// keys evaluates for_each in a frame. Without for_each there is one instance without key and value. For `target` it
// returns the targets by name, even if there is only one.
func (p *planner) keys(f *frame, forEach hcl.Expression) (keys []string, values []cty.Value, diags hcl.Diagnostics) {
	if forEach == nil {
		return []string{""}, []cty.Value{cty.NilVal}, nil
	}
	if hcl.ExprAsKeyword(forEach) == lang.Target {
		for _, name := range sortedKeys(f.targets) {
			keys, values = append(keys, name), append(values, f.targets[name])
		}
		return keys, values, nil
	}
	val, diags := p.eval(&f.scope, forEach)
	if diags.HasErrors() {
		return nil, nil, diags
	}
	fail := func(summary, detail string, args ...any) ([]string, []cty.Value, hcl.Diagnostics) {
		return nil, nil, errorf(forEach.Range(), summary, detail, args...)
	}
	shallow, marks := val.Unmark()
	plain, deep := shallow, marks
	if !shallow.Type().IsSetType() { // elements of a set have no marks, and each walk of a set sorts it
		plain, deep = val.UnmarkDeep()
	}
	_, secret := deep[lang.Sensitive]
	switch {
	case secret:
		return fail("Sensitive value not allowed",
			"for_each keys become part of addresses and paths. Use values that are not sensitive.")
	case !shallow.IsKnown():
		return fail("Value not known during planning",
			"for_each must be known during planning. Use a variable or a constant.")
	case plain.IsNull():
		return fail("for_each is null", "Use a map or a set of strings. For no instances, use toset([]).")
	case !(plain.Type().IsMapType() || plain.Type().IsObjectType() || plain.Type().IsSetType()):
		return fail("Invalid for_each", "for_each needs a map or a set of strings, not a %s. "+
			"For a list of strings, write toset([…]).", plain.Type().FriendlyName())
	case len(marks) > 0 || plain.Type().IsSetType() && len(deep) > 0:
		return fail("Step outputs in for_each keys",
			"for_each keys become part of addresses, so they cannot be step outputs. "+
				"Use the values that the steps get.")
	}
	if plain.Type().IsSetType() {
		for it := plain.ElementIterator(); it.Next(); {
			_, v := it.Element()
			if v.Type() != cty.String || v.IsNull() || !v.IsKnown() {
				return fail("Invalid for_each",
					"for_each needs a set of strings, not a %s. Write toset([for x in … : tostring(x)]).",
					plain.Type().FriendlyName())
			}
			keys = append(keys, v.AsString())
			values = append(values, v)
		}
		return keys, values, nil
	}
	byKey := shallow.AsValueMap()
	for _, k := range sortedKeys(byKey) {
		keys = append(keys, k)
		values = append(values, byKey[k])
	}
	return keys, values, nil
}

// stepValue returns the value of a step in expressions: {outputs = {…}}, or a map of these for for_each. Outputs of
// files and trees are their paths, value outputs are unknown unless filled in. All carry the output's address as a
// mark.
func stepValue(s *placed, filled map[addrs.Output]cty.Value) cty.Value {
	byKey := make(map[string]cty.Value, len(s.instances))
	for _, in := range s.instances {
		outs := make(map[string]cty.Value, len(in.outputs))
		for _, o := range in.outputs {
			if in.plan == nil || in.lacks(o.Name) {
				outs[o.Name] = cty.NullVal(cty.String)
				continue
			}
			at := addrs.Output{Instance: in.at, Name: o.Name}
			v, ok := filled[at]
			switch {
			case o.Class != action.Value:
				v = cty.StringVal(at.Path())
			case !ok:
				v = cty.DynamicVal
			}
			outs[o.Name] = v.Mark(at)
		}
		obj := cty.ObjectVal(map[string]cty.Value{"outputs": cty.ObjectVal(outs)})
		if !in.at.Keyed {
			return obj
		}
		byKey[in.at.Key] = obj
	}
	return cty.ObjectVal(byKey)
}

// content converts the content of a value output to a value: JSON if it parses as JSON, else a string without the last
// line end.
func content(b []byte) cty.Value {
	if ty, err := ctyjson.ImpliedType(b); err == nil {
		if v, err := ctyjson.Unmarshal(b, ty); err == nil {
			return v
		}
	}
	s := string(b)
	if n := len(s); n > 0 && s[n-1] == '\n' {
		s = s[:n-1]
		if n := len(s); n > 0 && s[n-1] == '\r' {
			s = s[:n-1]
		}
	}
	return cty.StringVal(s)
}

// later is the state after some value outputs got their contents. It evaluates dependent parts of the frames' scopes
// again, on demand.
type later struct {
	p      *planner
	filled map[addrs.Output]cty.Value
	steps  map[addrs.Step]bool // of filled
	scopes map[*frame]*lang.Scope
	done   map[place]bool
	dummy  bool // sensitive values are replaced by dummies, and evaluated again: see newDummies
}

// place is an object in a frame.
type place struct {
	of *object
	in *frame
}

func (p *planner) laterWith(values map[addrs.Output][]byte) (*later, hcl.Diagnostics) {
	p.budget.Refill()
	l := &later{p: p, filled: make(map[addrs.Output]cty.Value, len(values)), steps: make(map[addrs.Step]bool),
		scopes: make(map[*frame]*lang.Scope), done: make(map[place]bool)}
	for o, b := range values {
		v := content(b)
		if err := p.budget.Take(v); err != nil {
			return nil, errorf(hcl.Range{}, "Step output too large", "%s: %s.", o, err)
		}
		l.filled[o] = v
		l.steps[o.Step] = true
	}
	return l, nil
}

// scope returns the frame's scope with the values of later.
func (l *later) scope(f *frame) *lang.Scope {
	s := l.scopes[f]
	if s == nil {
		own := f.scope
		own.Steps, own.Locals, own.Vars, own.Modules = maps.Clone(own.Steps), maps.Clone(own.Locals),
			maps.Clone(own.Vars), maps.Clone(own.Modules)
		if l.dummy && f.caller == nil {
			maps.Copy(own.Vars, l.p.dummies.vars)
		}
		s = &own
		l.scopes[f] = s
	}
	return s
}

// withDummies returns a later in which dummies replace sensitive values.
func (l *later) withDummies() *later {
	return &later{p: l.p, filled: l.filled, steps: l.steps, scopes: make(map[*frame]*lang.Scope),
		done: make(map[place]bool), dummy: true}
}

// again reports whether an object with this value has to be evaluated again.
func (l *later) again(of *object, was cty.Value) bool {
	if l.dummy && lang.IsSensitive(was) {
		return true
	}
	return len(l.filled) > 0 && l.p.dynamic(of.scope, of.refs, nil) != nil
}

// value returns the value of an expression. With dummies it returns no value for an expression that does more with a
// sensitive value than insert it into a string.
func (l *later) value(v cty.Value, diags hcl.Diagnostics) (cty.Value, hcl.Diagnostics) {
	if l.dummy && diags.HasErrors() {
		return cty.DynamicVal.Mark(lang.Sensitive), nil
	}
	return v, diags
}

// settle evaluates again the references of an object; f is the frame of the names. It returns the scope of that frame.
func (l *later) settle(o *object, f *frame) (*lang.Scope, hcl.Diagnostics) {
	scope := l.scope(f)
	if l.done[place{o, f}] {
		return scope, nil
	}
	l.done[place{o, f}] = true
	var diags hcl.Diagnostics
	for _, r := range o.refs {
		switch r.Root {
		case lang.StepRoot:
			if s := f.step(r.Step); s != nil && l.steps[s.at] {
				scope.Steps[r.Step] = stepValue(s, l.filled)
			}
		case lang.Local:
			of := l.p.objects[f.of.name(r.Object())]
			if !l.again(of, f.scope.Locals[r.Name]) {
				break
			}
			own, ds := l.settle(of, f)
			if diags = append(diags, ds...); !ds.HasErrors() {
				v, ds := l.value(l.p.eval(own, of.local.Expr))
				diags = append(diags, ds...)
				scope.Locals[r.Name] = v
			}
		case lang.Var:
			of := l.p.objects[f.of.name(r.Object())]
			if of == nil || !l.again(of, f.scope.Vars[r.Name]) {
				break
			}
			ds := l.variable(of, r.Name, f)
			diags = append(diags, ds...)
		case lang.Module:
			diags = append(diags, l.module(r, f)...)
		}
	}
	return scope, diags
}

func (l *later) variable(of *object, name string, f *frame) hcl.Diagnostics {
	scope, diags := l.settle(of, f.caller)
	if diags.HasErrors() {
		return diags
	}
	i := slices.IndexFunc(f.of.cfg.Variables, func(v *config.Variable) bool { return v.Name == name })
	arg := f.of.call.Arguments[name]
	if l.dummy && lang.IsSensitive(f.scope.Vars[name]) {
		if arg != nil { // a dummy is a string, whatever the variable's type
			l.scope(f).Vars[name], _ = l.value(l.p.inCall(f, scope, arg.Expr))
		}
		return diags
	}
	v, ds := l.p.argument(f.of.cfg.Variables[i], arg, f, scope)
	l.scope(f).Vars[name] = v
	return append(diags, ds...)
}

// module evaluates the outputs of a call again.
func (l *later) module(r lang.Ref, f *frame) hcl.Diagnostics {
	m := f.of.calls[r.Name]
	if m == nil || r.Copies {
		return nil
	}
	was := f.scope.Modules[r.Name]
	scope := l.scope(f)
	now := scope.Modules[r.Name]
	var diags hcl.Diagnostics
	for _, out := range m.parts.Outputs {
		of := l.p.objects[m.name("output."+out.Name)]
		if r.Attr != "" && r.Attr != out.Name ||
			!slices.ContainsFunc(was.Values,
				func(copy map[string]cty.Value) bool { return l.again(of, copy[out.Name]) }) {
			continue
		}
		if now == was {
			now = &lang.Outputs{Keyed: was.Keyed, Keys: was.Keys}
			for _, values := range was.Values {
				now.Values = append(now.Values, maps.Clone(values))
			}
			scope.Modules[r.Name] = now
		}
		for i, child := range f.calls[r.Name] { // same number and order as was.Keys
			if r.Keyed && was.Keys[i] != r.Key {
				continue
			}
			own, ds := l.settle(of, child)
			if diags = append(diags, ds...); ds.HasErrors() {
				continue
			}
			v, ds := l.value(l.p.eval(own, out.Value))
			diags = append(diags, ds...)
			now.Values[i][out.Name] = v
		}
	}
	return diags
}
