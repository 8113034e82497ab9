package lang

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// Count wraps expressions in a body or expression so that their evaluation spends the budget. It wraps all expressions
// that multiply work or create longer strings: for expressions, templates, function calls, conditions and operators. It
// changes only native HCL syntax, not JSON. You may call Count again for the same node with another budget.
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
		case *hclsyntax.ConditionalExpr: // its two results are converted to one type, at any depth
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

// count replaces an expression by a counted one.
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

// weight returns the number of parts of an expression.
func weight(e hclsyntax.Expression) (n int) {
	if e != nil {
		hclsyntax.VisitAll(e, func(hclsyntax.Node) hcl.Diagnostics { n++; return nil })
	}
	return n
}

// counted is an expression whose value spends the budget.
type counted struct {
	*hclsyntax.ParenthesesExpr // walkers see the expression as its child
	budget                     *Budget
	each                       int  // for the collection of a for: units for each element
	list                       bool // the value is converted to a list or set
	unified                    bool // the value is converted to a common type
	number                     bool // the value is converted to a number
}

// Inner returns the original expression inside a wrapper of Count. It returns any other expression unchanged.
func Inner(e hclsyntax.Expression) hclsyntax.Expression {
	if c, ok := e.(*counted); ok {
		return c.Expression
	}
	return e
}

// Value evaluates the expression and spends the budget.
func (c *counted) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	if c.budget.Spent() {
		return cty.DynamicVal, LimitError(c.Range(), errSpent)
	}
	v, diags := c.Expression.Value(ctx)
	if diags.HasErrors() {
		if err := c.budget.spend(errorWork); err != nil {
			diags = append(diags, LimitError(c.Range(), err)...)
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
		return cty.DynamicVal, append(diags, LimitError(c.Range(), err)...)
	}
	return v, diags
}

// listFunctions returns the functions that convert a tuple to a list or set.
func listFunctions() []string {
	return []string{
		"alltrue", "anytrue", "chunklist", "compact", "distinct", "join", "setintersection", "setsubtract", "setunion",
		"sort", "tolist", "toset", "zipmap",
	}
}

// listOf converts a long tuple to a list if its elements have one type and HCL would convert it anyway. HCL compares
// the types of all pairs of elements, so listOf rejects a long tuple of several types.
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
		return v, fmt.Errorf("a list of mixed types has %d elements; the limit is %d. "+
			"Make a list of one type with tolist", len(types), maxTuple)
	}
	return v, nil
}
