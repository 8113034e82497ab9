package lang

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// EachRefs searches an expression or body for references to an output in all instances of a step or module. Examples
// are `step.exec.gen[each.key].outputs.so`, `values(step.exec.gen)[*].outputs.so` and `module.aot[each.key].context`.
// HCL's method Variables does not return these references. Pass the references to Declared.CheckEach.
//
// A reference to a step sets the fields Step, Outputs and Output. A reference to a module sets Name and Attr. EachRefs
// returns no references for bodies that are not in native HCL syntax.
//
// The map taken contains the position of each reference to all instances of a module, and the outputs that the
// expression uses there. For a position that is not in the map, assume that the expression uses all outputs.
func EachRefs(node any) (refs []Ref, taken map[hcl.Range]UsedOutputs) {
	n, ok := node.(hclsyntax.Node)
	if !ok {
		return nil, nil
	}
	taken = make(map[hcl.Range]UsedOutputs)
	add := func(of Ref, rest hcl.Traversal) {
		if of.Root == Module {
			out, t := of, taken[of.Range]
			p := &refParser{rest: rest, ref: &out}
			if out.Attr, out.OutputRange = p.attr(); out.Attr != "" {
				out.Range = rest.SourceRange()
				refs, t.Outputs = append(refs, out), append(t.Outputs, out)
			} else {
				t.All = true
			}
			taken[of.Range] = t
			return
		}
		if len(rest) == 0 {
			return
		}
		if a, ok := rest[0].(hcl.TraverseAttr); !ok || a.Name != "outputs" {
			return // HCL reports it: the object has no other attribute
		}
		r := Ref{Root: StepRoot, Step: of.Step, Outputs: true, Range: rest.SourceRange()}
		p := &refParser{rest: rest[1:], ref: &r}
		if r.Output, r.OutputRange = p.attr(); r.Output != "" {
			refs = append(refs, r)
		}
	}
	hclsyntax.VisitAll(n, func(n hclsyntax.Node) hcl.Diagnostics {
		switch e := n.(type) {
		case *hclsyntax.RelativeTraversalExpr:
			if ix, ok := e.Source.(*hclsyntax.IndexExpr); ok {
				if s, ok := manyOf(ix.Collection); ok {
					add(s, e.Traversal)
				}
			}
		case *hclsyntax.SplatExpr:
			if each, ok := e.Each.(*hclsyntax.RelativeTraversalExpr); ok {
				if s, ok := manyOf(e.Source); ok {
					add(s, each.Traversal)
				}
			}
		case *hclsyntax.FunctionCallExpr:
			if (e.Name == "keys" || e.Name == "length") && len(e.Args) == 1 {
				if s, ok := manyOf(e.Args[0]); ok && s.Root == Module {
					taken[s.Range] = UsedOutputs{}
				}
			}
		case *hclsyntax.ForExpr:
			s, ok := manyOf(e.CollExpr)
			if !ok {
				break
			}
			if s.Root == Module {
				taken[s.Range] = UsedOutputs{} // possibly only the keys
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
	return refs, taken
}

// UsedOutputs tells which outputs of a module an expression uses from each instance: some, none, or all.
type UsedOutputs struct {
	Outputs []Ref
	All     bool
}

// manyOf recognizes step.KIND.NAME and module.NAME, and values(…) of them.
func manyOf(e hclsyntax.Expression) (Ref, bool) {
	e = Inner(e)
	if call, ok := e.(*hclsyntax.FunctionCallExpr); ok && call.Name == "values" && len(call.Args) == 1 {
		e = Inner(call.Args[0])
	}
	t, ok := e.(*hclsyntax.ScopeTraversalExpr)
	if !ok || t.Traversal.RootName() != StepRoot && t.Traversal.RootName() != Module {
		return Ref{}, false
	}
	r, diags := ParseRef(t.Traversal)
	return r, !diags.HasErrors() && !r.Outputs && !r.Keyed && r.Attr == ""
}

// CheckEach reports a reference from EachRefs that leads to an undeclared element.
func (d *Declared) CheckEach(r Ref) hcl.Diagnostics {
	if r.Root == Module {
		if !d.Calls[r.Name].ForEach { // Check reports it
			return nil
		}
		return d.checkModuleOutput(r)
	}
	s, ok := d.Steps[r.Step]
	if !ok || s.Outputs == nil || !s.ForEach { // Check reports it
		return nil
	}
	return CheckOutput(r, s.Outputs)
}
