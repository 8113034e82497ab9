package lang

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/nearest"
)

// maxKeys is how many keys a message lists.
const maxKeys = 30

// withKeys says of a key that a map or object does not have which one may have been meant, or which there are; of an
// index how many elements there are.
func withKeys(diags hcl.Diagnostics) hcl.Diagnostics {
	for i, d := range diags {
		of, k, name := indexed(d)
		if name == "" {
			continue
		}
		own := *d
		switch t := of.Type(); {
		case (t.IsObjectType() || t.IsMapType()) && k.Type() == cty.String:
			coll, key := of.AsValueMap(), k.AsString()
			if _, there := coll[key]; there {
				continue
			}
			own.Summary, own.Detail = "No such key", noKey(name, key, slices.Sorted(maps.Keys(coll)))
		case (t.IsTupleType() || t.IsListType()) && k.Type() == cty.Number && of.LengthInt() == 0:
			own.Summary, own.Detail = "No such element",
				fmt.Sprintf("%s is empty: ask for length(%s) first.", name, name)
		case (t.IsTupleType() || t.IsListType()) && k.Type() == cty.Number:
			own.Summary = "No such element"
			own.Detail = fmt.Sprintf("%s has no element %s. Take one from %s[0] to %s[%d].", name,
				k.AsBigFloat().Text('f', -1), name, name, of.LengthInt()-1)
		default:
			continue
		}
		diags = slices.Clone(diags)
		diags[i] = &own
	}
	return diags
}

func noKey(name, key string, have []string) string {
	text := fmt.Sprintf("%s has no %q.", name, key)
	switch near := nearest.Name(key, have); {
	case near != "":
		text += fmt.Sprintf(" Did you mean %q?", near)
	case len(have) == 0:
		text = fmt.Sprintf("%s has no %q: it is empty.", name, key)
	}
	if n := len(have); n > 0 && n <= maxKeys {
		text += fmt.Sprintf(" It has: %s.", strings.Join(have, ", "))
	}
	return text
}

// indexed is what an index, or attribute, was taken of, which one, and how the collection is called; name is "" when
// that is not what is wrong.
func indexed(d *hcl.Diagnostic) (of, key cty.Value, name string) {
	switch e := d.Expression.(type) {
	case *hclsyntax.IndexExpr:
		from, ok := e.Collection.(*hclsyntax.ScopeTraversalExpr)
		if !ok {
			return of, key, ""
		}
		of, _ = e.Collection.Value(d.EvalContext)
		key, _ = e.Key.Value(d.EvalContext)
		name = traversalName(from.Traversal)
	case *hclsyntax.ScopeTraversalExpr:
		for i := 1; i < len(e.Traversal); i++ {
			if _, ds := e.Traversal[:i+1].TraverseAbs(d.EvalContext); ds.HasErrors() {
				of, _ = e.Traversal[:i].TraverseAbs(d.EvalContext)
				name = traversalName(e.Traversal[:i])
				switch t := e.Traversal[i].(type) {
				case hcl.TraverseIndex:
					key = t.Key
				case hcl.TraverseAttr:
					key = cty.StringVal(t.Name)
				}
				break
			}
		}
	}
	of, _ = of.Unmark()
	key, _ = key.Unmark()
	if of == cty.NilVal || key == cty.NilVal || of.IsNull() || !of.IsKnown() || key.IsNull() || !key.IsKnown() {
		return of, key, ""
	}
	return of, key, name
}
