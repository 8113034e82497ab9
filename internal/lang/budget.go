package lang

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Limits of values, and of the work that making a plan may be. They are counted, not timed: a plan that one machine
// makes, every machine makes.
const (
	maxText  = 4 << 20  // bytes of one text
	maxTexts = 16 << 20 // bytes of all texts in one value
	maxParts = 300_000  // values in one value, at any depth
	maxDepth = 200      // values in each other

	maxExponent   = 1 << 16 // of two, of a number: one with more has more than 19,728 digits when it is written
	maxNumberText = 1000    // bytes of a text that is read as a number

	maxWork     = 5_000_000 // units: a value that an expression uses, or textUnit bytes of text
	textUnit    = 8         // bytes
	elementWork = 10        // units of an element of a for expression
	partWork    = 2         // units of each part of what is evaluated for the element

	errorWork = 50 // units of an error, which try may have hidden

	maxErrors = 100    // that are reported of one expression
	maxTuple  = 10_000 // elements of several types that become one list
)

// Budget is the work that evaluating the expressions of a plan may still cost. Several goroutines may spend it.
type Budget struct{ left atomic.Int64 }

// NewBudget returns a full budget.
func NewBudget() *Budget {
	b := new(Budget)
	b.Refill()
	return b
}

// Refill makes the budget full again: for a step that is planned when the values that it waits for are there.
func (b *Budget) Refill() { b.left.Store(maxWork) }

// Spent reports whether nothing is left: any further evaluation fails.
func (b *Budget) Spent() bool { return b.left.Load() < 0 }

var errSpent = fmt.Errorf("the plan is more work than is allowed (%d million units): "+
	"make its lists and texts smaller, or leave the work to a step", maxWork/1_000_000)

// spend takes units from the budget.
func (b *Budget) spend(units int) error {
	if b.left.Add(-int64(units)) < 0 {
		return errSpent
	}
	return nil
}

// Value evaluates an expression. Its value is within the limits.
func (b *Budget) Value(e hcl.Expression, ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	v, diags := e.Value(ctx)
	if diags.HasErrors() {
		return v, Explained(diags[:min(len(diags), maxErrors)], e.Variables(), ctx)
	}
	if err := b.Take(v); err != nil {
		return cty.DynamicVal, TooMuch(e.Range(), err)
	}
	return v, diags
}

// Explained makes of what evaluation says what people are told: which keys there are beside one that is not there;
// and nothing of what evaluation says, nor of the values that HCL shows beside it, if any of the references leads to
// a sensitive value: a part of it stands in many messages, and an element of it has no mark inside of a for
// expression.
func Explained(diags hcl.Diagnostics, refs []hcl.Traversal, ctx *hcl.EvalContext) hcl.Diagnostics {
	secret := ""
	for _, t := range refs {
		for in := ctx; in != nil && secret == ""; in = in.Parent() {
			if _, found := in.Variables[t.RootName()]; !found {
				continue
			}
			if v, ds := t.TraverseAbs(in); ds.HasErrors() || IsSensitive(v) { // a key that is not there may be one, too
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
		own.Detail = fmt.Sprintf("What is wrong is not told, since it could show a sensitive value: this is made "+
			"from %s.", secret)
		out[i] = &own
	}
	return out
}

// traversalName is a reference up to its first index.
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

// TooMuch is the diagnostic of what Take says.
func TooMuch(at hcl.Range, err error) hcl.Diagnostics {
	summary := "More than a plan may hold"
	if errors.Is(err, errInfinite) {
		summary = "A number is infinite"
	}
	return errorf(at, summary, "Here %s.", err)
}

// Take measures a value. It fails if the value is larger than the limits allow, or the budget is spent.
func (b *Budget) Take(v cty.Value) error {
	var s size
	if err := s.add(v, 0); err != nil {
		return err
	}
	return b.spend(s.parts + s.text/textUnit)
}

// size is how much there is of a value.
type size struct {
	parts int // values, with itself
	text  int // bytes
}

// add measures a value. It fails as soon as one of the limits is passed, so it is quick for a value of which each
// half is the same one, forty times over.
func (s *size) add(v cty.Value, depth int) error {
	if v == cty.NilVal {
		return nil
	}
	if s.parts++; s.parts > maxParts {
		return fmt.Errorf("a value has more than %d parts", maxParts)
	}
	if depth > maxDepth {
		return fmt.Errorf("values are in each other more than %d deep", maxDepth)
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
			return fmt.Errorf("the texts of one value have more than %d MiB", maxTexts>>20)
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

// checkNumber refuses what has no end, and what would be written with a million digits.
func checkNumber(v cty.Value) error {
	f := v.AsBigFloat()
	switch exp := f.MantExp(nil); {
	case f.IsInf():
		return errInfinite
	case exp > maxExponent || exp < -maxExponent:
		return errors.New("a number is too large or too small: it would be written with more than 19,000 digits")
	}
	return nil
}

var errInfinite = errors.New(
	"something was divided by zero, or a number is too large: ask first, as in n == 0 ? 0 : 1 / n")
