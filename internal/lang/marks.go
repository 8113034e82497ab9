package lang

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/addrs"
)

// ValueMarks reports which marks a value or any part of the value has.
type ValueMarks struct {
	Marked    bool // the value or a part has any mark
	Sensitive bool
	Unknown   bool
}

// ValueMarksOf returns the ValueMarks of a value.
func ValueMarksOf(v cty.Value) ValueMarks {
	var t ValueMarks
	eachPart(v, func(part cty.Value) {
		t.Marked = t.Marked || part.IsMarked()
		t.Sensitive = t.Sensitive || part.HasMark(Sensitive)
		t.Unknown = t.Unknown || !part.IsKnown()
	})
	return t
}

// OutputMarks returns the sorted addresses of all outputs on which a value or any part of the value depends.
func OutputMarks(v cty.Value) []addrs.Output {
	var out []addrs.Output
	eachPart(v, func(part cty.Value) {
		for o := range cty.ValueMarksOfType[addrs.Output](part) {
			out = append(out, o)
		}
	})
	return addrs.SortOutputs(out)
}

// IsSensitive reports whether any part of a value is sensitive.
func IsSensitive(v cty.Value) bool { return ValueMarksOf(v).Sensitive }

// eachPart calls f for a value and for all values in it.
func eachPart(v cty.Value, f func(cty.Value)) {
	if v == cty.NilVal {
		return
	}
	err := cty.Walk(v, func(_ cty.Path, part cty.Value) (bool, error) {
		f(part)
		return true, nil
	})
	if err != nil {
		panic(err) // the function returns no error
	}
}
