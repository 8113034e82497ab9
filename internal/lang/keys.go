package lang

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/suggest"
)

// maxKeys is the maximum number of keys in a message.
const maxKeys = 30

// withKeys completes errors about a missing key or index. A missing key gets the most similar key or the existing keys,
// a missing index the number of elements.
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
			own.Summary, own.Detail = "Unknown key", noKey(name, key, slices.Sorted(maps.Keys(coll)))
		case (t.IsTupleType() || t.IsListType()) && k.Type() == cty.Number && of.LengthInt() == 0:
			own.Summary, own.Detail = "Index out of range",
				fmt.Sprintf("%s is empty. Check length(%s) first.", name, name)
		case (t.IsTupleType() || t.IsListType()) && k.Type() == cty.Number:
			own.Summary = "Index out of range"
			own.Detail = fmt.Sprintf("%s has no element %s. Use an index from 0 to %d.", name,
				k.AsBigFloat().Text('f', -1), of.LengthInt()-1)
		default:
			continue
		}
		diags = slices.Clone(diags)
		diags[i] = &own
	}
	return diags
}

func noKey(name, key string, have []string) string {
	text := fmt.Sprintf("%s has no key %q.", name, key)
	switch near := suggest.Name(key, have); {
	case near != "":
		text += fmt.Sprintf(" Did you mean %q?", near)
	case len(have) == 0:
		text += " The map is empty."
	}
	if n := len(have); n > 0 && n <= maxKeys {
		text += fmt.Sprintf(" Known keys: %s.", strings.Join(have, ", "))
	}
	return text
}

// indexed returns the collection of a failed index or attribute, the key, and the collection's name. name is "" for
// other errors.
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
