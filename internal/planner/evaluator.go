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
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/lang"
)

// evaluator evaluates the block of a step for one instance after the other. What does not depend on each.key and
// each.value it evaluates once; what it gives may be shared by all instances.
type evaluator struct {
	p     *planner
	s     *placed
	scope *lang.Scope
	ctx   *hcl.EvalContext // all but each; see evalContext

	later   *later           // that ctx is of
	dummies *hcl.EvalContext // the same with dummies for what is sensitive; nil until it is needed

	when, outputsFrom, target *known
	meta                      []*known
	after                     []dependency
	paths                     []*known

	args   []*argument // sorted by name
	env    *argument   // nil when the block has none
	broken bool        // the body does not fit the schema: hcldec says how

	where  string
	source string
}

// known is an expression that must be known while planning.
type known struct {
	expr hcl.Expression
	ty   cty.Type
	name string // of the argument
	of   addrs.Step
	each bool // it depends on the instance
	done bool
	val  cty.Value
}

// dependency is an element of depends_on.
type dependency struct {
	ref lang.Ref
	key *known // of the copy; nil: as ref has it
}

// argument is an argument of the kind, or env.
type argument struct {
	name     string
	spec     hcldec.Spec
	attr     *hcl.Attribute // of an AttrSpec that is set
	required bool
	each     bool      // it depends on the instance
	value    *argValue // when it does not, and was evaluated
}

// copyOf is what expressions see of one instance.
type copyOf struct {
	e          *evaluator
	key, value cty.Value        // each.key and each.value; zero Values for a step without for_each
	ctx        *hcl.EvalContext // made when it is needed
}

// argValue is the value of an argument.
type argValue struct {
	val, plain cty.Value // with marks, unless it is known and written out, and without
	lang.Traits
	uses []use // outputs it was made from, also value outputs
}

// use is an output that what is at a path was made from.
type use struct {
	at     cty.Path
	output *addrs.Output
}

func (p *planner) evaluator(s *placed, scope *lang.Scope, l *later) *evaluator {
	b := s.block
	e := &evaluator{p: p, s: s, scope: scope, later: l}
	e.target = e.known(b.Target, "target", cty.DynamicPseudoType)
	e.where, e.source = config.Where(b.Range), p.cfg.Source(b.Whole)
	e.when = e.known(b.When, "when", cty.Bool)
	e.meta = []*known{e.known(b.Timeout, "timeout", cty.String), e.known(b.Retries, "retries", cty.Number),
		e.known(b.RetryExitCodes, "retry_exit_codes", cty.List(cty.Number)), e.known(b.Resources, "resources", cty.Map(cty.Number)), e.known(b.Cache, "cache", cty.String)}
	for _, d := range b.DependsOn {
		if r, ds := lang.ParseRef(d.Step); !ds.HasErrors() {
			e.after = append(e.after, dependency{r, e.known(d.Key, "the key in depends_on", cty.String)})
		}
	}
	if a := attribute(s.block.Body, s.schema.OutputsFrom); a != nil {
		e.outputsFrom = e.known(a.Expr, a.Name, cty.List(cty.String))
	}
	for _, o := range b.Outputs {
		e.paths = append(e.paths, e.known(o.Path, "The path of output "+o.Name, cty.String))
	}
	content := s.content
	if e.broken = content == nil; e.broken {
		return e
	}
	for _, name := range sortedKeys(s.schema.Args) {
		a := &argument{name: name, spec: s.schema.Args[name]}
		spec, ok := a.spec.(*hcldec.AttrSpec)
		a.required = ok && spec.Required
		if !ok || customdecode.CustomExpressionDecoderForType(spec.Type) != nil {
			a.each = b.ForEach != nil && slices.ContainsFunc(hcldec.Variables(s.block.Body, hcldec.ObjectSpec{a.name: a.spec}), isEach)
		} else if a.attr = content.Attributes[spec.Name]; a.attr != nil {
			a.each = e.usesEach(a.attr.Expr)
		} else {
			a.value = argValueOf(name, cty.NullVal(spec.Type.WithoutOptionalAttributesDeep()))
		}
		e.args = append(e.args, a)
	}
	if b.Env != nil {
		e.env = &argument{name: "env", each: e.usesEach(b.Env)}
	}
	return e
}

func isEach(t hcl.Traversal) bool { return t.RootName() == lang.Each }

func (e *evaluator) usesEach(x hcl.Expression) bool {
	return e.s.block.ForEach != nil && slices.ContainsFunc(x.Variables(), isEach)
}

func (e *evaluator) known(x hcl.Expression, name string, ty cty.Type) *known {
	if x == nil {
		return nil
	}
	return &known{expr: x, ty: ty, name: name, of: e.s.block.At, each: e.usesEach(x)}
}

