package planner

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/suggest"
)

// inputValue is a value for a variable with its source.
type inputValue struct {
	val  cty.Value
	from string // "profile simulated", "--var", …
	rng  hcl.Range
	text bool // val is a string from outside that is not yet converted to the variable's type
}

// variables sets the value of each variable: default < profile < *.hexvars.hcl < environment < command line.
func (p *planner) variables(f *frame) (map[string]cty.Value, hcl.Diagnostics) {
	values, diags := p.givenValues(f)
	out := make(map[string]cty.Value, len(p.cfg.Variables))
	for _, v := range p.cfg.Variables {
		val, ds := p.variable(v, values[v.Name])
		diags = append(diags, markOptions(ds, values[v.Name].text)...)
		if ds.HasErrors() {
			val = cty.UnknownVal(v.Type) // its dependents are still checked, but nothing is planned
		}
		out[v.Name] = val
	}
	return out, diags
}

// ofOptions is the Extra of diagnostics about Options, not about files.
type ofOptions struct{}

func markOptions(diags hcl.Diagnostics, yes bool) hcl.Diagnostics {
	for _, d := range diags {
		if yes {
			d.Extra = ofOptions{}
		}
	}
	return diags
}

// IsOptionError reports whether an error is about a profile or a variable in Options. Editing a file cannot fix such an
// error.
func IsOptionError(diags hcl.Diagnostics) bool {
	return slices.ContainsFunc(diags,
		func(d *hcl.Diagnostic) bool { return d.Severity == hcl.DiagError && d.Extra == ofOptions{} })
}

// givenValues returns the values that override defaults; a later source wins.
func (p *planner) givenValues(f *frame) (map[string]inputValue, hcl.Diagnostics) {
	values := make(map[string]inputValue)
	var names []string
	for _, v := range p.cfg.Variables {
		names = append(names, v.Name)
	}
	var diags hcl.Diagnostics
	known := func(name, from string, at hcl.Range, must bool) bool {
		if slices.Contains(names, name) {
			return true
		}
		if must {
			advice := fmt.Sprintf("Add a declaration: variable %q { … }.", name)
			if near := suggest.Name(name, names); near != "" {
				advice = fmt.Sprintf("Did you mean %s?", near)
			}
			more := errorf(at, "Unknown variable", "%s sets %s, but pipeline %s has no such variable. %s",
				from, name, p.cfg.Name, advice)
			diags = append(diags, markOptions(more, at == hcl.Range{})...)
		}
		return false
	}
	ctx := &hcl.EvalContext{
		Functions: p.functions, Variables: map[string]cty.Value{lang.Path: f.scope.Path, lang.Profile: f.scope.Profile},
	}
	eval := func(x hcl.Expression, from string) inputValue {
		val, ds := p.budget.Value(x, ctx)
		diags = append(diags, ds...)
		return inputValue{val: val, from: from, rng: x.Range()}
	}
	if p.profile != nil && p.profile.Variables != nil {
		from := "profile " + p.profile.Name
		pairs, ds := hcl.ExprMap(p.profile.Variables)
		diags = append(diags, ds...)
		for _, kv := range pairs {
			k, ds := p.budget.Value(kv.Key, ctx)
			if ds.HasErrors() || k.Type() != cty.String || k.IsNull() || !k.IsKnown() {
				diags = append(diags, errorf(kv.Key.Range(), "Invalid variable name",
					"Names of variables must be constant strings. Write variables = { name = value }.")...)
				continue
			}
			if name := k.AsString(); known(name, from, kv.Key.Range(), true) {
				values[name] = eval(kv.Value, from)
			}
		}
	}
	for _, f := range p.cfg.VarFiles {
		for _, a := range sorted(f.Values) {
			if known(a.Name, f.Name, a.NameRange, f.Own) {
				values[a.Name] = eval(a.Expr, f.Name)
			}
		}
	}
	text := func(s, from string) inputValue { return inputValue{val: cty.StringVal(s), from: from, text: true} }
	for _, name := range sortedKeys(p.o.EnvVars) {
		from := "HEXMAGE_VAR_" + name
		// others belong to other pipelines
		mistake := slices.Contains(p.o.Strays, name) && suggest.Name(name, names) != ""
		if known(name, from, hcl.Range{}, mistake) {
			values[name] = text(p.o.EnvVars[name], from)
		}
	}
	for _, name := range sortedKeys(p.o.FlagVars) {
		if known(name, "--var", hcl.Range{}, true) {
			values[name] = text(p.o.FlagVars[name], "--var "+name)
		}
	}
	return values, diags
}

// unused warns about variables on the command line that have no effect, such as those of another profile.
func (p *planner) unused() (diags hcl.Diagnostics) {
	if len(p.o.FlagVars) == 0 {
		return nil
	}
	leads, used := map[string]bool{}, map[string]bool{}
	for i := len(p.order) - 1; i >= 0; i-- { // references come later in the order
		o := p.objects[p.order[i]]
		if (o.local != nil || o.variable) && !leads[o.name] {
			continue
		}
		for _, d := range o.deps {
			leads[d] = true
		}
		for _, r := range o.refs {
			if r.Root == lang.Var && o.scope == p.root {
				used[r.Name] = true
			}
		}
	}
	for _, v := range p.cfg.Variables {
		if _, set := p.o.FlagVars[v.Name]; set && !used[v.Name] {
			where := "nothing uses this variable. Remove the flag."
			if p.profile != nil {
				where = fmt.Sprintf("nothing in profile %s uses this variable. Remove the flag, or "+
					"choose another profile.",
					p.profile.Name)
			}
			diags = append(diags, &hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: "Unused variable",
				Subject: v.Range.Ptr(),
				Detail:  fmt.Sprintf("--var sets %s, but %s", v.Name, where)})
		}
	}
	return diags
}

