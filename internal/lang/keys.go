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

// withKeys says of a key that a map or object does not have which one may have been meant, or which there are.
func withKeys(diags hcl.Diagnostics) hcl.Diagnostics {
	for i, d := range diags {
		coll, key, name := missingKey(d)
		if name == "" {
			continue
		}
		have := slices.Sorted(maps.Keys(coll))
		own := *d
		own.Summary = "No such key"
		switch near := nearest.Name(key, have); {
		case near != "":
			own.Detail = fmt.Sprintf("%s has no %q. Did you mean %q?", name, key, near)
		case len(have) == 0:
			own.Detail = fmt.Sprintf("%s has no %q: it is empty.", name, key)
		default:
			own.Detail = fmt.Sprintf("%s has no %q.", name, key)
		}
		if n := len(have); n > 0 && n <= maxKeys {
			own.Detail += fmt.Sprintf(" It has: %s.", strings.Join(have, ", "))
		}
		diags = slices.Clone(diags)
		diags[i] = &own
	}
	return diags
}

// missingKey is what an index was taken of, the key, and how the collection is called; name is "" when that is not what is wrong.
func missingKey(d *hcl.Diagnostic) (coll map[string]cty.Value, key, name string) {
	var of, k cty.Value
	switch e := d.Expression.(type) {
	case *hclsyntax.IndexExpr:
		from, ok := e.Collection.(*hclsyntax.ScopeTraversalExpr)
		if !ok {
			return nil, "", ""
		}
		of, _ = e.Collection.Value(d.EvalContext)
		k, _ = e.Key.Value(d.EvalContext)
		name = traversalName(from.Traversal)
	case *hclsyntax.ScopeTraversalExpr:
		for i := 1; i < len(e.Traversal); i++ {
			if _, ds := e.Traversal[:i+1].TraverseAbs(d.EvalContext); ds.HasErrors() {
				of, _ = e.Traversal[:i].TraverseAbs(d.EvalContext)
				if t, ok := e.Traversal[i].(hcl.TraverseIndex); ok {
					k, name = t.Key, traversalName(e.Traversal[:i])
				}
				break
			}
		}
	}
	of, _ = of.Unmark()
	k, _ = k.Unmark()
	if name == "" || of == cty.NilVal || k == cty.NilVal || of.IsNull() || !of.IsKnown() || k.IsNull() || !k.IsKnown() || k.Type() != cty.String ||
		!(of.Type().IsObjectType() || of.Type().IsMapType()) {
		return nil, "", ""
	}
	coll = of.AsValueMap()
	if _, there := coll[k.AsString()]; there {
		return nil, "", ""
	}
	return coll, k.AsString(), name
}