// evalContext is what HCL is given, but for each.
func (e *evaluator) evalContext() *hcl.EvalContext {
	if e.ctx == nil {
		e.ctx = e.scope.EvalContext(e.s.refs)
	}
	return e.ctx
}

// evalContext is what HCL is given to evaluate an expression.
func (c *copyOf) evalContext() *hcl.EvalContext {
	if c.key == cty.NilVal {
		return c.e.evalContext()
	}
	if c.ctx == nil {
		c.ctx = c.e.evalContext().NewChild()
		c.ctx.Variables = map[string]cty.Value{lang.Each: cty.ObjectVal(map[string]cty.Value{"key": c.key, "value": c.value})}
	}
	return c.ctx
}

// label says what the expression is, for messages.
func (k *known) label() string { return fmt.Sprintf("%s of %s", k.name, k.of) }

func (k *known) value(c *copyOf) (cty.Value, hcl.Diagnostics) {
	if k.done {
		return k.val, nil
	}
	v, diags := c.e.p.budget.Value(k.expr, c.evalContext())
	if diags.HasErrors() {
		return cty.NilVal, diags
	}
	v, ds := plainOf(v, k.expr, k.ty, k.label)
	if diags = append(diags, ds...); ds.HasErrors() {
		return cty.NilVal, diags
	}
	if !k.each {
		k.done, k.val = true, v
	}
	return v, diags
}

// value evaluates an argument of the kind.
func (e *evaluator) value(a *argument, c *copyOf) (*argValue, hcl.Diagnostics) {
	if a.value != nil {
		return a.value, nil
	}
	v, diags := e.decode(a, c.evalContext())
	if diags.HasErrors() {
		return nil, diags
	}
	out := argValueOf(a.name, v)
	if !a.each {
		a.value = out
	}
	return out, diags
}

func (e *evaluator) decode(a *argument, ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	if spec, ok := a.spec.(*hcldec.AttrSpec); ok && a.attr != nil {
		v, diags := e.p.budget.Value(a.attr.Expr, ctx)
		if e.p.budget.Spent() {
			return cty.NilVal, diags
		}
		if !diags.HasErrors() {
			if v, err := convertTo(v, spec.Type); err == nil {
				return v, diags
			}
		}
	}
	// Blocks and the like, and what fails: hcldec says how.
	spec := hcldec.ObjectSpec{a.name: a.spec}
	v, _, diags := hcldec.PartialDecode(e.s.block.Body, spec, ctx)
	if diags.HasErrors() {
		return cty.NilVal, lang.Explained(diags, hcldec.Variables(e.s.block.Body, spec), ctx)
	}
	if err := e.p.budget.Take(v); err != nil {
		r := e.argRange(a.name)
		return cty.NilVal, lang.TooMuch(r, err)
	}
	return v.GetAttr(a.name), diags
}

// environment evaluates env to a map of strings, null when there is none.
func (e *evaluator) environment(c *copyOf) (*argValue, hcl.Diagnostics) {
	x := e.s.block.Env
	if x == nil {
		return &argValue{}, nil
	}
	if e.env.value != nil {
		return e.env.value, nil
	}
	v, diags := e.p.budget.Value(x, c.evalContext())
	if diags.HasErrors() {
		return nil, diags
	}
	v, err := convert.Convert(v, cty.Map(cty.String))
	if err != nil {
		r := x.Range()
		return nil, append(diags, errorf(&r, "A value has the wrong type", "env of %s has to be a map from names to texts, such as { FLAGS = \"-O2 -g\" }: %s.", e.s.block.At, err)...)
	}
	out := argValueOf("env", v)
	if !e.env.each {
		e.env.value = out
	}
	return out, diags
}

func argValueOf(name string, v cty.Value) *argValue {
	out := &argValue{val: v, plain: v, Traits: lang.TraitsOf(v)}
	if !out.Marked {
		return out
	}
	plain, pvms := v.UnmarkDeepWithPaths()
	out.plain = plain
	for _, pvm := range pvms { // in the order of the value's parts
		at, first := append(cty.GetAttrPath(name), pvm.Path...), len(out.uses)
		for m := range pvm.Marks {
			if o, ok := m.(addrs.Output); ok {
				out.uses = append(out.uses, use{at, &o})
			}
		}
		slices.SortFunc(out.uses[first:], func(a, b use) int { return addrs.CompareOutputs(*a.output, *b.output) })
	}
	return out
}

// convertTo is convert.Convert, but rejects long texts as numbers: to read one takes time quadratic in its length.
func convertTo(v cty.Value, ty cty.Type) (cty.Value, error) {
	if ty == cty.Number {
		if err := lang.CheckNumberText(v); err != nil {
			return cty.NilVal, err
		}
	}
	return convert.Convert(v, ty)
}
