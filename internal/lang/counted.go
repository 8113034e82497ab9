package lang

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// Count makes the expressions below a body or expression spend the budget where work and texts grow: elements of for
// expressions, parts of templates, arguments of functions, results of arithmetic. What it does not understand, which
// is anything but native syntax, is left as it is. The same node may be given again, with another budget. Functions
// are those that expressions call.
func (b *Budget) Count(node any, functions map[string]function.Function) {
	n, ok := node.(hclsyntax.Node)
	if !ok {
		return
	}
	if b.ops == nil {
		b.ops = map[*hclsyntax.Operation]*hclsyntax.Operation{}
		for _, op := range []*hclsyntax.Operation{hclsyntax.OpAdd, hclsyntax.OpSubtract, hclsyntax.OpMultiply, hclsyntax.OpDivide,
			hclsyntax.OpModulo, hclsyntax.OpNegate, hclsyntax.OpEqual, hclsyntax.OpNotEqual} {
			own := *op
			own.Impl = bounded(op.Impl, nil)
			b.ops[op] = &own
		}
	}
	hclsyntax.VisitAll(n, func(n hclsyntax.Node) hcl.Diagnostics {
		switch e := n.(type) {
		case *hclsyntax.ForExpr:
			b.count(&e.CollExpr, counted{each: elementWork + partWork*(weight(e.KeyExpr)+weight(e.ValExpr)+weight(e.CondExpr))})
			for _, x := range []*hclsyntax.Expression{&e.KeyExpr, &e.ValExpr, &e.CondExpr} {
				b.count(x, counted{})
			}
		case *hclsyntax.TemplateExpr:
			for i := range e.Parts {
				b.count(&e.Parts[i], counted{text: true})
			}
		case *hclsyntax.FunctionCallExpr:
			f, known := functions[e.Name]
			for i := range e.Args {
				b.count(&e.Args[i], counted{whole: true, list: known && listParam(f, e.Name, i)})
			}
		case *hclsyntax.ConditionalExpr: // its two results become one type, at any depth
			b.count(&e.TrueResult, counted{whole: true, unified: true})
			b.count(&e.FalseResult, counted{whole: true, unified: true})
		case *hclsyntax.BinaryOpExpr:
			if op, ok := b.ops[e.Op]; ok {
				e.Op = op
			}
			b.count(&e.LHS, counted{number: e.Op.Type == cty.Number})
			b.count(&e.RHS, counted{number: e.Op.Type == cty.Number})
		case *hclsyntax.UnaryOpExpr:
			if op, ok := b.ops[e.Op]; ok {
				e.Op = op
			}
			b.count(&e.Val, counted{number: e.Op.Type == cty.Number})
		}
		return nil
	})
}

// count puts a counted expression in the place of one.
func (b *Budget) count(at *hclsyntax.Expression, how counted) {
	switch e := (*at).(type) {
	case nil, *hclsyntax.LiteralValueExpr:
	case *counted:
		e.budget = b
	default:
		how.ParenthesesExpr, how.budget = &hclsyntax.ParenthesesExpr{Expression: e, SrcRange: e.Range()}, b
		*at = &how
	}
}

// listParam says whether an argument of a function becomes a list or set.
func listParam(f function.Function, name string, i int) bool {
	if name == "tolist" || name == "toset" {
		return true
	}
	p := f.VarParam()
	if params := f.Params(); i < len(params) {
		p = &params[i]
	}
	return p != nil && (p.Type.IsListType() || p.Type.IsSetType())
}

// weight is about how much one evaluation of an expression is.
func weight(e hclsyntax.Expression) int {
	if e == nil {
		return 0
	}
	n := 0
	hclsyntax.VisitAll(e, func(hclsyntax.Node) hcl.Diagnostics { n++; return nil })
	return n
}

// counted is an expression whose value spends the budget.
type counted struct {
	*hclsyntax.ParenthesesExpr // its children are the expression, for those who walk
	budget                     *Budget
	each                       int  // units for each element of the value
	text                       bool // the value goes into a text
	whole                      bool // the value is looked at, at any depth
	list                       bool // the value becomes a list or set
	unified                    bool // the value becomes of one type with another one
	number                     bool // the value is made a number
}