func (p *planner) variable(v *config.Variable, g inputValue) (cty.Value, hcl.Diagnostics) {
	var diags hcl.Diagnostics
	switch {
	case g.from != "":
	case v.Default != nil:
		g = inputValue{from: "its default", rng: v.Default.Range()}
		ctx := &hcl.EvalContext{Functions: p.functions}
		var ds hcl.Diagnostics
		g.val, ds = p.budget.Value(v.Default, ctx)
		if diags = append(diags, ds...); ds.HasErrors() {
			return cty.NilVal, diags
		}
	case v.Optional:
		g = inputValue{from: "its type", val: cty.NullVal(v.Type)}
	default:
		return cty.NilVal, errorf(v.Range, "Missing variable value",
			"var.%s has no value and no default. Set it with --var %s=…, HEXMAGE_VAR_%s, a profile, or "+
				"pipelines/%s.hexvars.hcl.", v.Name, v.Name, v.Name, p.cfg.Name)
	}
	if g.rng == (hcl.Range{}) || v.Sensitive { // messages show the line of a value
		g.rng = v.Range
	}
	if g.text {
		val, ds := p.fromText(v, g)
		if diags = append(diags, ds...); ds.HasErrors() {
			return cty.NilVal, diags
		}
		g.val = val
	}
	if v.Defaults != nil && !g.val.IsNull() {
		g.val = v.Defaults.Apply(g.val)
	}
	if err := p.budget.Take(g.val); err != nil { // before conversion
		return cty.NilVal, append(diags, lang.LimitError(g.rng, err)...)
	}
	val, err := convertTo(g.val, v.Type)
	if err == nil {
		err = p.budget.Take(val) // a string may be a number that is too large
	}
	if err != nil {
		return cty.NilVal, append(diags,
			errorf(g.rng, "Wrong type", "The value of var.%s (from %s) has the wrong type: %s.", v.Name,
				g.from, err)...)
	}
	if v.Sensitive {
		val = val.Mark(lang.Sensitive)
	}
	return val, append(diags, p.validate(v, val, g)...)
}

// fromText parses a value from the environment or the command line: a string for a variable of type string, else an
// expression.
func (p *planner) fromText(v *config.Variable, g inputValue) (cty.Value, hcl.Diagnostics) {
	ty := v.Type
	if ty == cty.String {
		return g.val, nil
	}
	expr, diags := lang.ParseExpression([]byte(g.val.AsString()), g.from)
	if !diags.HasErrors() {
		p.budget.Count(expr)
		var val cty.Value
		if val, diags = p.budget.Value(expr, nil); !diags.HasErrors() {
			return val, nil
		}
	}
	if ty == cty.DynamicPseudoType || ty.IsPrimitiveType() { // the error of convert is clear
		return g.val, nil
	}
	why := " HCL reports: " + diags[0].Detail
	if v.Sensitive {
		why = "" // it could contain the value
	}
	return cty.NilVal, errorf(g.rng, "Invalid variable value",
		"%s must have the type %s and the syntax of a pipeline file, such as [\"a\", \"b\"].%s",
		g.from, ty.FriendlyName(), why)
}

func (p *planner) validate(v *config.Variable, val cty.Value, g inputValue) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, check := range v.Validations {
		refs, ds := lang.Refs(append(check.Condition.Variables(), check.Message.Variables()...))
		diags = append(diags, ds...)
		for _, r := range refs {
			if r.Object() != "var."+v.Name {
				diags = append(diags, errorf(r.Range, "Invalid reference in a validation",
					"A validation can use only its own variable. Replace %s by var.%s.", r, v.Name)...)
			}
		}
		if diags.HasErrors() {
			continue
		}
		scope := lang.Scope{Vars: map[string]cty.Value{v.Name: val}, Functions: p.functions}
		ctx := scope.EvalContext(refs)
		ok, ds := p.budget.Value(check.Condition, ctx)
		diags = append(diags, ds...)
		if ds.HasErrors() {
			continue
		}
		ok, _ = ok.Unmark()
		if !ok.IsKnown() && !val.IsWhollyKnown() {
			continue // of a module: it is checked when the value is known
		}
		cond, err := convert.Convert(ok, cty.Bool)
		if err != nil || cond.IsNull() || !cond.IsKnown() {
			diags = append(diags, errorf(check.Condition.Range(), "Invalid condition",
				"The condition of a validation must be true or false, such as var.x > 1.")...)
			continue
		}
		if cond.True() {
			continue
		}
		msg, ds := p.budget.Value(check.Message, ctx)
		diags = append(diags, ds...)
		msg, marks := msg.Unmark()
		text := "The value is not allowed."
		if _, secret := marks[lang.Sensitive]; !secret && !msg.IsNull() && msg.IsKnown() && msg.Type() == cty.String {
			text = msg.AsString()
		}
		diags = append(diags, errorf(g.rng, "Invalid variable value",
			"%s\nChange the value of var.%s, which comes from %s. The rule is at %s.", text, v.Name, g.from,
			config.Where(check.Range))...)
	}
	return diags
}

func sorted(attrs hcl.Attributes) []*hcl.Attribute {
	out := make([]*hcl.Attribute, 0, len(attrs))
	for _, n := range sortedKeys(attrs) {
		out = append(out, attrs[n])
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
