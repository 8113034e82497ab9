package lang

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/addrs"
)

// Traits are what planning asks of a value, at any depth.
type Traits struct {
	Marked    bool // something of it carries a mark
	Sensitive bool
	Unknown   bool
}

// TraitsOf looks at a value once.
func TraitsOf(v cty.Value) Traits {
	var t Traits
	visit(v, func(m any) {
		t.Marked = true
		t.Sensitive = t.Sensitive || m == Sensitive
	}, &t.Unknown)
	return t
}

// OutputMarks returns the outputs that a value was made from, at any depth, sorted.
func OutputMarks(v cty.Value) []addrs.Output {
	var out []addrs.Output
	visit(v, func(m any) {
		if o, ok := m.(addrs.Output); ok {
			out = append(out, o)
		}
	}, new(bool))
	return addrs.SortOutputs(out)
}

// HasOutput says whether a value was made, at any depth, from an output of which yes is true.
func HasOutput(v cty.Value, yes func(addrs.Output) bool) bool {
	found := false
	visit(v, func(m any) {
		if o, ok := m.(addrs.Output); ok && !found {
			found = yes(o)
		}
	}, new(bool))
	return found
}

// IsSensitive says whether a value, or any part of it, is sensitive.
func IsSensitive(v cty.Value) bool { return TraitsOf(v).Sensitive }

// visit calls f for each mark of a value and of all in it, and notes whether anything is not known. It makes no
// paths, which is what most of the time of cty's own walks goes into.
func visit(v cty.Value, f func(mark any), unknown *bool) {
	if v == cty.NilVal {
		return
	}
	if v.IsMarked() {
		for m := range cty.ValueMarksOfType[any](v) {
			f(m)
		}
		v, _ = v.Unmark()
	}
	if !v.IsKnown() {
		*unknown = true
		return
	}
	ty := v.Type()
	if ty.IsPrimitiveType() || v.IsNull() {
		return
	}
	switch {
	case ty.IsObjectType() || ty.IsMapType():
		for _, e := range v.AsValueMap() {
			visit(e, f, unknown)
		}
	case ty.IsTupleType() || ty.IsListType() || ty.IsSetType():
		for _, e := range v.AsValueSlice() {
			visit(e, f, unknown)
		}
	}
}
