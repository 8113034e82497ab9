package planner

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/customdecode"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/lang"
)

// evaluator evaluates the block of a step, one instance after the other.
type evaluator struct {
	p     *planner
	s     *placed
	later *later
	all   *hcl.EvalContext // without each
	// values of expressions without each, which instances share; the zero Value for expressions with each
	shared map[hcl.Expression]cty.Value

	in      *instance        // current instance
	ctx     *hcl.EvalContext // of the current instance
	dummies *hcl.EvalContext // like all, with dummies for sensitive values; nil until it is needed
}

// argument is the value of an argument of the kind, of env, or of all secret files.
type argument struct {
	name       string
	attr       *hcl.Attribute // its source; nil for blocks and unset arguments
	ty         cty.Type       // type of attr
	required   bool
	val, plain cty.Value // with marks, unless known and literal, and without
	lang.ValueMarks
	uses []use // outputs it depends on, including value outputs
}

// use is an output that the value at a path depends on.
type use struct {
	at     cty.Path
	output *addrs.Output
}

func (p *planner) evaluator(s *placed, scope *lang.Scope, l *later) *evaluator {
	return &evaluator{p: p, s: s, later: l, all: scope.EvalContext(s.refs), shared: make(map[hcl.Expression]cty.Value)}
}

// enter makes an instance the current one.
func (e *evaluator) enter(in *instance) {
	e.in, e.ctx = in, in.evalContext(e.all)
}

// evalContext returns the context for expressions of an instance: that of all instances, and each.
func (in *instance) evalContext(all *hcl.EvalContext) *hcl.EvalContext {
	if !in.at.Keyed {
		return all
	}
	each := cty.ObjectVal(map[string]cty.Value{"key": cty.StringVal(in.at.Key), "value": in.value})
	ctx := all.NewChild()
	ctx.Variables = map[string]cty.Value{lang.Each: each}
	return ctx
}

// raw returns the value of an expression.
func (e *evaluator) raw(x hcl.Expression) (cty.Value, hcl.Diagnostics) {
	val, seen := e.shared[x]
	if val != cty.NilVal {
		return val, nil
	}
	val, diags := e.p.budget.Value(x, e.ctx)
	switch {
	case seen || diags.HasErrors():
	case slices.ContainsFunc(x.Variables(), func(t hcl.Traversal) bool { return t.RootName() == lang.Each }):
		e.shared[x] = cty.NilVal
	default:
		e.shared[x] = val
	}
	return val, diags
}

// value returns the known, plain value of an expression, or the zero Value without an expression; name is that of the
// argument.
func (e *evaluator) value(x hcl.Expression, ty cty.Type, name string) (cty.Value, hcl.Diagnostics) {
	if x == nil {
		return cty.NilVal, nil
	}
	v, diags := e.raw(x)
	if diags.HasErrors() {
		return cty.NilVal, diags
	}
	v, ds := plainOf(v, x, ty, e.label(name))
	return v, append(diags, ds...)
}

// label names an argument of the step in messages.
func (e *evaluator) label(name string) string { return fmt.Sprintf("%s of %s", name, e.s.block.At) }

// arguments evaluates the arguments of the kind, sorted by name, env, and the secret files.
func (e *evaluator) arguments() (args []*argument, env, files *argument, diags hcl.Diagnostics) {
	b, content := e.s.block, e.s.content
	if content == nil { // it does not fit the schema: hcldec reports the error
		_, diags := hcldec.Decode(b.Body, e.s.schema.Args, e.ctx)
		diags = lang.AnnotateErrors(diags, hcldec.Variables(b.Body, e.s.schema.Args), e.ctx)
		return nil, nil, nil, withKind(b.At.Kind, diags)
	}
	for _, name := range sortedKeys(e.s.schema.Args) {
		a := &argument{name: name}
		v := cty.NullVal(cty.DynamicPseudoType)
		spec, ok := e.s.schema.Args[name].(*hcldec.AttrSpec)
		if ok {
			a.required, a.ty = spec.Required, spec.Type
			a.attr = content.Attributes[spec.Name]
			v = cty.NullVal(spec.Type.WithoutOptionalAttributesDeep())
		}
		if !ok || a.attr != nil {
			var ds hcl.Diagnostics
			v, ds = e.decode(a)
			diags = append(diags, ds...)
		}
		a.set(v)
		args = append(args, a)
	}
	if diags.HasErrors() {
		return nil, nil, nil, diags
	}
	env, ds := e.environment()
	files, more := e.secretFiles()
	return args, env, files, append(append(diags, ds...), more...)
}

