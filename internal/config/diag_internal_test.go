package config

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// What partialContent takes and leaves is what HCL does.
func TestPartialContent(t *testing.T) {
	schema := &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "a"}, {Name: "b"}}, Blocks: []hcl.BlockHeaderSchema{{Type: "x", LabelNames: []string{"name"}}, {Type: "y"}}}
	required := &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "a", Required: true}}}
	others := &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "a"}, {Name: "c"}}, Blocks: []hcl.BlockHeaderSchema{{Type: "x", LabelNames: []string{"name"}}, {Type: "z"}}}
	for _, src := range []string{"", "a = 1\n", "c = 1\n", "a = 1\nb = 2\nc = 3\n", "x \"1\" {}\n", "x \"1\" { a = 1 }\ny {}\nz {}\nx \"2\" {}\nc = 1\n", "x {}\n", "y \"1\" {}\na = 1\n", "z {}\n"} {
		f, diags := hclsyntax.ParseConfig([]byte(src), "f", hcl.InitialPos)
		if len(diags) > 0 {
			t.Fatal(diags)
		}
		for _, s := range []*hcl.BodySchema{schema, required, {}} {
			got, rest, ds := partialContent(f.Body, s)
			want, wantRest, wantDs := f.Body.PartialContent(s)
			same := func(what string, got, want *hcl.BodyContent, ds, wantDs hcl.Diagnostics) {
				t.Helper()
				order := func(c *hcl.BodyContent) (all []hcl.Range) {
					for _, b := range c.Blocks {
						all = append(all, b.DefRange)
					}
					return all
				}
				if ds.Error() != wantDs.Error() || got.MissingItemRange != want.MissingItemRange || !slices.Equal(order(got), order(want)) ||
					!slices.Equal(slices.Sorted(maps.Keys(got.Attributes)), slices.Sorted(maps.Keys(want.Attributes))) {
					t.Errorf("%s of %q: %v, %v\n%s", what, src, ds, wantDs, cmp.Diff(order(got), order(want)))
				}
			}
			same("content", got, want, ds, wantDs)
			again, ds := rest.Content(others)
			wantAgain, wantDs := wantRest.Content(others)
			same("rest", again, wantAgain, ds, wantDs)
		}
	}
}
