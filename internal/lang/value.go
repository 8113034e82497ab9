package lang

import (
	"errors"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Limits of a value. Values can share parts, so a short pipeline can describe a value of any size.
const (
	maxText     = 16 << 20 // bytes of all texts
	maxParts    = 300_000  // values, at any depth
	maxExponent = 1 << 16  // of two, of a number: one with more has more than 19,728 digits when it is written

	maxErrors = 100 // that are reported of one expression
)

// Value evaluates an expression. Its value is within the limits.
func Value(e hcl.Expression, ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	v, diags := e.Value(ctx)
	if diags.HasErrors() {
		return v, Explained(diags[:min(len(diags), maxErrors)], e.Variables(), ctx)
	}
	if err := CheckSize(v); err != nil {
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

// TooMuch is the diagnostic of an error of CheckSize.
func TooMuch(at hcl.Range, err error) hcl.Diagnostics {
	summary := "More than a plan may hold"
	if errors.Is(err, errInfinite) {
		summary = "A number is infinite"
	}
	return errorf(at, summary, "Here %s.", err)
}

var errInfinite = errors.New(
	"something was divided by zero, or a number is too large: ask first, as in n == 0 ? 0 : 1 / n")

// CheckSize fails if the value is larger than the limits allow. It stops at the first limit, so it is quick for a
// value whose halves are one value, forty times over.
func CheckSize(v cty.Value) error {
	parts, text := 0, 0
	return cty.Walk(v, func(_ cty.Path, v cty.Value) (bool, error) {
		if parts++; parts > maxParts {
			return false, fmt.Errorf("a value has more than %d parts", maxParts)
		}
		v, _ = v.Unmark()
		if !v.IsKnown() || v.IsNull() {
			return false, nil
		}
		switch v.Type() {
		case cty.String:
			if text += len(v.AsString()); text > maxText {
				return false, fmt.Errorf("the texts of a value have more than %d MiB", maxText>>20)
			}
		case cty.Number: // one without an end, or one that would be written with a million digits
			switch exp := v.AsBigFloat().MantExp(nil); {
			case v.AsBigFloat().IsInf():
				return false, errInfinite
			case exp > maxExponent || exp < -maxExponent:
				return false, errors.New("a number is too large or too small: it has more than 19,000 digits")
			}
		}
		return true, nil
	})
}