// decode evaluates an argument of the kind.
func (e *evaluator) decode(a *argument) (cty.Value, hcl.Diagnostics) {
	if a.attr != nil && customdecode.CustomExpressionDecoderForType(a.ty) == nil {
		v, diags := e.raw(a.attr.Expr)
		if diags.HasErrors() {
			return cty.NilVal, diags
		}
		if v, err := convertTo(v, a.ty); err == nil {
			return v, diags
		}
	}
	// hcldec decodes blocks, and reports arguments of another type.
	spec := hcldec.ObjectSpec{a.name: e.s.schema.Args[a.name]}
	v, _, diags := hcldec.PartialDecode(e.s.block.Body, spec, e.ctx)
	if diags.HasErrors() {
		return cty.NilVal, lang.AnnotateErrors(diags, hcldec.Variables(e.s.block.Body, spec), e.ctx)
	}
	if err := e.p.budget.Take(v); err != nil {
		return cty.NilVal, lang.LimitError(e.argRange(a.name), err)
	}
	return v.GetAttr(a.name), diags
}

// environment evaluates env to a map of strings; the zero Value without env.
func (e *evaluator) environment() (*argument, hcl.Diagnostics) {
	env := &argument{name: "env"}
	x := e.s.block.Env
	if x == nil {
		return env, nil
	}
	v, diags := e.raw(x)
	if diags.HasErrors() {
		return nil, diags
	}
	v, err := convert.Convert(v, cty.Map(cty.String))
	if err != nil {
		return nil, append(diags, errorf(x.Range(), "Wrong type",
			"env of %s must be a map of strings, such as { FLAGS = \"-O2 -g\" } (%s).", e.s.block.At, err)...)
	}
	env.set(v)
	return env, diags
}

// secretFiles evaluates the contents of the secret files to an object of strings; the zero Value without secret files.
func (e *evaluator) secretFiles() (*argument, hcl.Diagnostics) {
	files := &argument{name: "secret_file"}
	var diags hcl.Diagnostics
	contents := make(map[string]cty.Value, len(e.s.block.SecretFiles))
	for _, f := range e.s.block.SecretFiles {
		v, ds := e.raw(f.Content)
		if diags = append(diags, ds...); ds.HasErrors() {
			continue
		}
		v, err := convert.Convert(v, cty.String)
		if plain, _ := v.Unmark(); err != nil || plain.IsNull() {
			diags = append(diags, errorf(f.Content.Range(), "Wrong type",
				"The content of secret_file %q of %s must be a string.", f.Name, e.s.block.At)...)
			continue
		}
		contents[f.Name] = v
	}
	if len(contents) > 0 {
		files.set(cty.ObjectVal(contents))
	}
	return files, diags
}

// set sets the value of an argument.
func (a *argument) set(v cty.Value) {
	a.val, a.plain, a.ValueMarks = v, v, lang.ValueMarksOf(v)
	if !a.Marked {
		return
	}
	var marked []cty.PathValueMarks
	a.plain, marked = v.UnmarkDeepWithPaths()
	for _, part := range marked { // in the order of the value's parts
		at := append(cty.GetAttrPath(a.name), part.Path...)
		var outputs []addrs.Output
		for m := range part.Marks {
			if o, ok := m.(addrs.Output); ok {
				outputs = append(outputs, o)
			}
		}
		for _, o := range addrs.SortOutputs(outputs) {
			a.uses = append(a.uses, use{at, &o})
		}
	}
}

// convertTo is convert.Convert, but rejects long strings as numbers: parsing takes time quadratic in the length.
func convertTo(v cty.Value, ty cty.Type) (cty.Value, error) {
	if ty == cty.Number {
		if err := lang.CheckNumberText(v); err != nil {
			return cty.NilVal, err
		}
	}
	if list, ok := uniformList(v, ty); ok {
		return list, nil
	}
	return convert.Convert(v, ty)
}

// uniformList returns the list of a tuple's elements if they have one type that the list may have. convert.Convert
// compares the type of each element with all others.
func uniformList(v cty.Value, ty cty.Type) (cty.Value, bool) {
	plain, marks := v.Unmark()
	if !ty.IsListType() || !plain.Type().IsTupleType() || !plain.IsKnown() || plain.IsNull() || plain.LengthInt() == 0 {
		return cty.NilVal, false
	}
	types := plain.Type().TupleElementTypes()
	if want := ty.ElementType(); types[0] == cty.DynamicPseudoType ||
		want != cty.DynamicPseudoType && !want.Equals(types[0]) {
		return cty.NilVal, false
	}
	for _, t := range types {
		if !t.Equals(types[0]) {
			return cty.NilVal, false
		}
	}
	return cty.ListVal(plain.AsValueSlice()).WithMarks(marks), true
}
