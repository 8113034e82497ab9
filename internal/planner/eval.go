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

// eval evaluates an expression whose references were checked.
func (p *planner) eval(scope *lang.Scope, e hcl.Expression) (cty.Value, hcl.Diagnostics) {
	refs, diags := lang.Refs(e.Variables())
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	return p.budget.Value(e, scope.EvalContext(refs))
}

// evalTo evaluates an expression to a known, plain value of a type; what is for messages.
func (p *planner) evalTo(scope *lang.Scope, e hcl.Expression, ty cty.Type, what string) (cty.Value, hcl.Diagnostics) {
	val, diags := p.eval(scope, e)
	if diags.HasErrors() {
		return cty.NilVal, diags
	}
	return plainOf(val, e, ty, what)
}

// plainOf makes the value of an expression a known, plain value of a type; what is for messages.
func plainOf(val cty.Value, e hcl.Expression, ty cty.Type, what string) (cty.Value, hcl.Diagnostics) {
	traits := lang.TraitsOf(val)
	fail := func(summary, detail string, args ...any) (cty.Value, hcl.Diagnostics) {
		return cty.NilVal, errorf(e.Range(), summary, detail, args...)
	}
	if traits.Sensitive {
		return fail("A sensitive value cannot be used here",
			"%s would show it. Use a variable that is not sensitive.", what)
	}
	if traits.Marked {
		if outs := lang.OutputMarks(val); len(outs) > 0 {
			return fail("An output of a step cannot be used here",
				"%s must be known while planning, but it is made from %s.", what, outs[0])
		}
		val, _ = val.UnmarkDeep()
	}
	val, err := convertTo(val, ty)
	if err != nil {
		return fail("A value has the wrong type", "%s: %s.", what, err)
	}
	if traits.Unknown {
		return fail("A value is not known", "%s must be known while planning.", what)
	}
	return val, nil
}

func (p *planner) evalLocal(l *config.Local, f *frame) hcl.Diagnostics {
	val, diags := p.eval(&f.scope, l.Expr)
	f.scope.Locals[l.Name] = val
	return diags
}

