package lang_test

import (
	"testing"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/workspace"
)

// concat gives what that of the library gives, which takes longer.
func TestConcat(t *testing.T) {
	ours := lang.Functions(workspace.NewFiles(t.TempDir()))["concat"]
	a, n := cty.StringVal("a"), cty.NumberIntVal(1)
	tuple := cty.TupleVal([]cty.Value{a, n.Mark("deep"), cty.EmptyObjectVal})
	list := cty.ListVal([]cty.Value{a, a.Mark("deep")})
	for _, args := range [][]cty.Value{
		nil, {tuple}, {tuple, tuple}, {tuple.Mark("outer"), tuple.Mark("other")}, {cty.EmptyTupleVal}, {cty.EmptyTupleVal, cty.EmptyTupleVal.Mark("outer")},
		{list}, {list, list.Mark("outer")}, {list, tuple}, {tuple, list.Mark("outer")}, {list, cty.ListVal([]cty.Value{n})},
		{cty.TupleVal([]cty.Value{tuple, list})}, {cty.TupleVal([]cty.Value{cty.UnknownVal(cty.String)})}, {tuple, cty.UnknownVal(tuple.Type())},
		{cty.UnknownVal(list.Type())}, {cty.DynamicVal}, {tuple, cty.DynamicVal.Mark("outer")}, {cty.NullVal(tuple.Type())}, {tuple, a}, {a, tuple}, {cty.SetVal([]cty.Value{a})},
	} {
		want, werr := stdlib.ConcatFunc.Call(args)
		got, err := ours.Call(args)
		if (err == nil) != (werr == nil) || err != nil && err.Error() != werr.Error() || err == nil && !got.RawEquals(want) {
			t.Errorf("%#v: %#v, %v; want %#v, %v", args, got, err, want, werr)
		}
	}
}
