package planner

import (
	"testing"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// TestUniformList: uniformList and convert.Convert make the same lists.
func TestUniformList(t *testing.T) {
	tuple := func(all ...cty.Value) cty.Value { return cty.TupleVal(all) }
	a, n := cty.StringVal("a"), cty.NumberIntVal(1)
	object := cty.ObjectVal(map[string]cty.Value{"k": a})
	for name, v := range map[string]cty.Value{
		"one type":         tuple(a, a),
		"numbers":          tuple(n),
		"unknown elements": tuple(cty.UnknownVal(cty.String), a),
		"null elements":    tuple(cty.NullVal(cty.String), a),
		"marked elements":  tuple(a.Mark("m"), a),
		"marked":           tuple(a, a).Mark("m"),
		"objects":          tuple(object, object),
		"several types":    tuple(a, n),
		"dynamic elements": tuple(cty.DynamicVal, a),
		"untyped null":     tuple(cty.NullVal(cty.DynamicPseudoType)),
		"empty":            cty.EmptyTupleVal,
		"null":             cty.NullVal(cty.Tuple([]cty.Type{cty.String})),
		"unknown":          cty.UnknownVal(cty.Tuple([]cty.Type{cty.String})),
		"a list":           cty.ListVal([]cty.Value{a}),
	} {
		for _, ty := range []cty.Type{cty.List(cty.DynamicPseudoType), cty.List(cty.String), cty.Set(cty.String),
			cty.String} {
			got, ok := uniformList(v, ty)
			if simple := name == "one type" && ty.IsListType(); simple && !ok {
				t.Errorf("%s to %#v: left to convert", name, ty)
			}
			if want, err := convert.Convert(v, ty); ok && (err != nil || !got.RawEquals(want)) {
				t.Errorf("%s to %#v: %#v, want %#v, %v", name, ty, got, want, err)
			}
		}
	}
}