// evalTargets makes the objects of the targets: what whoever knows targets makes of each block, or what it says.
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
	for _, name := range sortedKeys(t.Arguments) {
		a := t.Arguments[name]
		v, ds := p.evalTo(&f.scope, a.Expr, cty.DynamicPseudoType, name+" of the target")
		if diags = append(diags, ds...); !ds.HasErrors() {
			args[name] = lang.Argument{Value: v, Range: a.Expr.Range(), Constant: len(a.Expr.Variables()) == 0}
			attrs[name] = v
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
	} {
		v, ds := e.value(m.expr, m.ty, m.name)
		if diags = append(diags, ds...); m.expr == nil || ds.HasErrors() || v.IsNull() {
			continue
		}
		if err := setMeta(n, m.name, v); err != nil {
			diags = append(diags, errorf(m.expr.Range(), "A value is not allowed", "%s: %s.", e.label(m.name), err)...)
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
			return fmt.Errorf("%q is no duration above zero; write it as \"90s\", \"10m\" or \"2h\"", v.AsString())
		}
	case "retries":
		n.Retries, err = wholeNumber(v, 100)
	case "retry_exit_codes":
		if n.Retries == 0 {
			return fmt.Errorf("there are no retries: set retries too, such as retries = 2")
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
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	case "cache":
		switch s := v.AsString(); s {
		case "true", "on":
			n.Cache = plan.CacheDefault
		case "false", plan.CacheOff:
			n.Cache = plan.CacheOff
		case plan.CacheLocal, plan.CacheInputs:
			n.Cache = s
		default:
			return fmt.Errorf("%q is not known; there are true, false, \"inputs\" (run when the inputs are not "+
				"those of the last run here) and \"local\" (remember results on this machine only)", s)
		}
	}
	return err
}

func wholeNumber(v cty.Value, most int64) (int, error) {
	if v.IsNull() {
		return 0, fmt.Errorf("null is no number")
	}
	f := v.AsBigFloat()
	i, _ := f.Int64()
	if !f.IsInt() || i < 0 || i > most {
		return 0, fmt.Errorf("%s is no whole number from 0 to %d", f.Text('g', 10), most)
	}
	return int(i), nil
}

// keys evaluates for_each in a frame: without one there is one copy, which has neither key nor value. Of `target` it
// makes the targets by name, also when there is only one.
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
	plain, deep := val.UnmarkDeep()
	_, secret := deep[lang.Sensitive]
	switch {
	case secret:
		return fail("A sensitive value cannot be used here", "The keys of for_each become part of addresses and paths.")
	case !shallow.IsKnown():
		return fail("A value is not known", "for_each must be known while planning.")
	case plain.IsNull():
		return fail("for_each is null", "Give a map or a set of strings; toset([]) makes no copies.")
	case !(plain.Type().IsMapType() || plain.Type().IsObjectType() || plain.Type().IsSetType()):
		return fail("for_each needs a map or a set", "Its type is %s. Write toset([…]) for a list of strings.",
			plain.Type().FriendlyName())
	case len(marks) > 0 || plain.Type().IsSetType() && len(deep) > 0:
		return fail("The keys of for_each are made from outputs",
			"Keys become part of addresses; the path of an output cannot be one. Use what the output was made from.")
	}
	if plain.Type().IsSetType() {
		for it := plain.ElementIterator(); it.Next(); {
			_, v := it.Element()
			if v.Type() != cty.String || v.IsNull() || !v.IsKnown() {
				return fail("for_each needs a set of strings",
					"Its type is %s. Write toset([for x in … : tostring(x)]).", plain.Type().FriendlyName())
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

// stepValue is what expressions see of a step: {outputs = {…}}, or a map of those under for_each. Outputs of files
// and trees are their paths, value outputs are unknown unless filled in; all carry the output's address as a mark.
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

// content turns the content of a value output into a value: JSON if it parses as such, else text without the last
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

// later is what is known once some value outputs have their contents: what of the frames' scopes follows from them is
// evaluated again, as far as somebody asks for it.
type later struct {
	p      *planner
	filled map[addrs.Output]cty.Value
	steps  map[addrs.Step]bool // of filled
	scopes map[*frame]*lang.Scope
	done   map[place]bool
	dummy  bool // what is sensitive is replaced by dummies, and evaluated again: see newDummies
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
			return nil, errorf(hcl.Range{}, "A value of a step is too large", "%s: %s.", o, err)
		}
		l.filled[o] = v
		l.steps[o.Step] = true
	}
	return l, nil
}

// scope is the frame's, with values of its own.
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

// withDummies is the same with dummies in place of what is sensitive.
func (l *later) withDummies() *later {
	return &later{p: l.p, filled: l.filled, steps: l.steps, scopes: make(map[*frame]*lang.Scope),
		done: make(map[place]bool), dummy: true}
}

// again says whether an object that had this value is to be evaluated again.
func (l *later) again(of *object, was cty.Value) bool {
	if l.dummy && lang.IsSensitive(was) {
		return true
	}
	return len(l.filled) > 0 && l.p.awaitsStep(of)
}

// value is that of an expression. With dummies one that does more with a sensitive value than to put it into a text
// has none.
func (l *later) value(v cty.Value, diags hcl.Diagnostics) (cty.Value, hcl.Diagnostics) {
	if l.dummy && diags.HasErrors() {
		return cty.DynamicVal.Mark(lang.Sensitive), nil
	}
	return v, diags
}

// settle evaluates again what an object refers to; f is the frame that these names are of. It returns that frame's
// scope.
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
		if arg != nil { // a dummy is a text, whatever the variable's type
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
		for i, child := range f.calls[r.Name] { // as many, and in the same order, as was.Keys
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
