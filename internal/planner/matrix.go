package planner

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/hexmage/hexmage/internal/lang"
)

// referMatrix checks the references of a step to axes of its matrix, and records on its object which are valid.
// checkAxes checks that the axes exist, once the matrix is known.
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
			diags = append(diags, errorf(r, "Unsupported use of a matrix axis",
				"matrix.AXIS has no value during planning, so it works only alone or inside a string, list or object. "+
					"To compute with the value, use a step with for_each.")...)
		}
		for _, r := range whole {
			s.axes[r] = true
			if s.content.Attributes[s.schema.Matrix] == nil {
				s.axes[r] = false
				diags = append(diags, errorf(r, "Missing matrix",
					"%s uses a matrix axis but has no argument %s. Add one, such as %s = { seq = [\"64\", \"256\"] }.",
					s.block.At, s.schema.Matrix, s.schema.Matrix)...)
			}
		}
	}
	return diags
}

// check checks that a reference is declared; for an axis, as far as referMatrix knows.
func (o *object) check(r lang.Ref, each bool) hcl.Diagnostics {
	right, seen := o.axes[r.Range]
	switch {
	case r.Root != lang.Matrix || o.block == nil || o.schema.Matrix == "":
		return o.scope.declared.Check(r, each)
	case seen || o.content == nil: // reported earlier
		o.failed = o.failed || !right
		return nil
	}
	return errorf(r.Range, "Matrix axis not allowed",
		"%s can be used only in %s.", r, strings.Join(o.schema.InVariants, ", "))
}

// checkAxes reports axes that the step refers to and its matrix lacks.
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
				diags = append(diags, errorf(r.Range, "Missing matrix",
					"%s of %s has no axes. Add one, such as { seq = [\"64\", \"256\"] }.", a.name,
					fmt.Sprint(e.s.block.At))...)
			default:
				diags = append(diags, lang.CheckAttr(r, r.Name, have)...)
			}
		}
	}
	return diags
}
