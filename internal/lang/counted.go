package lang

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// Count makes the expressions below a body or expression spend the budget where work and texts grow: it measures what
// goes into for expressions, templates, functions, conditions and operators. It leaves anything but native syntax as
// it is. The same node may be given again, with another budget.
func (b *Budget) Count(node any) {
	n, ok := node.(hclsyntax.Node)
	if !ok {
		return
	}
	hclsyntax.VisitAll(n, func(n hclsyntax.Node) hcl.Diagnostics {
		switch e := n.(type) {
		case *hclsyntax.ForExpr:
			each := elementWork + partWork*(weight(e.KeyExpr)+weight(e.ValExpr)+weight(e.CondExpr))
			b.count(&e.CollExpr, counted{each: each})
			for _, x := range []*hclsyntax.Expression{&e.KeyExpr, &e.ValExpr, &e.CondExpr} {
				b.count(x, counted{})
			}
		case *hclsyntax.TemplateExpr:
			for i := range e.Parts {
				b.count(&e.Parts[i], counted{})
			}
		case *hclsyntax.TemplateJoinExpr:
			b.count(&e.Tuple, counted{})
		case *hclsyntax.FunctionCallExpr:
			list := slices.Contains(listFunctions(), e.Name)
			for i := range e.Args {
				b.count(&e.Args[i], counted{list: list})
			}
		case *hclsyntax.ConditionalExpr: // its two results become one type, at any depth
			b.count(&e.TrueResult, counted{unified: true})
			b.count(&e.FalseResult, counted{unified: true})
		case *hclsyntax.BinaryOpExpr:
			b.count(&e.LHS, counted{number: e.Op.Type == cty.Number})
			b.count(&e.RHS, counted{number: e.Op.Type == cty.Number})
		case *hclsyntax.UnaryOpExpr:
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

// weight is the number of parts of an expression.
func weight(e hclsyntax.Expression) (n int) {
	if e != nil {
		hclsyntax.VisitAll(e, func(hclsyntax.Node) hcl.Diagnostics { n++; return nil })
	}
	return n
}

// counted is an expression whose value spends the budget.
type counted struct {
	*hclsyntax.ParenthesesExpr // its children are the expression, for those who walk
	budget                     *Budget
	each                       int  // of the collection of a for: units for each element
	list                       bool // the value becomes a list or set
	unified                    bool // the value becomes of one type with another one
	number                     bool // the value becomes a number
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
	var err error
	if c.each > 0 {
		if v.IsKnown() && !v.IsNull() && v.CanIterateElements() {
			plain, _ := v.Unmark()
			err = c.budget.spend(plain.LengthInt() * c.each)
		}
	} else {
		err = c.budget.Take(v)
	}
	if err == nil && c.number {
		err = CheckNumberText(v)
	}
	if err == nil && (c.list || c.unified) {
		v, err = c.listOf(v)
	}
	if err != nil {
		return cty.DynamicVal, append(diags, TooMuch(c.Range(), err)...)
	}
	return v, diags
}

// listFunctions are the functions that make a list or set of a tuple.
func listFunctions() []string {
	return []string{
		"alltrue", "anytrue", "chunklist", "compact", "distinct", "join", "setintersection", "setsubtract", "setunion",
		"sort", "tolist", "toset", "zipmap",
	}
}

// listOf makes a list of a long tuple that becomes one anyway, if its elements are of one type. HCL compares the type
// of each element with each other one for that, so listOf refuses a long tuple of several types.
func (c *counted) listOf(v cty.Value) (cty.Value, error) {
	const long = 100
	plain, marks := v.Unmark()
	ty := plain.Type()
	if !ty.IsTupleType() || !plain.IsKnown() || plain.IsNull() || ty.Length() < long {
		return v, nil
	}
	types := ty.TupleElementTypes()
	other := func(t cty.Type) bool { return t.HasDynamicTypes() || !t.Equals(types[0]) }
	if c.list && !slices.ContainsFunc(types, other) {
		return cty.ListVal(plain.AsValueSlice()).WithMarks(marks), nil
	}
	if len(types) > maxTuple {
		return v, fmt.Errorf("a list of several types has %d elements, more than %d: "+
			"make a list of one type with tolist", len(types), maxTuple)
	}
	return v, nil
}
