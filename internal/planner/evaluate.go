package planner

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/addrs"
)

// evaluateAll evaluates the objects in order.
func (p *planner) evaluateAll() (diags hcl.Diagnostics) {
	for _, name := range p.order {
		diags = append(diags, p.evaluate(p.objects[name])...)
		if p.budget.Spent() { // everything else would fail for the same reason
			break
		}
	}
	return diags
}

// copies evaluates the step for each key and reports whether all succeeded. It stops at the first copy that fails: the
// others would report the same.
func (e *evaluator) copies(keys []string, values []cty.Value) ([]evaluated, bool) {
	all := make([]evaluated, len(keys))
	for i := range all {
		if e.copy(&all[i], keys[i], values[i]); all[i].diags.HasErrors() {
			return all[:i+1], false
		}
	}
	return all, true
}

// finish notes what the copies of a step gave that depends on the order, and returns what there is to say of them.
func (p *planner) finish(all []evaluated) (diags hcl.Diagnostics) {
	for i := range all {
		diags = append(diags, p.dummies.unwarned(all[i].diags)...)
		if in := all[i].instance; in != nil && in.planned != nil {
			n := in.planned
			share(n, p.last)
			p.last = n
			if in.classes = n.Classes; slices.Equal(in.outputs, p.lastOutputs) {
				in.outputs = p.lastOutputs
			}
			p.lastOutputs = in.outputs
		}
	}
	return diags
}

// publish lets others see the step.
func (s *stepState) publish() {
	b, f := s.block, s.frame
	f.steps[b.At] = s
	if b.At.Kind == addrs.Toolchain {
		f.scope.Toolchains[b.At.Name] = s.value
	}
}

// stepValue is what expressions see of a step. That of one without for_each is made for who asks: few do, and it takes as much memory as the step's plan.
func (f *frame) stepValue(at addrs.Step) (cty.Value, bool) {
	s := f.steps[at]
	switch {
	case s == nil:
		return cty.NilVal, false
	case s.value != cty.NilVal:
		return s.value, true
	}
	return stepValue(s, nil), true
}
