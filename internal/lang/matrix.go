package lang

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// axis returns the value of matrix.NAME: its own text, until the step's variants put their values in its place.
func axis(name string) string { return "${" + Matrix + "." + name + "}" }

// MatrixRefs finds references to axes of a matrix. Whole are those of which the text stays what it is: they are the
// value, or a part of a text, list or object. What else an expression may do with one (compare it, look something up
// with it) has no value while planning: others.
func MatrixRefs(e hcl.Expression) (whole, others []hcl.Range) {
	walkTexts(e, func(e hclsyntax.Expression) {
		if e, ok := e.(*hclsyntax.ScopeTraversalExpr); ok && e.Traversal.RootName() == Matrix {
			if len(e.Traversal) == 2 {
				whole = append(whole, e.Traversal.SourceRange())
			} else {
				others = append(others, e.Traversal.SourceRange())
			}
		}
	}, func(e hclsyntax.Expression) {
		for _, t := range e.Variables() {
			if t.RootName() == Matrix {
				others = append(others, t.SourceRange())
			}
		}
	})
	return whole, others
}

// walkTexts calls leaf for the references whose values the expression's value has unchanged, in strings, lists and
// objects. It calls rest for all other parts.
func walkTexts(e hcl.Expression, leaf, rest func(hclsyntax.Expression)) {
	root, ok := e.(hclsyntax.Expression)
	if !ok {
		return
	}
	var walk func(e hclsyntax.Expression)
	others := func(e hclsyntax.Expression) {
		if e != nil {
			rest(e)
		}
	}
	walk = func(e hclsyntax.Expression) {
		switch e := Inner(e).(type) {
		case nil:
		case *hclsyntax.ScopeTraversalExpr:
			leaf(e)
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
			others(e.Condition)
			walk(e.TrueResult)
			walk(e.FalseResult)
		case *hclsyntax.ForExpr:
			others(e.CollExpr)
			others(e.CondExpr)
			walk(e.KeyExpr)
			walk(e.ValExpr)
		case *hclsyntax.FunctionCallExpr:
			for _, x := range e.Args {
				switch e.Name {
				case "concat", "flatten", "join", "merge":
					walk(x)
				default:
					others(x)
				}
			}
		default:
			others(e)
		}
	}
	walk(root)
}
