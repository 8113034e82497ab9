package lang

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// IsIdentifier tells whether a name can be one of a block, an argument or a variable, as hclsyntax.ValidIdentifier does, which makes tokens of it.
func IsIdentifier(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '_':
		case i > 0 && ('0' <= c && c <= '9' || c == '-'):
		default:
			return hclsyntax.ValidIdentifier(s)
		}
	}
	return s != ""
}

// Variables are those of an expression, in order, as its method tells, which makes memory for each node that it walks over: here constants, references, and lists of
// them cost none.
func Variables(x hcl.Expression) []hcl.Traversal {
	var out []hcl.Traversal
	if !plainVariables(x, &out) {
		return x.Variables()
	}
	return out
}

func plainVariables(x hcl.Expression, out *[]hcl.Traversal) bool {
	switch e := x.(type) {
	case *hclsyntax.LiteralValueExpr:
		return true
	case *hclsyntax.ScopeTraversalExpr:
		*out = append(*out, e.Traversal)
		return true
	case *hclsyntax.TemplateExpr:
		return e.IsStringLiteral()
	case *hclsyntax.TupleConsExpr:
		for _, x := range e.Exprs {
			if !plainVariables(x, out) {
				return false
			}
		}
		return true
	}
	return false
}
