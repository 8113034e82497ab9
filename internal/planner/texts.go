package planner

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/lang"
)

// template is an expression that joins known texts with each.key and each.value. For thousands of copies of a step it is
// filled in much faster than HCL evaluates it, to the same value; it cannot fail.
type template []piece

// piece is a text and what it was made from, or where each.key or each.value go.
type piece struct {
	text       string
	marks      cty.ValueMarks
	key, value bool
}

// compile makes a template of an expression, if it is one.
func (e *evaluator) compile(x hcl.Expression) (template, bool) {
	if native, ok := x.(hclsyntax.Expression); ok {
		x = lang.Inner(native)
	}
	switch x := x.(type) {
	case *hclsyntax.TemplateWrapExpr:
		return e.compile(x.Wrapped)
	case *hclsyntax.ParenthesesExpr:
		return e.compile(x.Expression)
	case *hclsyntax.TemplateExpr:
		var all template
		for _, part := range x.Parts {
			t, ok := e.compile(part)
			if !ok {
				return nil, false
			}
			all = append(all, t...)
		}
		return all, true
	case *hclsyntax.ScopeTraversalExpr:
		if r, diags := lang.ParseRef(x.Traversal); !diags.HasErrors() && r.Root == lang.Each && len(r.Rest) == 0 {
			return template{{key: r.Name == "key", value: r.Name == "value"}}, r.Name == "key" || r.Name == "value"
		}
	}
	if e.usesEach(x) {
		return nil, false
	}
	v, diags := e.p.budget.Value(x, e.evalContext())
	v, marks := v.Unmark()
	if len(diags) > 0 || !text(v) {
		return nil, false
	}
	return template{{text: v.AsString(), marks: marks}}, true
}

// compileArgument makes templates of the elements of a list of texts, or one of a text.
func (e *evaluator) compileArgument(x hcl.Expression, ty cty.Type) []template {
	xs := []hcl.Expression{x}
	if ty != cty.String {
		list, ok := x.(*hclsyntax.TupleConsExpr)
		if !ok || len(list.Exprs) == 0 || !ty.IsListType() || ty.ElementType() != cty.String {
			return nil
		}
		xs = xs[:0]
		for _, x := range list.Exprs {
			xs = append(xs, x)
		}
	}
	all := make([]template, len(xs))
	for i, x := range xs {
		t, ok := e.compile(x)
		if !ok {
			return nil
		}
		all[i] = t
	}
	return all
}

func (t template) fill(key, value cty.Value) cty.Value {
	if len(t) == 1 {
		switch p := t[0]; {
		case p.key:
			return key
		case p.value:
			return value
		default:
			return cty.StringVal(p.text).WithMarks(p.marks)
		}
	}
	var b strings.Builder
	var marks []cty.ValueMarks
	for _, p := range t {
		if p.marks != nil {
			marks = append(marks, p.marks)
		}
		switch {
		case p.key:
			b.WriteString(key.AsString())
		case p.value:
			b.WriteString(value.AsString())
		default:
			b.WriteString(p.text)
		}
	}
	return cty.StringVal(b.String()).WithMarks(marks...)
}

// text says whether a value is a string, known and without marks.
func text(v cty.Value) bool {
	return v.Type() == cty.String && !v.IsMarked() && v.IsKnown() && !v.IsNull()
}

// writtenOut is the value of an argument that has nothing but texts and outputs of steps: what HCL makes of it, in a tenth of the time.
func (e *evaluator) writtenOut(a *argument) (*argValue, bool) {
	spec, ok := a.spec.(*hcldec.AttrSpec)
	if !ok || a.attr == nil || a.each || len(e.later.filled) > 0 || e.later.dummy {
		return nil, false
	}
	x, ok := a.attr.Expr.(hclsyntax.Expression)
	if !ok {
		return nil, false
	}
	xs := []hclsyntax.Expression{x}
	isList := spec.Type.IsListType() && spec.Type.ElementType() == cty.String
	if isList {
		list, ok := lang.Inner(x).(*hclsyntax.TupleConsExpr)
		if !ok || len(list.Exprs) == 0 {
			return nil, false
		}
		xs = list.Exprs
	} else if spec.Type != cty.String {
		return nil, false
	}
	v := &argValue{}
	at := cty.GetAttrPath(a.name)
	elems := make([]cty.Value, len(xs))
	for i, x := range xs {
		var of *usedOutput
		if elems[i], of, ok = e.s.frame.textOf(x); !ok {
			return nil, false
		}
		if of == nil {
			continue
		}
		if v.uses == nil {
			v.uses = make([]use, 0, len(xs)-i)
		}
		v.uses = append(v.uses, use{at, &of.Output})
	}
	v.plain, v.Marked = elems[0], len(v.uses) > 0
	var err error
	if isList {
		v.plain, err = cty.ListVal(elems), e.p.budget.TakeList(elems)
	} else {
		err = e.p.budget.Take(v.plain)
	}
	v.val = v.plain
	return v, err == nil
}

