package planner

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/secret"
)

// A plan holds references to sensitive variables, and never their values. The references are found in the syntax: a
// variable as it is or in a template, also by way of locals and of variables and outputs of modules. What is found is
// checked: with the values put in, it must be the text that the expression evaluates to.

// Secrets returns what the references of a plan's secrets stand for.
func Secrets(o Options) (secret.Values, hcl.Diagnostics) {
	p := newPlanner(o)
	diags := p.chooseProfile()
	if diags.HasErrors() {
		return nil, diags
	}
	root, more := p.newModule(nil, nil, p.cfg.Module)
	p.root = root
	diags = append(append(diags, more...), p.prepareRoot()...)
	return p.secrets, diags
}

// noteSecrets keeps the texts, numbers and truth values in a sensitive variable.
func (p *planner) noteSecrets(ref string, v cty.Value) {
	switch {
	case v.IsNull() || !v.IsKnown() || v.Type().IsSetType():
	case v.CanIterateElements():
		for it := v.ElementIterator(); it.Next(); {
			k, part := it.Element()
			p.noteSecrets(ref+refStep(k), part)
		}
	default:
		if text, err := convert.Convert(v, cty.String); err == nil {
			p.secrets[ref] = text.AsString()
		}
	}
}

// refStep spells a step of a reference.
func refStep(key cty.Value) string {
	switch {
	case key.Type() == cty.Number:
		return "[" + key.AsBigFloat().Text('f', -1) + "]"
	case hclsyntax.ValidIdentifier(key.AsString()):
		return "." + key.AsString()
	}
	return "[" + strconv.Quote(key.AsString()) + "]"
}

// commandEnv is what commands get that is not among the arguments of the kind.
type commandEnv struct {
	env     map[string]string // variables of the environment
	secrets map[string]string // properties of an action's platform: see action.PropertySecret
	refs    []string          // in them
}

// commandEnv takes env and the secret files apart: what a plan shows, and what it refers to.
func (e *evaluator) commandEnv(env, files *argument) (commandEnv, hcl.Diagnostics) {
	texts := textsOf(env.plain)
	if !env.Sensitive && len(e.s.block.SecretFiles) == 0 {
		return commandEnv{env: texts}, nil
	}
	g := commandEnv{env: make(map[string]string), secrets: make(map[string]string)}
	if !e.s.schema.Secrets {
		r := e.argRange("env")
		if len(e.s.block.SecretFiles) > 0 {
			r = e.s.block.SecretFiles[0].Range
		}
		return g, errorf(r, "A sensitive value cannot be used here",
			"The commands of a step of kind %s get no secrets. Do what needs one in a step of kind exec, or use a "+
				"variable that is not sensitive.", e.s.block.At.Kind)
	}
	here := site{e.s.frame, e.in.each()}
	var diags hcl.Diagnostics
	// place finds what a text is made of, and checks that it is this text.
	place := func(name string, x hcl.Expression, text string, r hcl.Range) secret.Text {
		t := e.text(x, here)
		if filled, err := t.Fill(e.p.secrets); t == nil || err != nil || filled != text {
			diags = append(diags, errorf(r, "A sensitive value cannot be used like this",
				"%s of %s is made from a sensitive value by more than putting it into a text, such as \"Bearer "+
					"${var.token}\". Plans have no values, so this cannot be done again when the command starts: let "+
					"the command do it, or make a variable of it.", name, e.s.block.At)...)
		}
		g.refs = append(g.refs, t.Refs()...)
		return t
	}
	vars := e.elements(e.s.block.Env, here)
	for _, name := range sortedKeys(texts) {
		if t := place(name, vars[name], texts[name], e.argRange("env")); len(t.Refs()) > 0 {
			g.secrets[action.PropertySecret+name] = t.String()
		} else {
			g.env[name] = texts[name]
		}
	}
	contents := textsOf(files.plain)
	for _, f := range e.s.block.SecretFiles {
		if texts[f.Name] != "" {
			diags = append(diags, errorf(f.Range, "A variable of the environment has two values",
				"%s of %s is in env, and is to have the path of this file. Give one of them another name.", f.Name,
				e.s.block.At)...)
		}
		if content, known := contents[f.Name]; known {
			t := place(f.Name, f.Content, content, f.Content.Range())
			g.secrets[action.PropertySecretFile+f.Name] = t.String()
		}
	}
	return g, diags
}

// textsOf are the texts of a map, or of an object of texts, that are known.
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

// site is where an expression stands: the frame whose names it refers to, and each; the zero Value without for_each.
type site struct {
	f    *frame
	each cty.Value
}

