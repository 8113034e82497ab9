package lang

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Limits for values and for the work of planning. The limits count work instead of time, so that all machines accept
// the same plans.
const (
	maxText  = 4 << 20  // bytes of one string
	maxTexts = 16 << 20 // bytes of all strings in one value
	maxParts = 300_000  // values in one value, at any depth
	maxDepth = 200      // nesting depth of values

	maxExponent   = 1 << 16 // of two, in a number: a larger one means more than 19,728 decimal digits
	maxNumberText = 1000    // bytes of a string that is parsed as a number

	maxWork     = 5_000_000 // units: a value that an expression uses, or textUnit bytes of a string
	textUnit    = 8         // bytes
	elementWork = 10        // units of an element of a for expression
	partWork    = 2         // units of each part of an expression evaluated for the element

	errorWork = 50 // units of an error, which try may hide

	maxErrors = 100    // reported errors of one expression
	maxTuple  = 10_000 // elements of several types that are converted to one list
)

// Budget limits the work of evaluating a plan's expressions. Several goroutines may use it.
type Budget struct{ left atomic.Int64 }

// NewBudget returns a full Budget.
func NewBudget() *Budget {
	b := new(Budget)
	b.Refill()
	return b
}

// Refill resets the budget to the full amount. The planner calls Refill before it plans a step whose inputs just became
// known.
func (b *Budget) Refill() { b.left.Store(maxWork) }

// Spent reports whether the budget is used up. All further evaluations then fail.
func (b *Budget) Spent() bool { return b.left.Load() < 0 }

var errSpent = fmt.Errorf("the plan needs more than %d million evaluation steps; "+
	"use smaller lists and strings, or do the work in a step", maxWork/1_000_000)

// spend takes units from the budget.
func (b *Budget) spend(units int) error {
	if b.left.Add(-int64(units)) < 0 {
		return errSpent
	}
	return nil
}

// Value evaluates an expression, and returns an error if the value exceeds the limits.
func (b *Budget) Value(e hcl.Expression, ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	v, diags := e.Value(ctx)
	if diags.HasErrors() {
		return v, AnnotateErrors(diags[:min(len(diags), maxErrors)], e.Variables(), ctx)
	}
	if err := b.Take(v); err != nil {
		return cty.DynamicVal, LimitError(e.Range(), err)
	}
	return v, diags
}

// AnnotateErrors rewrites evaluation errors for users. If a key is missing, it adds a list of the existing keys. If a
// reference leads to a sensitive value, it removes all details and values from the message. A for expression removes
// the sensitive mark from elements, so the message could otherwise quote them.
func AnnotateErrors(diags hcl.Diagnostics, refs []hcl.Traversal, ctx *hcl.EvalContext) hcl.Diagnostics {
	secret := ""
	for _, t := range refs {
		for in := ctx; in != nil && secret == ""; in = in.Parent() {
			if _, found := in.Variables[t.RootName()]; !found {
				continue
			}
			if v, ds := t.TraverseAbs(in); ds.HasErrors() || IsSensitive(v) { // a missing key may be sensitive, too
				if v, _ := t[:1].TraverseAbs(in); IsSensitive(v) {
					secret = traversalName(t)
				}
			}
			break
		}
	}
	if secret == "" {
		return withKeys(diags)
	}
	out := make(hcl.Diagnostics, len(diags))
	for i, d := range diags {
		own := *d
		own.Expression, own.EvalContext, own.Extra = nil, nil, nil
		own.Detail = fmt.Sprintf("The expression uses the sensitive value %s, so hexmage hides the details.", secret)
		out[i] = &own
	}
	return out
}

// traversalName returns the reference up to its first index.
func traversalName(t hcl.Traversal) string {
	name := t.RootName()
	for _, step := range t[1:] {
		a, ok := step.(hcl.TraverseAttr)
		if !ok {
			break
		}
		name += "." + a.Name
	}
	return name
}

// LimitError returns a diagnostic for an error that Take returned.
func LimitError(at hcl.Range, err error) hcl.Diagnostics {
	if errors.Is(err, errInfinite) {
		return errorf(at, "Infinite number", "Cannot compute the result: %s. "+
			"Check the divisor first, as in n == 0 ? 0 : 1 / n.", err)
	}
	return errorf(at, "Plan too large", "The value exceeds a limit: %s.", err)
}

// Take spends budget for a value. It fails if the value exceeds the limits or the budget is spent.
func (b *Budget) Take(v cty.Value) error {
	var s size
	if err := s.add(v, 0); err != nil {
		return err
	}
	return b.spend(s.parts + s.text/textUnit)
}

// size is the size of a value.
type size struct {
	parts int // values, including itself
	text  int // bytes
}

// add measures a value. It stops at the first exceeded limit, so it is fast for a value with two equal halves,
// forty levels deep.
func (s *size) add(v cty.Value, depth int) error {
	if v == cty.NilVal {
		return nil
	}
	if s.parts++; s.parts > maxParts {
		return fmt.Errorf("a value has more than %d elements", maxParts)
	}
	if depth > maxDepth {
		return fmt.Errorf("values are nested more than %d levels deep", maxDepth)
	}
	if v.IsMarked() {
		v, _ = v.Unmark()
	}
	if !v.IsKnown() || v.IsNull() {
		return nil
	}
	switch ty := v.Type(); {
	case ty == cty.String:
		n := len(v.AsString())
		s.text += n
		switch {
		case n > maxText:
			return textTooLong(n)
		case s.text > maxTexts:
			return fmt.Errorf("the strings in one value have more than %d MiB in total", maxTexts>>20)
		}
	case ty == cty.Number:
		return checkNumber(v)
	case ty.IsPrimitiveType():
	case ty.IsListType() || ty.IsMapType() || ty.IsSetType() || ty.IsTupleType() || ty.IsObjectType():
		named := ty.IsMapType() || ty.IsObjectType()
		for it := v.ElementIterator(); it.Next(); {
			k, e := it.Element()
			if named {
				k, _ = k.Unmark()
				s.text += len(k.AsString())
			}
			if err := s.add(e, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkNumber rejects infinity, and numbers with too many digits.
func checkNumber(v cty.Value) error {
	f := v.AsBigFloat()
	switch exp := f.MantExp(nil); {
	case f.IsInf():
		return errInfinite
	case exp > maxExponent || exp < -maxExponent:
		return errors.New("a number needs more than 19,000 digits")
	}
	return nil
}

var errInfinite = errors.New("division by zero, or a number that is too large")
