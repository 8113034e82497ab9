package planner

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/lazyregexp"
	"github.com/hexmage/hexmage/internal/secret"
)

// A plan holds references to sensitive values, never the values. To find the references in an expression, the planner
// evaluates it twice: with the values, and with a dummy for each value that shows its position in the string. As a
// check, inserting the values for the dummies must give the first string.

// Secrets returns the secret values that a plan refers to.
func Secrets(o Options) (secret.Values, hcl.Diagnostics) {
	p := newPlanner(o)
	diags := p.chooseProfile()
	if diags.HasErrors() {
		return nil, diags
	}
	root, more := p.newModule(nil, nil, p.cfg.Module)
	p.root = root
	diags = append(append(diags, more...), p.prepareRoot()...)
	return p.dummies.values, diags
}

// dummies are strings that replace those in sensitive variables.
type dummies struct {
	vars   map[string]cty.Value // sensitive variables, with dummies for their values
	refs   []string             // by the dummies' numbers
	values secret.Values        // by reference
	ranges map[string]hcl.Range // of variables
	warned map[string]bool      // variables with a warning that they are short
}

// A dummy is a placeholder for a secret value. Functions do not change a dummy. Pipelines do not contain a dummy by
// chance, so planning rejects a pipeline that contains one.
const (
	dummyBegin = "hexmageDummy7c1e9a53n"
	dummyEnd   = "e"
)

var dummyRE = lazyregexp.New(`hexmageDummy7c1e9a53n(\d+)e`)

func newDummies(cfg *config.Pipeline, vars map[string]cty.Value) *dummies {
	s := &dummies{vars: map[string]cty.Value{}, values: secret.Values{}, ranges: map[string]hcl.Range{},
		warned: map[string]bool{}}
	for _, v := range cfg.Variables {
		if val, ok := vars[v.Name]; ok && v.Sensitive {
			plain, _ := val.UnmarkDeep()
			s.vars[v.Name] = s.in("var."+v.Name, plain)
			s.ranges[v.Name] = v.Range
		}
	}
	return s
}

// in returns the value with dummies for its strings, numbers and bools.
func (s *dummies) in(ref string, v cty.Value) cty.Value {
	ty := v.Type()
	switch {
	case v.IsNull():
		return v
	case !v.IsKnown() || ty.IsSetType():
		return v.Mark(lang.Sensitive)
	case ty.IsPrimitiveType():
		text, err := convert.Convert(v, cty.String)
		if err != nil || text.AsString() == "" { // not a secret, and expressions test for it
			return v.Mark(lang.Sensitive)
		}
		s.refs = append(s.refs, ref)
		s.values[ref] = text.AsString()
		return cty.StringVal(dummyBegin + strconv.Itoa(len(s.refs)-1) + dummyEnd).Mark(lang.Sensitive)
	case ty.IsObjectType() || ty.IsMapType():
		parts := v.AsValueMap()
		for _, k := range sortedKeys(parts) {
			at := ref + "[" + strconv.Quote(k) + "]"
			if hclsyntax.ValidIdentifier(k) {
				at = ref + "." + k
			}
			parts[k] = s.in(at, parts[k])
		}
		if ty.IsMapType() && len(parts) > 0 && cty.CanMapVal(parts) {
			return cty.MapVal(parts)
		}
		return cty.ObjectVal(parts)
	}
	parts := v.AsValueSlice()
	for i := range parts {
		parts[i] = s.in(fmt.Sprintf("%s[%d]", ref, i), parts[i])
	}
	if ty.IsListType() && len(parts) > 0 && cty.CanListVal(parts) {
		return cty.ListVal(parts)
	}
	return cty.TupleVal(parts)
}

// text splits a string with dummies into literal parts and references.
func (s *dummies) text(with string) secret.Text {
	var t secret.Text
	at := 0
	for _, m := range dummyRE.Get().FindAllStringSubmatchIndex(with, -1) {
		n, err := strconv.Atoi(with[m[2]:m[3]])
		if err != nil || n >= len(s.refs) {
			continue
		}
		if m[0] > at {
			t = append(t, secret.Part{Literal: with[at:m[0]]})
		}
		t = append(t, secret.Part{Ref: s.refs[n]})
		at = m[1]
	}
	if at < len(with) {
		t = append(t, secret.Part{Literal: with[at:]})
	}
	return t
}

// commandEnv is the environment of commands, without the arguments of the kind.
type commandEnv struct {
	env     map[string]string // environment variables
	secrets map[string]string // properties of an action's platform: see action.PropertySecret
	refs    []string          // in them
}