// eval evaluates an expression; the value is unknown if that fails.
func (e *evaluator) eval(x hcl.Expression, at site) cty.Value {
	scope := *e.later.scope(at.f)
	scope.Each = at.each
	v, _ := e.p.eval(&scope, x)
	return v
}

// elements are the expressions of a map that is written out, by name.
func (e *evaluator) elements(x hcl.Expression, at site) map[string]hcl.Expression {
	out := make(map[string]hcl.Expression)
	if x, ok := x.(*hclsyntax.ObjectConsExpr); ok {
		for _, item := range x.Items {
			if k := e.eval(item.KeyExpr, at); k.Type() == cty.String && k.IsKnown() && !k.IsNull() && !k.IsMarked() {
				out[k.AsString()] = item.ValueExpr
			}
		}
	}
	return out
}

// text returns what a text is made of, or nil if the expression does more with a sensitive value than to place it.
func (e *evaluator) text(x hcl.Expression, at site) secret.Text {
	if x == nil {
		return nil
	}
	if v := e.eval(x, at); !lang.IsSensitive(v) {
		v, _ = v.UnmarkDeep()
		v, err := convert.Convert(v, cty.String)
		if err != nil || v.IsNull() || !v.IsKnown() {
			return nil
		}
		return secret.Text{{Literal: v.AsString()}}
	}
	switch x := x.(type) {
	case *hclsyntax.ParenthesesExpr:
		return e.text(x.Expression, at)
	case *hclsyntax.TemplateWrapExpr:
		return e.text(x.Wrapped, at)
	case *hclsyntax.TemplateExpr:
		var t secret.Text
		for _, part := range x.Parts {
			more := e.text(part, at)
			if more == nil {
				return nil
			}
			t = append(t, more...)
		}
		return t
	case *hclsyntax.ConditionalExpr: // whether a variable is set
		of := x.FalseResult
		if c, _ := e.eval(x.Condition, at).Unmark(); c.RawEquals(cty.True) {
			of = x.TrueResult
		}
		t := e.text(of, at)
		if text, err := t.Fill(nil); err == nil && text != "" { // which of two texts it is would show the value
			return nil
		}
		return t
	case *hclsyntax.ScopeTraversalExpr:
		r, diags := lang.ParseRef(x.Traversal)
		if of, in := e.meant(r, at); of != nil && len(r.Rest) == 0 {
			return e.text(of, in)
		}
		if !diags.HasErrors() && r.Root == lang.Var && at.f.caller == nil {
			ref := r.Object()
			for _, step := range r.Rest {
				switch step := step.(type) {
				case hcl.TraverseAttr:
					ref += refStep(cty.StringVal(step.Name))
				case hcl.TraverseIndex:
					ref += refStep(step.Key)
				}
			}
			return secret.Text{{Ref: ref}}
		}
	}
	return nil
}

// meant returns the expression that a reference stands for, of a local, or of a module's variable or output, or nil.
func (e *evaluator) meant(r lang.Ref, at site) (hcl.Expression, site) {
	f := at.f
	switch r.Root {
	case lang.Local:
		return e.p.objects[f.of.name(r.Object())].local.Expr, site{f: f}
	case lang.Var:
		if f.caller != nil && f.of.call.Arguments[r.Name] != nil {
			return f.of.call.Arguments[r.Name].Expr, site{f.caller, f.each()}
		}
	case lang.Module:
		for _, child := range f.calls[r.Name] {
			for _, out := range child.of.parts.Outputs {
				if out.Name == r.Attr && (!r.Keyed || child.key.AsString() == r.Key) {
					return out.Value, site{f: child}
				}
			}
		}
	}
	return nil, at
}

// tooShort warns, once of each reference, of values that nobody can find in what a command writes.
func (p *planner) tooShort(refs []string) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, ref := range refs {
		if n := len(p.secrets[ref]); n == 0 || n >= secret.MinLength || p.warned[ref] {
			continue
		}
		p.warned[ref] = true
		name, _, _ := strings.Cut(ref[len("var."):], ".")
		name, _, _ = strings.Cut(name, "[")
		i := slices.IndexFunc(p.cfg.Variables, func(v *config.Variable) bool { return v.Name == name })
		diags = append(diags, &hcl.Diagnostic{
			Severity: hcl.DiagWarning, Summary: "A secret is too short to be hidden",
			Subject: p.cfg.Variables[i].Range.Ptr(),
			Detail: fmt.Sprintf("%s has less than %d bytes: it is not taken out of what commands print, "+
				"and not looked for in their outputs.", ref, secret.MinLength),
		})
	}
	return diags
}