// isLiteral says whether an expression is one text or number.
func isLiteral(x hcl.Expression) bool {
	native, ok := x.(hclsyntax.Expression)
	if !ok {
		return false
	}
	switch x := lang.Inner(native).(type) {
	case *hclsyntax.LiteralValueExpr:
		return true
	case *hclsyntax.TemplateExpr:
		return len(x.Parts) == 1 && isLiteral(x.Parts[0])
	}
	return false
}

// textsOf are the values of the elements of a list that has nothing but texts and outputs of steps.
func (f *frame) textsOf(x hclsyntax.Expression) ([]cty.Value, bool) {
	list, ok := lang.Inner(x).(*hclsyntax.TupleConsExpr)
	if !ok || len(list.Exprs) == 0 {
		return nil, false
	}
	elems := make([]cty.Value, len(list.Exprs))
	for i, x := range list.Exprs {
		v, of, ok := f.textOf(x)
		if !ok {
			return nil, false
		}
		if elems[i] = v; of != nil {
			elems[i] = v.Mark(of.Output)
		}
	}
	return elems, true
}

// textOf is the value, without marks, of a text that is written out, or of the output of a step that is planned, where that is a path, and that output.
func (f *frame) textOf(x hclsyntax.Expression) (cty.Value, *usedOutput, bool) {
	if isLiteral(x) {
		v, diags := x.Value(nil)
		return v, nil, !diags.HasErrors() && text(v)
	}
	ref, ok := lang.Inner(x).(*hclsyntax.ScopeTraversalExpr)
	if !ok || len(ref.Traversal) != 5 || ref.Traversal.RootName() != lang.StepRoot {
		return cty.NilVal, nil, false
	}
	var names [4]string // of the kind, the step, "outputs" and the output
	for i := range names {
		a, ok := ref.Traversal[i+1].(hcl.TraverseAttr)
		if !ok {
			return cty.NilVal, nil, false
		}
		names[i] = a.Name
	}
	s := f.steps[addrs.Step{Kind: names[0], Name: names[1]}]
	if names[2] != "outputs" || s == nil || len(s.instances) != 1 {
		return cty.NilVal, nil, false
	}
	in := s.instances[0]
	if c := outputClass(in.outputs, names[3]); in.planned == nil || in.at.Keyed || c != action.File && c != action.Tree {
		return cty.NilVal, nil, false
	}
	o := in.output(names[3])
	return cty.StringVal(o.path), o, true
}

// setOfTexts evaluates toset(…) of a list of texts to its elements, as they are ordered in the set, which cty takes long
// to make and to order. ok is false for anything else.
func (p *planner) setOfTexts(scope *lang.Scope, x hcl.Expression) (elems []cty.Value, ok bool) {
	call, ok := x.(*hclsyntax.FunctionCallExpr)
	if !ok || call.Name != "toset" || len(call.Args) != 1 || call.ExpandFinal {
		return nil, false
	}
	v, diags := p.eval(scope, call.Args[0])
	if len(diags) > 0 || v.IsMarked() || !v.IsKnown() || v.IsNull() || !v.Type().IsListType() && !v.Type().IsTupleType() {
		return nil, false
	}
	elems = v.AsValueSlice()
	if len(elems) == 0 || slices.ContainsFunc(elems, func(v cty.Value) bool { return !text(v) }) {
		return nil, false
	}
	slices.SortFunc(elems, func(a, b cty.Value) int { return strings.Compare(a.AsString(), b.AsString()) })
	return slices.CompactFunc(elems, func(a, b cty.Value) bool { return a.AsString() == b.AsString() }), true
}