// commandEnv splits env and the secret files into values that a plan shows, and references.
func (e *evaluator) commandEnv(env, files *argument) (commandEnv, hcl.Diagnostics) {
	if !env.Sensitive && len(e.s.block.SecretFiles) == 0 {
		return commandEnv{env: textsOf(env.plain)}, nil
	}
	g := commandEnv{env: make(map[string]string), secrets: make(map[string]string)}
	if !e.s.schema.Secrets {
		r := e.argRange("env")
		if len(e.s.block.SecretFiles) > 0 {
			r = e.s.block.SecretFiles[0].Range
		}
		return g, errorf(r, "Sensitive value not allowed",
			"Steps of kind %s cannot use sensitive values. Use a step of kind exec, or a variable that is not "+
				"sensitive.", e.s.block.At.Kind)
	}
	if e.dummies == nil {
		scope, ds := e.later.withDummies().settle(e.s.object, e.s.frame)
		if ds.HasErrors() {
			return g, ds
		}
		e.dummies = scope.EvalContext(e.s.refs)
	}
	ctx := e.in.evalContext(e.dummies)
	var diags hcl.Diagnostics
	with := cty.EmptyObjectVal
	if x := e.s.block.Env; x != nil {
		with = e.dummy(x, cty.Map(cty.String), ctx)
	}
	diags = append(diags, e.follow(env.plain, with, e.argRange("env"), func(name string, t secret.Text) {
		if refs := t.Refs(); len(refs) > 0 {
			g.secrets[action.PropertySecret+name] = t.String()
			g.refs = append(g.refs, refs...)
		} else {
			g.env[name], _ = t.Fill(nil)
		}
	})...)
	for _, f := range e.s.block.SecretFiles {
		if textsOf(env.plain)[f.Name] != "" {
			diags = append(diags, errorf(f.Range, "Duplicate environment variable",
				"In %s, both env and this secret_file block set the variable %s. Rename one of them.", e.s.block.At,
				f.Name)...)
		}
		with := cty.ObjectVal(map[string]cty.Value{f.Name: e.dummy(f.Content, cty.String, ctx)})
		plain := cty.ObjectVal(map[string]cty.Value{f.Name: files.plain.GetAttr(f.Name)})
		diags = append(diags, e.follow(plain, with, f.Content.Range(), func(name string, t secret.Text) {
			g.secrets[action.PropertySecretFile+name] = t.String()
			g.refs = append(g.refs, t.Refs()...)
		})...)
	}
	return g, diags
}

// dummy evaluates an expression with dummies.
func (e *evaluator) dummy(x hcl.Expression, ty cty.Type, ctx *hcl.EvalContext) cty.Value {
	v, diags := e.p.budget.Value(x, ctx)
	if !diags.HasErrors() {
		if v, err := convert.Convert(v, ty); err == nil {
			return v
		}
	}
	return cty.UnknownVal(ty).Mark(lang.Sensitive)
}

// textsOf returns the known strings of a map or object.
func textsOf(v cty.Value) map[string]string {
	out := make(map[string]string)
	if v == cty.NilVal || !v.IsKnown() || v.IsNull() {
		return out
	}
	for name, v := range v.AsValueMap() {
		if v.IsKnown() && !v.IsNull() {
			out[name] = v.AsString()
		}
	}
	return out
}

// follow finds the parts of each string of plain, by comparing it with the string that has dummies.
func (e *evaluator) follow(plain, with cty.Value, r hcl.Range, use func(name string, t secret.Text)) hcl.Diagnostics {
	var diags hcl.Diagnostics
	with, marks := with.Unmark()
	_, all := marks[lang.Sensitive]
	parts := map[string]cty.Value{}
	if with.IsKnown() && !with.IsNull() {
		parts = with.AsValueMap()
	}
	texts := textsOf(plain)
	for _, name := range sortedKeys(texts) {
		v, ok := parts[name]
		if ok {
			v, marks = v.Unmark()
		}
		ok = ok && v.IsKnown() && !v.IsNull()
		var t secret.Text
		if ok {
			t = e.p.dummies.text(v.AsString())
			filled, err := t.Fill(e.p.dummies.values)
			_, sensitive := marks[lang.Sensitive]
			ok = err == nil && filled == texts[name] && (len(t.Refs()) > 0 || filled == "" || !sensitive && !all)
		}
		if !ok {
			diags = append(diags, errorf(r, "Unsupported use of a sensitive value",
				"%s of %s transforms a sensitive value. hexmage can only insert sensitive values into strings, such "+
					"as \"Bearer ${var.token}\". Transform the value in the command, or define a variable with "+
					"the result.", name, e.s.block.At)...)
			continue
		}
		use(name, t)
	}
	return diags
}

// tooShort warns, once for each variable, about values too short to be found in a command's output.
func (s *dummies) tooShort(refs []string) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, ref := range refs {
		name, _, _ := strings.Cut(strings.TrimPrefix(ref, "var."), ".")
		name, _, _ = strings.Cut(name, "[")
		if len(s.values[ref]) >= secret.MinLength || s.warned[name] {
			continue
		}
		s.warned[name] = true
		r := s.ranges[name]
		diags = append(diags, &hcl.Diagnostic{
			Severity: hcl.DiagWarning, Summary: "Secret too short to hide", Subject: &r,
			Detail: fmt.Sprintf("%s has fewer than %d bytes, so hexmage does not hide the value in logs "+
				"or search for it in outputs. Use a longer value.", ref, secret.MinLength),
		})
	}
	return diags
}
