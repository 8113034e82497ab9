package lang_test

import (
	"reflect"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/hexmage/hexmage/internal/lang"
)

func TestIsIdentifier(t *testing.T) {
	names := []string{"", "a", "A9", "_", "_x-1", "a-", "-a", "9", "9a", "a b", "a.b", "a\n", "\x00", "ä", "aé", "日本", "a\xff", "null", "for", "a\u200d", "·a", "a·"}
	for c := range 256 {
		names = append(names, string([]byte{byte(c)}), "x"+string([]byte{byte(c)}))
	}
	for _, s := range names {
		if is, want := lang.IsIdentifier(s), hclsyntax.ValidIdentifier(s); is != want {
			t.Errorf("%q: %v, HCL says %v", s, is, want)
		}
	}
}

func TestVariables(t *testing.T) {
	for _, src := range []string{
		`1`, `"a"`, `"a${b}"`, `"${b.c}"`, `a`, `a.b["c"].d`, `a[0]`, `a[b]`, `a[*].b`, `[]`, `["a", 1, null, true]`, `[a.b, "x", [c, [d.e]], f.g]`, `[a, f(b), c]`, `[for x in a : x.y]`,
		`{a = b}`, `[{(a) = b}, c]`, `f([a], b)`, `a ? b : c`, `(a)`, `[(a), -b, !c]`, "<<E\na ${b}\nE\n", `["${a}", "b"]`, `a...`,
	} {
		x, diags := hclsyntax.ParseExpression([]byte(src), "x.hcl", hcl.InitialPos)
		if x == nil {
			t.Fatal(src, diags)
		}
		is, want := lang.Variables(x), x.Variables()
		if len(is) != len(want) || len(is) > 0 && !reflect.DeepEqual(is, want) {
			t.Errorf("%s: %v, HCL says %v", src, is, want)
		}
	}
}
