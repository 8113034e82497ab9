package planner

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/hexmage/hexmage/internal/lang"
)

// referMatrix checks where a step refers to axes of its matrix, and notes on its object which references are right.
// Whether there are such axes is known when the matrix is: checkAxes.
func (p *planner) referMatrix(s *object) hcl.Diagnostics {
	if s.schema.Matrix == "" || s.content == nil {
		return nil
	}
	var diags hcl.Diagnostics
	s.axes = make(map[hcl.Range]bool)
	for _, name := range s.schema.InVariants {
		var e hcl.Expression
		if a := s.content.Attributes[name]; a != nil {
			e = a.Expr
		} else if e = s.block.Env; name != "env" || e == nil {
			continue
		}
		whole, others := lang.MatrixRefs(e)
		for _, r := range others {
			s.axes[r] = false
			diags = append(diags, errorf(r, "An axis has no value while planning",
				"matrix.AXIS is used as it is or as a part of a text, list or object, where each variant gets its "+
					"value afterwards; so nothing can be chosen or worked out by it here. Write a step with "+
					"for_each for that.")...)
		}
		for _, r := range whole {
			s.axes[r] = true
			if s.content.Attributes[s.schema.Matrix] == nil {
				s.axes[r] = false
				diags = append(diags, errorf(r, "matrix outside of a step with a matrix",
					"%s has no %s. Give it one: %s = { seq = [\"64\", \"256\"] }.", s.block.At, s.schema.Matrix,
					s.schema.Matrix)...)
			}
		}
	}
	return diags
}

// check says whether what a reference means is declared; of an axis, as far as referMatrix knows.
func (o *object) check(r lang.Ref, each bool) hcl.Diagnostics {
	right, seen := o.axes[r.Range]
	switch {
	case r.Root != lang.Matrix || o.block == nil || o.schema.Matrix == "":
		return o.scope.declared.Check(r, each)
	case seen || o.content == nil: // what is wrong was said
		o.failed = o.failed || !right
		return nil
	}
	return errorf(r.Range, "An axis cannot be used here",
		"%s can be used in %s.", r, strings.Join(o.schema.InVariants, ", "))
}

// checkAxes says which axes that the step refers to its matrix does not have.
func (e *evaluator) checkAxes(args []*argument) hcl.Diagnostics {
	if len(e.s.axes) == 0 {
		return nil
	}
	var diags hcl.Diagnostics
	for _, a := range args {
		if a.name != e.s.schema.Matrix || a.Unknown {
			continue
		}
		have := []string{}
		if v := a.plain; !v.IsNull() {
			have = sortedKeys(v.AsValueMap())
		}
		for _, r := range e.s.refs {
			switch {
			case r.Root != lang.Matrix:
			case len(have) == 0:
				diags = append(diags, errorf(r.Range, "matrix outside of a step with a matrix",
					"%s of %s has no axes.", a.name, fmt.Sprint(e.s.block.At))...)
			default:
				diags = append(diags, lang.CheckAttr(r, r.Name, have)...)
			}
		}
	}
	return diags
}
