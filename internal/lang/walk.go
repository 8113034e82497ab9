package lang

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/hexmage/hexmage/internal/addrs"
)

// EachRefs finds what an expression or body takes from every copy of a step, which plain references do not show:
//
//	step.exec.gen[each.key].outputs.so
//	[for k, s in step.exec.gen : s.outputs.so]
//	values(step.exec.gen)[*].outputs.so
//
// Each Ref has Step, Outputs and Output; Declared.CheckEach checks them. Only native syntax is understood; anything else
// gives nothing.
func EachRefs(node any) []Ref {
	n, ok := node.(hclsyntax.Node)
	if !ok {
		return nil
	}
	var refs []Ref
	add := func(s addrs.Step, rest hcl.Traversal) {
		if len(rest) == 0 {
			return
		}
		if a, ok := rest[0].(hcl.TraverseAttr); !ok || a.Name != "outputs" {
			return // HCL reports it: the object has no other attribute
		}
		r := Ref{Root: StepRoot, Step: s, Outputs: true, Range: rest.SourceRange()}
		p := &refParser{rest: rest[1:], ref: &r}
		if r.Output, r.OutputRange = p.attr(); r.Output != "" {
			refs = append(refs, r)
		}
	}
	hclsyntax.VisitAll(n, func(n hclsyntax.Node) hcl.Diagnostics {
		switch e := n.(type) {
		case *hclsyntax.RelativeTraversalExpr:
			if ix, ok := e.Source.(*hclsyntax.IndexExpr); ok {
				if s, ok := stepOf(ix.Collection); ok {
					add(s, e.Traversal)
				}
			}
		case *hclsyntax.SplatExpr:
			if each, ok := e.Each.(*hclsyntax.RelativeTraversalExpr); ok {
				if s, ok := stepOf(e.Source); ok {
					add(s, each.Traversal)
				}
			}
		case *hclsyntax.ForExpr:
			s, ok := stepOf(e.CollExpr)
			if !ok {
				break
			}
			for _, inner := range []hclsyntax.Expression{e.KeyExpr, e.ValExpr, e.CondExpr} {
				if inner == nil {
					continue
				}
				for _, t := range inner.Variables() {
					if t.RootName() == e.ValVar {
						add(s, t[1:])
					}
				}
			}
		}
		return nil
	})
	return refs
}

// stepOf recognises step.KIND.NAME, and values(step.KIND.NAME).
func stepOf(e hclsyntax.Expression) (addrs.Step, bool) {
	e = Inner(e)
	if call, ok := e.(*hclsyntax.FunctionCallExpr); ok && call.Name == "values" && len(call.Args) == 1 {
		e = Inner(call.Args[0])
	}
	t, ok := e.(*hclsyntax.ScopeTraversalExpr)
	if !ok || t.Traversal.RootName() != StepRoot {
		return addrs.Step{}, false
	}
	r, diags := ParseRef(t.Traversal)
	return r.Step, !diags.HasErrors() && !r.Outputs && !r.Keyed
}

// CheckEach says whether what EachRefs found is declared.
func (d *Declared) CheckEach(r Ref) hcl.Diagnostics {
	s, ok := d.Steps[r.Step]
	if !ok || s.Outputs == nil || !s.ForEach { // the plain reference tells
		return nil
	}
	return CheckOutput(r, s.Outputs)
}
