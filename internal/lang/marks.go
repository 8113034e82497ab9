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
	eachPart(v, func(part cty.Value) {
		t.Marked = t.Marked || part.IsMarked()
		t.Sensitive = t.Sensitive || part.HasMark(Sensitive)
		t.Unknown = t.Unknown || !part.IsKnown()
	})
	return t
}

// OutputMarks returns the outputs that a value was made from, at any depth, sorted.
func OutputMarks(v cty.Value) []addrs.Output {
	var out []addrs.Output
	eachPart(v, func(part cty.Value) {
		for o := range cty.ValueMarksOfType[addrs.Output](part) {
			out = append(out, o)
		}
	})
	return addrs.SortOutputs(out)
}

// IsSensitive says whether a value, or any part of it, is sensitive.
func IsSensitive(v cty.Value) bool { return TraitsOf(v).Sensitive }

// eachPart calls f for a value and for all in it.
func eachPart(v cty.Value, f func(cty.Value)) {
	if v == cty.NilVal {
		return
	}
	err := cty.Walk(v, func(_ cty.Path, part cty.Value) (bool, error) {
		f(part)
		return true, nil
	})
	if err != nil {
		panic(err) // the function gives none
	}
}
