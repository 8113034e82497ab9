package lang

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Axis returns the placeholder that is the value of matrix.NAME during planning, such as "${matrix.size}" for the name
// "size".
func Axis(name string) string { return "${" + Matrix + "." + name + "}" }

// MatrixRefs finds all references to axes of a matrix in an expression. During planning, an axis has a placeholder for
// its value. The result whole contains references that only copy the placeholder: to the value, or into a string, list
// or object. The result others contains all other references, such as those in a comparison, which planning cannot
// evaluate.
func MatrixRefs(e hcl.Expression) (whole, others []hcl.Range) {
	rest := func(e hclsyntax.Expression) {
		if e == nil {
			return
		}
		for _, t := range e.Variables() {
			if t.RootName() == Matrix {
				others = append(others, t.SourceRange())
			}
		}
	}
	var walk func(e hclsyntax.Expression)
	walk = func(e hclsyntax.Expression) {
		switch e := Inner(e).(type) {
		case nil:
		case *hclsyntax.ScopeTraversalExpr:
			if e.Traversal.RootName() == Matrix && len(e.Traversal) == 2 {
				whole = append(whole, e.Traversal.SourceRange())
			} else {
				rest(e)
			}
		case *hclsyntax.ParenthesesExpr:
			walk(e.Expression)
		case *hclsyntax.TemplateWrapExpr:
			walk(e.Wrapped)
		case *hclsyntax.TemplateExpr:
			for _, part := range e.Parts {
				walk(part)
			}
		case *hclsyntax.TemplateJoinExpr:
			walk(e.Tuple)
		case *hclsyntax.TupleConsExpr:
			for _, x := range e.Exprs {
				walk(x)
			}
		case *hclsyntax.ObjectConsExpr:
			for _, item := range e.Items {
				walk(item.KeyExpr)
				walk(item.ValueExpr)
			}
		case *hclsyntax.ObjectConsKeyExpr:
			if e.ForceNonLiteral || hcl.ExprAsKeyword(e.Wrapped) == "" {
				walk(e.Wrapped)
			}
		case *hclsyntax.ConditionalExpr:
			rest(e.Condition)
			walk(e.TrueResult)
			walk(e.FalseResult)
		case *hclsyntax.ForExpr:
			rest(e.CollExpr)
			rest(e.CondExpr)
			walk(e.KeyExpr)
			walk(e.ValExpr)
		case *hclsyntax.FunctionCallExpr:
			for _, x := range e.Args {
				switch e.Name {
				case "concat", "flatten", "join", "merge":
					walk(x)
				default:
					rest(x)
				}
			}
		default:
			rest(e)
		}
	}
	if native, ok := e.(hclsyntax.Expression); ok {
		walk(native)
	}
	return whole, others
}