// Inner returns the expression that was written where a budget counts, and any other as it is.
func Inner(e hclsyntax.Expression) hclsyntax.Expression {
	if c, ok := e.(*counted); ok {
		return c.Expression
	}
	return e
}

// Value evaluates the expression, and spends the budget.
func (c *counted) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	if c.budget.Spent() {
		return cty.DynamicVal, TooMuch(c.Range(), errSpent)
	}
	v, diags := c.Expression.Value(ctx)
	if diags.HasErrors() {
		if err := c.budget.spend(errorWork); err != nil {
			diags = append(diags, TooMuch(c.Range(), err)...)
		}
		return v, diags
	}
	err := c.spend(v)
	if err == nil && (c.list || c.unified) {
		v, err = c.listOf(v)
	}
	if err != nil {
		return cty.DynamicVal, append(diags, TooMuch(c.Range(), err)...)
	}
	return v, diags
}

// listOf makes a list of a long tuple that becomes one anyway, if its elements are of one type: HCL takes the square
// of their number for that.
func (c *counted) listOf(v cty.Value) (cty.Value, error) {
	const long = 100
	plain, marks := v.Unmark()
	ty := plain.Type()
	if !ty.IsTupleType() || !plain.IsKnown() || plain.IsNull() || ty.Length() < long {
		return v, nil
	}
	types := ty.TupleElementTypes()
	for _, t := range types {
		if !c.list || t.HasDynamicTypes() || !t.Equals(types[0]) {
			if len(types) > maxTuple {
				return v, fmt.Errorf("%d elements are more than %d to find one type for: make a list of them with tolist, of elements of one type", len(types), maxTuple)
			}
			return v, nil
		}
	}
	return cty.ListVal(plain.AsValueSlice()).WithMarks(marks), nil
}

func (c *counted) spend(v cty.Value) error {
	plain, _ := v.Unmark()
	there := plain.IsKnown() && !plain.IsNull()
	units := 1
	switch {
	case c.whole:
		s, err := sizeOf(v)
		if err != nil {
			return err
		}
		units = s.parts + s.text/textUnit
	case c.each > 0 && there && plain.CanIterateElements():
		units += plain.LengthInt() * c.each
	case c.text && there && plain.Type() == cty.String:
		n := len(plain.AsString())
		if n > maxText {
			return textTooLong(n)
		}
		units += n / textUnit
	case c.number:
		if err := CheckNumberText(plain); err != nil {
			return err
		}
	}
	return c.budget.spend(units)
}

// bounded is a function whose arguments are looked at before it is called, by check if that is not nil, and its
// result thereafter. Everything else is left to the function: which arguments may be null, unknown or marked.
func bounded(f function.Function, check func(args []cty.Value) error) function.Function {
	open := func(p function.Parameter) function.Parameter {
		p.AllowNull, p.AllowUnknown, p.AllowDynamicType, p.AllowMarked = true, true, true, true
		return p
	}
	spec := &function.Spec{Description: f.Description()}
	for _, p := range f.Params() {
		spec.Params = append(spec.Params, open(p))
	}
	if p := f.VarParam(); p != nil {
		v := open(*p)
		spec.VarParam = &v
	}
	// The function itself says of what type the result is, when it is called: twice would be as much work again.
	spec.Type = function.StaticReturnType(cty.DynamicPseudoType)
	spec.Impl = func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		for i, a := range args {
			if _, err := sizeOf(a); err != nil {
				return cty.NilVal, function.NewArgErrorf(i, "%s", err)
			}
		}
		if check != nil && allKnown(args) {
			plain := make([]cty.Value, len(args))
			for i, a := range args {
				plain[i], _ = a.UnmarkDeep()
			}
			if err := check(plain); err != nil {
				return cty.NilVal, err
			}
		}
		v, err := f.Call(args)
		if err != nil {
			return v, err
		}
		_, err = sizeOf(v)
		return v, err
	}
	return function.New(spec)
}

func allKnown(args []cty.Value) bool {
	for _, a := range args {
		if t := TraitsOf(a); t.Unknown || a.IsNull() {
			return false
		}
	}
	return true
}
